package verbena.netty;

import io.netty.channel.AbstractChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.RecvByteBufAllocator;
import org.jspecify.annotations.Nullable;

/// The base of both kinds of channel: their registration with a [VerbenaIoHandler], and the operations that they
/// wait for. By the thread of the event loop, except where a method allows another.
abstract class RegisteredChannel extends AbstractChannel {
    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);

    /// The registration with the event loop.
    private @Nullable IoRegistration registration;

    private volatile @Nullable StreamRegistration own;
    private int interestOps;
    private boolean isReadPending;
    private volatile boolean isClosed;

    RegisteredChannel(@Nullable Channel parent) {
        super(parent);
    }

    /// The part of a channel that the handler serves.
    abstract class Served extends AbstractUnsafe implements StreamHandle {
        @Override
        public void close() {
            close(voidPromise());
        }

        /// Returns the handle that limits a round of reading; every allocator of Netty's has such a handle.
        final RecvByteBufAllocator.ExtendedHandle round() {
            return (RecvByteBufAllocator.ExtendedHandle) recvBufAllocHandle();
        }
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    public boolean isOpen() {
        return !isClosed;
    }

    @Override
    protected void doClose() {
        isClosed = true;
    }

    /// Closes it, in the thread of the event loop; no program waits for that.
    final void closeNow() {
        unsafe().close(voidPromise());
    }

    @Override
    protected void doDisconnect() throws Exception {
        doClose();
    }

    // ---- registration

    @Override
    protected boolean isCompatible(EventLoop loop) {
        return loop instanceof IoEventLoop io && io.isCompatible(Served.class);
    }

    @Override
    protected void doRegister(ChannelPromise promise) {
        if (!(eventLoop() instanceof IoEventLoop loop) || !(unsafe() instanceof StreamHandle handle)) {
            throw new AssertionError("isCompatible() and newUnsafe() have seen to it");
        }
        loop.register(handle).addListener(future -> {
            if (future.isSuccess() && future.getNow() instanceof IoRegistration made) {
                registration = made;
                own = made.attachment();
                submit();
                promise.setSuccess();
            } else {
                promise.setFailure(future.cause());
            }
        });
    }

    @Override
    protected void doDeregister() {
        IoRegistration before = registration;
        if (before != null) {
            registration = null;
            own = null;
            boolean _ = before.cancel();
        }
    }

    /// Makes the handler look at the channel, because an operation may have become possible. Any thread; does not
    /// wait.
    final void poke() {
        StreamRegistration now = own;
        if (now != null) {
            now.poke();
        }
    }

    // ---- what it waits for

    private void submit() {
        StreamRegistration now = own;
        if (now != null) {
            long _ = now.submit(StreamOps.of(interestOps));
        }
    }

    final boolean waitsFor(int op) {
        return (interestOps & op) != 0;
    }

    final void waitFor(int op) {
        if (!waitsFor(op)) {
            interestOps |= op;
            submit();
        }
    }

    final void waitNoMoreFor(int op) {
        if (waitsFor(op)) {
            interestOps &= ~op;
            submit();
        }
    }

    // ---- reading

    @Override
    protected void doBeginRead() {
        isReadPending = true;
        waitFor(StreamOps.READ);
    }

    /// Notes that bytes were read, as the program had asked for.
    final void hasRead() {
        isReadPending = false;
    }

    /// Ends a round of reading.
    final void endReading() {
        if (!isReadPending && !config().isAutoRead()) {
            waitNoMoreFor(StreamOps.READ);
        }
    }

    /// Notes that the program wants no more bytes to be read. Any thread.
    final void clearReadPending() {
        if (!isRegistered()) {
            isReadPending = false;
        } else if (eventLoop().inEventLoop()) {
            isReadPending = false;
            waitNoMoreFor(StreamOps.READ);
        } else {
            eventLoop().execute(this::clearReadPending);
        }
    }
}
