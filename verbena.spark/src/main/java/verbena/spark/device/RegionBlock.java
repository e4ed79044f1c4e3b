package verbena.spark.device;

import io.netty.buffer.Unpooled;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.util.ByteBufferInputStream;

/// A block, or several successive ones, in registered memory. Nothing is copied: Spark's streams read the memory
/// itself, for as long as they hold it.
public final class RegionBlock extends ManagedBuffer {
    /// The owner of a block's memory. Any thread may call.
    public interface Holder {
        /// Holds the memory once more.
        ///
        /// @throws IllegalStateException when the memory was given back before
        void retain();

        /// Holds it once less; the last one gives it back.
        void release();
    }

    private final MemorySegment data;
    private final Holder holder;
    /// Those that were retained and not released. Spark's server releases blocks that it did not get to send,
    /// without having retained them: such a release takes nothing away.
    private final AtomicInteger holds = new AtomicInteger();

    /// Holds nothing yet.
    ///
    /// @param data at most [Integer#MAX_VALUE] bytes
    public RegionBlock(MemorySegment data, Holder holder) {
        this.data = data;
        this.holder = holder;
    }

    @Override
    public long size() {
        return data.byteSize();
    }

    @Override
    public ByteBuffer nioByteBuffer() {
        return data.asByteBuffer().asReadOnlyBuffer();
    }

    @Override
    public InputStream createInputStream() {
        return new ByteBufferInputStream(nioByteBuffer());
    }

    @Override
    public ManagedBuffer retain() {
        holder.retain();
        holds.incrementAndGet();
        return this;
    }

    @Override
    public ManagedBuffer release() {
        if (holds.getAndUpdate(before -> Math.max(0, before - 1)) > 0) {
            holder.release();
        }
        return this;
    }

    /// Returns the block for Spark's transport, which calls this once and releases the block when it has left.
    @Override
    public Object convertToNetty() {
        ManagedBuffer _ = retain();
        return Unpooled.wrappedBuffer(nioByteBuffer());
    }

    @Override
    public Object convertToNettyForSsl() {
        return convertToNetty();
    }
}
