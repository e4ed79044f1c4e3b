package verbena.foreign.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import verbena.foreign.SystemFunction;
import verbena.foreign.linux.LinuxAbi.Iovec;

/// The access that the kernel gives this process to another of the same host: copies from its memory and to it
/// (process_vm_readv(2)).
///
/// The kernel finds the process by its number. When a process has ended, and its parent knows, the number can be
/// used anew at any time. A look at the process before the call does not help: it may end between the look and the
/// call. So each call first copies 8 bytes at the [mark][ProcessMark] of the process that is meant. A call names one
/// process, and ends at the first address that has no memory. So nothing of a process without this mark is touched:
/// of a later one with the same number, of a child, or of another program that the process has become.
///
/// Copying needs the right to trace the process (ptrace(2)): -EPERM tells that the kernel forbids it, for another
/// user, in another user namespace, or by Yama or seccomp; -ENOSYS, that it cannot. -ESRCH tells that there is no
/// such process, and -EFAULT that it is another one.
///
/// An instance belongs to one thread at a time. Copying allocates nothing.
public final class OtherProcess {
    /// Pieces of this process's memory in one call, at most.
    public static final int PIECES_MAX = 3;

    private static final SystemFunction READV = SystemFunction.named("process_vm_readv");
    private static final SystemFunction WRITEV = SystemFunction.named("process_vm_writev");

    private static final int MARK_BYTES = 8;
    private static final int LAST_BYTES = 8;
    /// The mark, what comes before the last bytes, and these.
    private static final int RANGES_MAX = 3;

    private final MemorySegment state;
    private final MemorySegment here;
    private final MemorySegment there;
    private final MemorySegment[] alive = new MemorySegment[PIECES_MAX];
    private int pieces;
    private long bytes;

    /// @param arena to be closed after this
    public OtherProcess(Arena arena) {
        state = arena.allocate(Linker.Option.captureStateLayout());
        here = arena.allocate((PIECES_MAX + 1L) * Iovec.BYTES, 8);
        there = arena.allocate((long) RANGES_MAX * Iovec.BYTES, 8);
        describe(here, 0, arena.allocate(MARK_BYTES, 8).address(), MARK_BYTES);
        Arrays.fill(alive, MemorySegment.NULL);
    }

    /// Names the next piece of this process's memory for the next call, [#PIECES_MAX] at most.
    ///
    /// @param memory native
    public void add(MemorySegment memory, long offset, long length) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("add: memory: native, got " + memory);
        }
        if (offset < 0 || length < 0 || offset > memory.byteSize() - length) {
            throw new IndexOutOfBoundsException(
                    "add: offset and length: within " + memory.byteSize() + " bytes, got " + offset + " and " + length);
        }
        describe(here, pieces + 1, memory.address() + offset, length);
        alive[pieces++] = memory;
        bytes += length;
    }

    /// Forgets the pieces.
    public void clear() {
        pieces = 0;
        bytes = 0;
        Arrays.fill(alive, MemorySegment.NULL); // so that no user memory is retained
    }

    /// Copies from an address of the process into the pieces, which are forgotten then.
    ///
    /// @param mark of the process
    /// @return how many bytes: fewer than the pieces have when memory ends here or there; the negative error
    ///     when the process as a whole cannot be read
    /// @throws IllegalStateException when the arena of a piece is closed; nothing is copied then
    public long read(int pid, long mark, long address) {
        describe(there, 1, address, bytes);
        return copy(READV, pid, mark, 2);
    }

    /// Copies from the pieces, which are forgotten then, to an address of the process. The last 8 bytes are written
    /// after all others: the kernel copies range by range in their order, and between two of them releases
    /// the pages of the first. Within a range a processor may show bytes to others in another order.
    ///
    /// @param mark of the process
    /// @return as [#read]
    /// @throws IllegalStateException as [#read]
    public long write(int pid, long mark, long address) {
        long before = Math.max(0, bytes - LAST_BYTES);
        int ranges = 1;
        if (before > 0) {
            describe(there, ranges++, address, before);
        }
        describe(there, ranges++, address + before, bytes - before);
        return copy(WRITEV, pid, mark, ranges);
    }

    private long copy(SystemFunction function, int pid, long mark, int ranges) {
        describe(there, 0, mark, MARK_BYTES);
        int count = pieces + 1;
        long copied;
        try {
            copied =
                    function.call(pid, here.address(), count, there.address(), ranges, 0, alive[0], alive[1], alive[2]);
        } finally {
            clear();
        }
        if (copied >= 0) {
            return Math.max(0, copied - MARK_BYTES);
        }
        // The JDK may allocate when it is to tell an error, so only a call that has failed is made again for its
        // reason, and with the mark alone: the pieces may be gone by now.
        long again = function.tryCallLong(state, pid, here.address(), 1, there.address(), 1, 0);
        return Math.min(again, 0);
    }

    private static void describe(MemorySegment iovecs, int i, long address, long length) {
        iovecs.set(JAVA_LONG, (long) i * Iovec.BYTES + Iovec.IOV_BASE, address);
        iovecs.set(JAVA_LONG, (long) i * Iovec.BYTES + Iovec.IOV_LEN, length);
    }
}
