package verbena.tools.explain;

import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Future;
import verbena.tools.explain.Ends.Joined;
import verbena.verbs.Access;
import verbena.verbs.Completion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.RemoteMemory;

/// Scenarios in which one side does the work.
final class OneSided {
    private static final Set<Access> FOR_WRITES = EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE);
    private static final Set<Access> FOR_READS = EnumSet.of(Access.REMOTE_READ);
    private static final Set<Access> FOR_ATOMICS = EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_ATOMIC);
    private static final int IMMEDIATE = 0x5645_5242;
    /// The bytes of A's memory for the value that an atomic fetches.
    private static final int FETCHED_BYTES = 64;

    private OneSided() {}

    static void write(Ends ends) throws InterruptedException {
        Watched from = ends.source();
        Watched to = ends.target(FOR_WRITES);
        Joined joined = ends.connect(to);
        ends.phase(
                "The WRITE",
                "A's application names its own memory, B's memory and the key. B's application is not asked.");
        write(ends, joined, from, ends.size);
        ends.a.poll();
        ends.awaitEqual(from, to, ends.size);
    }

    /// Posts one WRITE to the beginning of B's memory.
    static void write(Ends ends, Joined joined, Watched from, int bytes) {
        RemoteMemory to = joined.remote();
        ends.a.post(
                joined.a(),
                String.format(Locale.ROOT, "WRITE %,d bytes from a+0 to b+0", bytes),
                batch -> batch.write(1, to.address(), to.rkey())
                        .sge(from.region, 0, bytes)
                        .signaled());
    }

    static void read(Ends ends) throws InterruptedException {
        Watched to = ends.a.memory("a", Math.max(ends.size, Ends.MEMORY_BYTES_MIN), Access.local(), new byte[0]);
        Watched from =
                ends.b.memory("b", Math.max(ends.size, Ends.MEMORY_BYTES_MIN), FOR_READS, Ends.pattern(ends.size));
        Joined joined = ends.connect(from);
        ends.phase(
                "The READ",
                "A's application names B's memory, the key, and where to put it. B's application is not asked.");
        RemoteMemory remote = joined.remote();
        ends.a.post(
                joined.a(),
                String.format(Locale.ROOT, "READ %,d bytes from b+0 to a+0", ends.size),
                batch -> batch.read(1, remote.address(), remote.rkey())
                        .sge(to.region, 0, ends.size)
                        .signaled());
        ends.a.poll();
        ends.awaitEqual(from, to, ends.size);
    }

    static void writeWithImmediate(Ends ends) throws InterruptedException {
        Watched from = ends.source();
        Watched to = ends.target(FOR_WRITES);
        Joined joined = ends.connect(to);
        ends.phase(
                "The WRITE with immediate",
                "As a WRITE, but at its end 32 bits go to application B, and for them it has to post a receive.");
        ends.b.receive(joined.b(), 7, to, 0);
        ends.b.arm();
        Future<Completion> told = ends.meanwhile(ends.b::sleep);
        RemoteMemory remote = joined.remote();
        ends.a.post(
                joined.a(),
                String.format(Locale.ROOT, "WRITE_IMM %,d bytes from a+0 to b+0", ends.size),
                batch -> batch.writeWithImmediate(1, remote.address(), remote.rkey(), IMMEDIATE)
                        .sge(from.region, 0, ends.size)
                        .signaled());
        ends.a.poll();
        Ends.get(told);
        ends.awaitEqual(from, to, ends.size);
    }

    static void atomic(Ends ends) throws InterruptedException {
        Watched fetched = ends.a.numbers("a", FETCHED_BYTES, Access.local(), 0);
        Watched number = ends.b.numbers("b", FETCHED_BYTES, FOR_ATOMICS, 37);
        Joined joined = ends.connect(number);
        RemoteMemory at = joined.remote();
        ends.phase("FETCH_ADD", "B's memory holds the number 37. A adds 5; B's device does that in one step.");
        ends.a.post(
                joined.a(),
                "FETCH_ADD 5 to b+0, old value to a+0",
                batch -> batch.fetchAdd(1, at.address(), at.rkey(), 5)
                        .sge(fetched.region, 0, Long.BYTES)
                        .signaled());
        result(ends, fetched, 0);
        ends.phase(
                "CMP_SWAP that swaps",
                "The number becomes 100 only if it is 42. It is: no other request came between.");
        compareSwap(ends, joined, fetched, 8, 42, 100);
        ends.phase("CMP_SWAP that does not", "The same again: the number is 100 by now, so nothing changes.");
        compareSwap(ends, joined, fetched, 16, 42, 7);
    }

    private static void compareSwap(Ends ends, Joined joined, Watched fetched, int into, long compare, long swap) {
        RemoteMemory at = joined.remote();
        ends.a.post(
                joined.a(),
                "CMP_SWAP " + compare + " by " + swap + " at b+0, old value to a+" + into,
                batch -> batch.compareSwap(1 + into / Long.BYTES, at.address(), at.rkey(), compare, swap)
                        .sge(fetched.region, into, Long.BYTES)
                        .signaled());
        result(ends, fetched, into);
    }

    private static void result(Ends ends, Watched fetched, int at) {
        ends.a.poll();
        long old = fetched.region.segment().get(ValueLayout.JAVA_LONG, at);
        ends.a.step(
                "the old value was " + old,
                "It tells whether a compare and swap has swapped: it has when the old value is what was expected.");
    }

    static void window(Ends ends) throws InterruptedException {
        Watched from = ends.a.memory("a", Ends.MEMORY_BYTES_MIN, Access.local(), Ends.pattern(256));
        Watched note = ends.b.memory("note", 64, Access.local(), new byte[0]);
        Watched to =
                ends.b.memory("b", Ends.MEMORY_BYTES_MIN, EnumSet.of(Access.LOCAL_WRITE, Access.MW_BIND), new byte[0]);
        Joined joined = ends.connect(to);

        ends.phase(
                "Opening a window",
                "b itself is closed to peers. B opens 256 bytes of it for writing, with a key of their own.");
        MemoryWindow window = ends.b.closing(ends.b.domain.allocateWindow(MemoryWindow.Type.TYPE_2));
        int rkey = window.nextRkey();
        long address = to.region.address() + 1_024;
        ends.b.post(
                joined.b(),
                "bind a window to 256 bytes at b+1024",
                batch -> batch.bindWindow(1, window, rkey, to.region, address, 256, EnumSet.of(Access.REMOTE_WRITE))
                        .signaled());
        ends.b.poll();
        ends.recorder.key(new Key("window", rkey, address, 256, EnumSet.of(Access.REMOTE_WRITE)));

        ends.phase("Writing through it", "A has been told the window's address and key by other means.");
        ends.a.post(
                joined.a(),
                "WRITE 256 bytes from a+0 to the window",
                batch -> batch.write(2, address, rkey).sge(from.region, 0, 256).signaled());
        ends.a.poll();

        ends.phase("Withdrawing it", "A says with a message that it is done: B's device forgets the key at once.");
        ends.b.receive(joined.b(), 7, note, 64);
        ends.b.arm();
        Future<Completion> told = ends.meanwhile(ends.b::sleep);
        ends.a.post(
                joined.a(),
                "SEND 4 bytes, and withdraw the window's key",
                batch ->
                        batch.sendWithInvalidate(3, rkey).sge(from.region, 0, 4).signaled());
        ends.a.poll();
        Ends.get(told);

        ends.phase("Writing once more", "The key opens nothing any more.");
        ends.a.post(
                joined.a(),
                "WRITE 4 bytes from a+0 to the window",
                batch -> batch.write(4, address, rkey).sge(from.region, 0, 4).signaled());
        ends.a.poll();
        Troubles.ended(ends, joined);
    }
}
