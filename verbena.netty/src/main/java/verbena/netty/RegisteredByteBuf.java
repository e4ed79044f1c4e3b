package verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.util.internal.CleanableDirectBuffer;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// A buffer whose memory is a piece of [RegisteredMemory].
final class RegisteredByteBuf extends UnpooledDirectByteBuf {
    /// A handle by which Netty gives back the memory of a buffer that has grown.
    private record Piece(RegisteredMemory of, ByteBuffer buffer) implements CleanableDirectBuffer {
        @Override
        public void clean() {
            of.give(buffer);
        }
    }

    private final RegisteredMemory memory;
    /// The memory that it began with, which Netty does not give back; null once it has another capacity.
    private @Nullable ByteBuffer first;

    RegisteredByteBuf(VerbenaByteBufAllocator allocator, int initialCapacity, int maxCapacity) {
        this(allocator, allocator.memory().take(initialCapacity), maxCapacity);
    }

    private RegisteredByteBuf(VerbenaByteBufAllocator allocator, ByteBuffer first, int maxCapacity) {
        super(allocator, first, maxCapacity);
        this.memory = allocator.memory();
        this.first = first;
        setIndex(0, 0);
    }

    @Override
    protected CleanableDirectBuffer allocateDirectBuffer(int capacity) {
        return new Piece(memory, memory.take(capacity));
    }

    @Override
    public ByteBuf capacity(int newCapacity) {
        ByteBuf same = super.capacity(newCapacity);
        ByteBuffer before = first;
        if (before != null && before.capacity() != newCapacity) {
            giveFirst();
        }
        return same;
    }

    @Override
    protected void deallocate() {
        super.deallocate();
        giveFirst();
    }

    private void giveFirst() {
        ByteBuffer before = first;
        if (before != null) {
            first = null;
            memory.give(before);
        }
    }
}
