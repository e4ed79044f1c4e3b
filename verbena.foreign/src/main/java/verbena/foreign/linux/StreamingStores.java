package verbena.foreign.linux;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import verbena.foreign.Memory;
import verbena.foreign.SystemFunction;

/// A copy by stores that pass the caches (MOVNTDQ; Intel SDM volume 1, 10.4.6.2, "non-temporal"). An ordinary store
/// first fetches the line of memory that it changes. Where another processor has read that line last, the fetch
/// takes longer than all else. A store that passes the caches fetches nothing. The next reader takes the bytes from
/// memory.
///
/// Neither Java nor the C library offers such stores, so the loop is here as machine code. A virtual machine makes
/// code at run time itself, so a system that runs one lets this be run. Any thread.
public final class StreamingStores {
    /// The unit of a copy: its destination begins at a multiple of this, and its length is a multiple of it.
    public static final int UNIT = 64;

    /// `copy(from, to, bytes)`, as the System V ABI passes them: rdi, rsi, rdx. It uses only registers that are the
    /// callee's.
    private static final String X86_64 = ""
            + "f30f6f07" //     again: movdqu  xmm0, [rdi]
            + "f30f6f4f10" //          movdqu  xmm1, [rdi + 16]
            + "f30f6f5720" //          movdqu  xmm2, [rdi + 32]
            + "f30f6f5f30" //          movdqu  xmm3, [rdi + 48]
            + "660fe706" //            movntdq [rsi], xmm0
            + "660fe74e10" //          movntdq [rsi + 16], xmm1
            + "660fe75620" //          movntdq [rsi + 32], xmm2
            + "660fe75e30" //          movntdq [rsi + 48], xmm3
            + "4883c740" //            add     rdi, 64
            + "4883c640" //            add     rsi, 64
            + "4883ea40" //            sub     rdx, 64
            + "75cc" //                jne     again
            + "0faef8" //              sfence
            + "c3"; //                 ret

    private static final int EXECUTABLE = LinuxAbi.PROT_READ | LinuxAbi.PROT_EXEC;
    private static final long CODE_BYTES = 4 << 10; // a page of x86-64

    private static final class Holder {
        static final @Nullable SystemFunction COPY = make();
    }

    private StreamingStores() {}

    /// Returns whether this processor and this system have them.
    public static boolean areThere() {
        return Holder.COPY != null;
    }

    private static @Nullable SystemFunction make() {
        if (!System.getProperty("os.name").equals("Linux")
                || !System.getProperty("os.arch").equals("amd64")) {
            return null;
        }
        byte[] code = HexFormat.of().parseHex(X86_64);
        var mmap = SystemFunction.named("mmap");
        long at = mmap.call(
                0,
                CODE_BYTES,
                LinuxAbi.PROT_READ | LinuxAbi.PROT_WRITE,
                LinuxAbi.MAP_PRIVATE | LinuxAbi.MAP_ANONYMOUS,
                -1,
                0);
        if (at < 0) {
            return null;
        }
        MemorySegment.copy(code, 0, Memory.at(at, code.length), ValueLayout.JAVA_BYTE, 0, code.length);
        if ((int) SystemFunction.named("mprotect").call(at, CODE_BYTES, EXECUTABLE) != 0) {
            long _ = SystemFunction.named("munmap").call(at, CODE_BYTES);
            return null;
        }
        return SystemFunction.at(at);
    }

    /// Copies. All earlier stores of this thread, and these, are visible before any later one. [#areThere()].
    ///
    /// @param from native; the caller keeps it alive, and no system can take its memory away meanwhile, as for `to`
    /// @param bytes a multiple of [#UNIT], more than none
    /// @param to begins at a multiple of [#UNIT]
    public static void copy(MemorySegment from, long to, long bytes) {
        SystemFunction function = Holder.COPY;
        boolean fits = from.isNative() && bytes > 0 && bytes <= from.byteSize() && ((to | bytes) & UNIT - 1) == 0;
        if (function == null || !fits) {
            throw new IllegalArgumentException("copy: " + bytes + " bytes to 0x" + Long.toHexString(to));
        }
        long _ = function.call(from.address(), to, bytes);
    }
}
