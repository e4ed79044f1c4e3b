package verbena.foreign;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.Objects;

/// A copier that uses the C library, which chooses its instructions by the processor and the caches. It may be 1.6
/// times as fast as the virtual machine's copy when the bytes do not fit the first cache, and half as fast when they
/// do. Any thread.
public final class SystemCopy {
    /// A holder that is linked by the first long copy.
    private static final class Holder {
        static final SystemFunction MEMMOVE = SystemFunction.named("memmove");
    }

    /// Whether this room may call C; without that right, the virtual machine copies.
    private static final boolean IS_GRANTED = SystemCopy.class.getModule().isNativeAccessEnabled();

    private SystemCopy() {}

    /// Copies as [MemorySegment#copy(MemorySegment, long, MemorySegment, long, long)] does, but memory that goes
    /// away meanwhile ends the virtual machine. The caller sees to it that no arena is closed and no mapped file is
    /// cut short.
    public static void copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, long bytes) {
        if (!IS_GRANTED || !from.isNative() || !to.isNative() || to.isReadOnly()) {
            MemorySegment.copy(from, fromOffset, to, toOffset, bytes);
            return;
        }
        long source = from.address() + Objects.checkFromIndexSize(fromOffset, bytes, from.byteSize());
        long target = to.address() + Objects.checkFromIndexSize(toOffset, bytes, to.byteSize());
        if (!from.scope().isAlive() || !to.scope().isAlive()) {
            throw new IllegalStateException("copy: an arena is closed");
        }
        try {
            long _ = Holder.MEMMOVE.call(target, source, bytes);
        } finally {
            Reference.reachabilityFence(from);
            Reference.reachabilityFence(to);
        }
    }
}
