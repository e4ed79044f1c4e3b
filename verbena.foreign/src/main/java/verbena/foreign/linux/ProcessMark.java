package verbena.foreign.linux;

import java.security.SecureRandom;
import java.util.random.RandomGenerator;
import verbena.foreign.SystemFunction;

/// The mark that distinguishes this process from any other that has its number later. It is a page of memory at an
/// address that was drawn at random, and children of the process do not inherit it. [OtherProcess] copies nothing
/// from or to a process that has no memory at the mark. The page holds nothing, and stays as long as the process.
public final class ProcessMark {
    private static final long PAGE_BYTES = 64 << 10; // at least a page of any kernel
    /// The bits of a program's addresses: on most systems, and where a kernel has fewer levels of pages.
    private static final int[] ADDRESS_BITS = {46, 38};
    /// The first addresses are left to programs, which may want them for themselves.
    private static final long FIRST = 1L << 33;

    private static final int ATTEMPTS = 8;

    private static final class Holder {
        static final long ADDRESS = make(new SecureRandom());
    }

    private ProcessMark() {}

    /// Returns the address of the mark, made by the first call; 0 when the system gives none.
    public static long address() {
        return Holder.ADDRESS;
    }

    private static long make(RandomGenerator random) {
        var mmap = SystemFunction.named("mmap");
        var munmap = SystemFunction.named("munmap");
        var madvise = SystemFunction.named("madvise");
        for (int bits : ADDRESS_BITS) {
            for (int i = 0; i < ATTEMPTS; i++) {
                long wanted = random.nextLong(FIRST, 1L << bits) & -PAGE_BYTES;
                long made = mmap.call(
                        wanted,
                        PAGE_BYTES,
                        LinuxAbi.PROT_READ | LinuxAbi.PROT_WRITE,
                        LinuxAbi.MAP_PRIVATE | LinuxAbi.MAP_ANONYMOUS | LinuxAbi.MAP_FIXED_NOREPLACE,
                        -1,
                        0);
                if (made == wanted && madvise.call(made, PAGE_BYTES, LinuxAbi.MADV_DONTFORK) == 0) {
                    return made;
                }
                if (made != -1) {
                    long _ = munmap.call(made, PAGE_BYTES); // kernels before 4.17 take the address for a wish
                }
            }
        }
        return 0;
    }
}
