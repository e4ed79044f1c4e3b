package verbena.foreign.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import verbena.foreign.SystemFunction;
import verbena.foreign.linux.LinuxAbi.Iovec;

/// The access that the kernel gives this process to its own memory, by address: process_vm_readv(2) with the number of
/// the process itself. It touches memory as the process's own loads and stores do, brings pages in, and obeys their
/// protection. Where there is no memory it reports so, and no signal comes.
///
/// An instance belongs to one thread at a time. Copying allocates nothing.
public final class OwnProcess {
    private static final long PID = ProcessHandle.current().pid();
    private static final long PAGE_BYTES = 4096;

    private final MemorySegment to;
    private final MemorySegment from;

    public OwnProcess() {
        Arena arena = Arena.ofAuto();
        to = arena.allocate(Iovec.BYTES, 8);
        from = arena.allocate(Iovec.BYTES, 8);
    }

    /// Returns whether the kernel gives it, and this room may call C.
    public static boolean isThere() {
        return OwnProcess.class.getModule().isNativeAccessEnabled()
                && Linker.nativeLinker()
                        .defaultLookup()
                        .find("process_vm_readv")
                        .isPresent()
                && Holder.IS_THERE;
    }

    /// The functions that the first use links.
    private static final class Holder {
        static final SystemFunction READV = SystemFunction.named("process_vm_readv");
        static final SystemFunction MADVISE = SystemFunction.named("madvise");
        static final boolean IS_THERE = tried();

        private static boolean tried() {
            MemorySegment memory = Arena.ofAuto().allocate(2 * JAVA_LONG.byteSize(), 8);
            memory.set(JAVA_LONG, 0, 42);
            return new OwnProcess().copy(memory, 8, memory, 0, 8) && memory.get(JAVA_LONG, 8) == 42;
        }
    }

    /// Copies between native memory; the ranges do not overlap. Returns false when some of it is not there, and
    /// others of the bytes may be copied.
    ///
    /// @throws IllegalStateException when an arena is closed; nothing is copied then
    public boolean copy(MemorySegment target, long targetOffset, MemorySegment source, long sourceOffset, long bytes) {
        describe(to, target.address() + targetOffset, bytes);
        describe(from, source.address() + sourceOffset, bytes);
        try {
            return Holder.READV.call(PID, to.address(), 1, from.address(), 1, 0, target, source, MemorySegment.NULL)
                    == bytes;
        } finally {
            Reference.reachabilityFence(this); // its memory is of an automatic arena
        }
    }

    /// Brings the pages of a range in and waits for that. Returns false when some of its memory is not there. A
    /// kernel before Linux 5.14, and memory of a device, do nothing.
    ///
    /// @param isWritten whether for writing
    public static boolean populate(long address, long bytes, boolean isWritten) {
        int error = advise(address, bytes, isWritten ? LinuxAbi.MADV_POPULATE_WRITE : LinuxAbi.MADV_POPULATE_READ);
        return error == 0 || error == -LinuxAbi.EINVAL;
    }

    /// Lets the kernel begin to bring the pages of a range in, where it can.
    public static void readAhead(long address, long bytes) {
        int _ = advise(address, bytes, LinuxAbi.MADV_WILLNEED);
    }

    private static int advise(long address, long bytes, int advice) {
        long from = address & -PAGE_BYTES;
        MemorySegment state = Arena.ofAuto().allocate(Linker.Option.captureStateLayout());
        return Holder.MADVISE.tryCall(state, from, address - from + bytes, advice);
    }

    private static void describe(MemorySegment iovec, long address, long bytes) {
        iovec.set(JAVA_LONG, Iovec.IOV_BASE, address);
        iovec.set(JAVA_LONG, Iovec.IOV_LEN, bytes);
    }
}
