package verbena.messages.rail;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.Rails;
import verbena.verbs.Access;
import verbena.verbs.MemoryRegion;
import verbena.verbs.VerbsException;

/// The memory of messages that their receiver reads, at both ends. Memory of the program is registered as long as a
/// message is under way, and longer when it may come again ([Registrations]); what cannot be registered is copied.
/// Under the lock of the worker, but for what programs ask.
public final class LongMessages {
    private static final long ALIGNMENT = 64;

    private final List<Rail> rails;
    private final Thread worker;
    public final Registrations registrations;
    public final Buffers buffers = new Buffers();
    /// Regions that programs have allocated.
    private final List<MemoryRegion> allocated = new ArrayList<>();

    /// @param worker the thread that touches the memory of programs
    LongMessages(List<Rail> rails, Thread worker) {
        this.rails = rails;
        this.worker = worker;
        this.registrations = new Registrations(rails.size());
    }

    /// Allocates memory for messages. Returns null for [#allocateHere]: with several rails, because each can be
    /// given back. May take long, so it is made without the lock.
    @Nullable
    public MemoryRegion allocate(long bytes) {
        return rails.size() > 1 ? null : rails.getFirst().domain.allocate(bytes, Access.remoteRead());
    }

    /// Allocates memory of the process's own.
    public static MemorySegment allocateHere(long bytes) {
        return Arena.ofAuto().allocate(bytes, ALIGNMENT);
    }

    /// Keeps what was allocated until [#close()].
    public void add(MemoryRegion region) {
        allocated.add(region);
        registrations.addLasting(region.segment());
    }

    /// Closes all memory, after all transfers.
    void close() {
        registrations.close();
        allocated.forEach(MemoryRegion::close);
    }

    /// Returns whether it belongs to no single thread.
    boolean isForAllThreads(MemorySegment memory) {
        return memory.isAccessibleBy(worker);
    }

    /// Refuses memory that nothing can be received into.
    public void requireWritable(String name, MemorySegment memory) {
        if (memory.isReadOnly() || !memory.scope().isAlive() || !isForAllThreads(memory)) {
            throw new IllegalArgumentException(name + ": open memory that any thread may write, got " + memory);
        }
    }

    /// Returns the same memory, or a copy when it belongs to one thread.
    ///
    /// @throws IllegalStateException when it is closed, or another thread's
    public MemorySegment forAllThreads(MemorySegment memory) {
        requireOpen(memory);
        return isForAllThreads(memory) ? memory : MemorySegment.ofArray(memory.toArray(ValueLayout.JAVA_BYTE));
    }

    /// Refuses memory that is closed.
    public static void requireOpen(MemorySegment memory) {
        if (!memory.scope().isAlive()) {
            throw new IllegalStateException("its memory is closed: " + memory);
        }
    }

    /// Makes memory for the device to use in place of the program's.
    ///
    /// @param isSource whether it is to have the program's bytes
    static MemorySegment inPlaceOf(MemorySegment program, boolean isSource) {
        long bytes = program.byteSize();
        MemorySegment made = Arena.ofAuto().allocate(bytes, Long.BYTES);
        if (isSource) {
            MemorySegment.copy(program, ValueLayout.JAVA_BYTE, 0, made, ValueLayout.JAVA_BYTE, 0, bytes);
        }
        return made;
    }

    /// Returns whether the device can use it in place: it belongs to no array, and every thread may access it.
    public boolean isRegistrable(MemorySegment memory) {
        return memory.isNative() && isForAllThreads(memory);
    }

    /// Registers memory that peers use by themselves, with each device.
    public Registered share(MemorySegment memory, Set<Access> access) {
        var shared = new Registered(memory, access, rails.size());
        boolean done = false;
        try {
            for (Rail each : rails) {
                if (!each.isClosed) {
                    var _ = shared.by(each);
                }
            }
            done = true;
            return shared;
        } finally {
            if (!done) {
                shared.close();
            }
        }
    }

    /// Returns the length of the longest operation in bytes.
    public long longest() {
        return rails.stream().mapToLong(each -> each.longest).min().orElseThrow();
    }

    /// Registers memory for requests of this end.
    ///
    /// @param isSource whether its bytes are to be sent
    Registered local(MemorySegment memory, boolean isSource) {
        return registrations.take(memory, isSource ? Set.of() : Access.local());
    }

    /// Memory of a message that a peer reads.
    ///
    /// @param message the program's memory, or a copy
    record Exposed(Registered registered, MemorySegment message, boolean isCopied) {}

    /// Makes memory readable for a peer: the program's own, or a copy.
    ///
    /// @param mayChange whether it has to be a copy
    Exposed expose(Rails to, MemorySegment data, boolean mayChange) {
        MemorySegment memory = data;
        boolean isCopied = mayChange || !isRegistrable(data);
        if (isCopied) {
            memory = inPlaceOf(data, true);
        }
        Registered exposed = registrations.take(memory, Set.of(Access.REMOTE_READ));
        try {
            for (int i = 0; i < to.count(); i++) {
                if (to.isUsable(i)) {
                    var _ = exposed.by(rails.get(i));
                }
            }
        } catch (VerbsException | IllegalStateException e) {
            exposed.close();
            throw e;
        }
        return new Exposed(exposed, memory, isCopied);
    }
}
