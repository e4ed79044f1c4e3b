package verbena.messages.rail;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Set;
import verbena.verbs.Access;
import verbena.verbs.internal.LastingMemory;

/// Registrations of programs' memory. One transfer uses a registration at a time. When it is done, the registration
/// waits for the next transfer of the same memory. To register again costs time, and a peer of `shm` needs packets
/// for memory that it does not know.
///
/// Memory of an arena that can be closed is registered for each transfer anew: the JDK does not say when the program
/// closes it. Memory of the global arena may be another allocator's, which frees it. So it stays registered only for
/// transfers of this end, which name it again, and no peer can reach it later. What was under way when something
/// failed is not used again, so no device touches it later. Under the lock of the worker.
public final class Registrations {
    /// Registrations that wait.
    static final int KEPT_MAX = 128;
    /// Memory that would be free without them, in bytes: that of automatic arenas.
    static final long AUTOMATIC_BYTES_MAX = 64 << 20;

    private final int rails;
    /// The last one was used last.
    private final ArrayList<Registered> kept = new ArrayList<>();

    private long automaticBytes;
    /// Memory that lasts as long as the worker.
    private final ArrayList<MemorySegment> lasting = new ArrayList<>();

    Registrations(int rails) {
        this.rails = rails;
    }

    /// Adds memory that lasts until [#close()].
    void addLasting(MemorySegment memory) {
        lasting.add(memory);
    }

    private boolean isOfWorker(MemorySegment memory) {
        for (MemorySegment each : lasting) {
            if (Registered.isPart(memory, each)) {
                return true;
            }
        }
        return false;
    }

    /// Registers memory, until [#end].
    Registered take(MemorySegment memory, Set<Access> access) {
        for (int i = kept.size() - 1; i >= 0; i--) {
            if (kept.get(i).serves(memory, access)) {
                return remove(i);
            }
        }
        return new Registered(memory, access, rails);
    }

    /// Ends the use of memory by a transfer.
    ///
    /// @param isUsedAgain whether all went well, and the memory may come again; that of a copy does not
    void end(Registered registered, boolean isUsedAgain) {
        if (!isUsedAgain || !mayStay(registered)) {
            registered.close(); // the device touches the memory no more
            return;
        }
        kept.add(registered);
        automaticBytes += automaticBytes(registered);
        while (kept.size() > KEPT_MAX || automaticBytes > AUTOMATIC_BYTES_MAX) {
            remove(0).close();
        }
    }

    private boolean mayStay(Registered done) {
        MemorySegment memory = done.memory();
        return isOfWorker(memory) || (LastingMemory.is(memory) && (!isGlobal(memory) || !done.isForPeers()));
    }

    private static boolean isGlobal(MemorySegment memory) {
        return memory.scope().equals(Arena.global().scope());
    }

    private Registered remove(int index) {
        Registered removed = kept.remove(index);
        automaticBytes -= automaticBytes(removed);
        return removed;
    }

    private long automaticBytes(Registered of) {
        return isGlobal(of.memory()) || isOfWorker(of.memory())
                ? 0
                : of.memory().byteSize();
    }

    /// Returns the number of registrations that wait.
    int size() {
        return kept.size();
    }

    /// Releases the regions of a device that is given back.
    public void loseRail(int rail) {
        kept.forEach(each -> each.close(rail));
    }

    void close() {
        kept.forEach(Registered::close);
        kept.clear();
        lasting.clear();
        automaticBytes = 0;
    }
}
