package verbena.netty;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import verbena.verbs.ProtectionDomain;

/// An allocator of direct buffers in memory that is registered at a protection domain. A channel of that domain
/// writes pieces of 4 KiB and more of them without a copy: the device reads them in place.
///
/// Set it as the allocator of a client's channel, or of a listener's and of its children's. Their connections then
/// belong to the domain and use its device.
///
/// ```java
/// var allocator = new VerbenaByteBufAllocator(device.allocateProtectionDomain());
/// new ServerBootstrap().option(ChannelOption.ALLOCATOR, allocator).childOption(ChannelOption.ALLOCATOR, allocator)
/// new Bootstrap().option(ChannelOption.ALLOCATOR, allocator)
/// ```
///
/// A buffer that was written must not change until it has been released. The channel holds it until the peer's device
/// has acknowledged it. All connections of the domain share its keys: see
/// [verbena.stream.StreamOptions#withProtectionDomain].
///
/// It registers memory in chunks of 4 MiB and keeps them for further buffers. Larger buffers, and those beyond its
/// limit, are ordinary direct memory, which the channel copies. Heap buffers are those of Netty's pooled allocator.
///
/// Any thread may use it. The program closes it after its channels and before the domain, when all buffers are
/// released. A direct buffer can then not be allocated: [verbena.verbs.InvalidStateException].
///
/// @since 0.1
public final class VerbenaByteBufAllocator extends AbstractByteBufAllocator implements AutoCloseable {
    private static final long BYTES_MAX = 256L << 20;

    private final RegisteredMemory memory;

    /// Makes an allocator that registers up to 256 MiB.
    public VerbenaByteBufAllocator(ProtectionDomain domain) {
        this(domain, BYTES_MAX);
    }

    /// @param maxBytes bytes that the allocator registers at most, 0 or more, rounded down to chunks of 4 MiB
    public VerbenaByteBufAllocator(ProtectionDomain domain, long maxBytes) {
        super(true);
        if (maxBytes < 0) {
            throw new IllegalArgumentException("maxBytes: 0 or more, got " + maxBytes);
        }
        this.memory = new RegisteredMemory(domain, maxBytes);
    }

    /// Returns the protection domain of the allocator's memory.
    public ProtectionDomain domain() {
        return memory.domain();
    }

    /// Returns the number of bytes that the allocator has registered.
    public long registeredBytes() {
        return memory.bytes();
    }

    RegisteredMemory memory() {
        return memory;
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        return PooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        return toLeakAwareBuffer(new RegisteredByteBuf(this, initialCapacity, maxCapacity));
    }

    @Override
    public boolean isDirectBufferPooled() {
        return true;
    }

    /// Ends the registrations. Close the channels, and release all buffers, before.
    @Override
    public void close() {
        memory.close();
    }
}
