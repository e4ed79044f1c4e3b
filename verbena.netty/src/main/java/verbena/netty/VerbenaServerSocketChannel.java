package verbena.netty;

import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.IoEvent;
import io.netty.channel.IoRegistration;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.ServerSocketChannelConfig;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnsupportedAddressTypeException;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamChannel;
import verbena.stream.StreamListener;

/// A channel that listens at a port for connections over RDMA, and gives out each as a [VerbenaSocketChannel]. Peers
/// are channels of this transport, streams, programs with the agent, and C programs with rsockets.
///
/// [ChannelOption#SO_RCVBUF], [ChannelOption#SO_SNDBUF] and the [VerbenaChannelOption]s hold for the connections that
/// it accepts; set them before it is bound. [ChannelOption#SO_BACKLOG] is 128.
///
/// Its event loop uses it; any thread may call the methods of [ServerSocketChannel]. Binding fails with a
/// [java.net.BindException] when the address is not this host's or the port is taken. Closing it frees the port, and
/// the connections that it gave out stay.
///
/// @since 0.1
public final class VerbenaServerSocketChannel extends RegisteredChannel implements ServerSocketChannel {
    private final StreamServerConfig config = new StreamServerConfig(this);
    private volatile @Nullable StreamListener listener;

    /// Makes a channel for a bootstrap.
    public VerbenaServerSocketChannel() {
        super(null);
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new Accepting();
    }

    @Override
    public ServerSocketChannelConfig config() {
        return config;
    }

    @Override
    public boolean isActive() {
        return isOpen() && listener != null;
    }

    @Override
    protected void doBind(SocketAddress local) throws Exception {
        if (listener != null) {
            throw new AlreadyBoundException();
        }
        if (!(local instanceof InetSocketAddress at)) {
            throw new UnsupportedAddressTypeException();
        }
        StreamListener made = StreamListener.bind(
                at,
                config.choices.stream(config.getAllocator()),
                Math.max(1, config.choices.number(ChannelOption.SO_BACKLOG)));
        made.configureBlocking(false);
        made.onReadiness(this::poke);
        listener = made;
        poke();
    }

    @Override
    protected void doClose() {
        super.doClose();
        StreamListener bound = listener;
        if (bound != null) {
            bound.close();
        }
    }

    // ---- accepting

    private final class Accepting extends Served {
        @Override
        public int readyOps(int interestOps) {
            StreamListener bound = listener;
            return bound != null && isOpen() && bound.isReady() ? interestOps & StreamOps.READ : 0;
        }

        @Override
        public @Nullable StreamChannel stream() {
            return null;
        }

        @Override
        public void connect(SocketAddress remote, SocketAddress local, ChannelPromise promise) {
            promise.setFailure(new UnsupportedOperationException("connect: this channel listens"));
        }

        @Override
        public void handle(IoRegistration registration, IoEvent event) {
            RecvByteBufAllocator.ExtendedHandle round = round();
            round.reset(config);
            IOException failure = null;
            try {
                do {
                    StreamChannel found = accept();
                    if (found == null) {
                        break;
                    }
                    round.incMessagesRead(1);
                    hasRead();
                    pipeline().fireChannelRead(new VerbenaSocketChannel(VerbenaServerSocketChannel.this, found));
                } while (isOpen() && round.continueReading());
            } catch (IOException e) {
                failure = e;
            }
            round.readComplete();
            pipeline().fireChannelReadComplete();
            if (failure != null) {
                pipeline().fireExceptionCaught(failure);
                close(voidPromise()); // its device has failed
            }
            endReading();
        }
    }

    private @Nullable StreamChannel accept() throws IOException {
        StreamListener bound = listener;
        try {
            return bound == null ? null : bound.accept();
        } catch (ClosedChannelException e) {
            return null;
        }
    }

    // ---- what there is to know

    @Override
    public InetSocketAddress localAddress() {
        return (InetSocketAddress) super.localAddress();
    }

    @Override
    @SuppressWarnings("NullAway") // null before it is bound, as Netty has it
    protected SocketAddress localAddress0() {
        StreamListener bound = listener;
        return bound == null ? null : bound.localAddress();
    }

    @Override
    @SuppressWarnings("NullAway") // none, as Netty has it
    public InetSocketAddress remoteAddress() {
        return null;
    }

    @Override
    @SuppressWarnings("NullAway") // none, as Netty has it
    protected SocketAddress remoteAddress0() {
        return null;
    }

    // ---- what a listener has not

    @Override
    protected void doWrite(ChannelOutboundBuffer in) {
        throw new UnsupportedOperationException("write: this channel listens");
    }

    @Override
    protected Object filterOutboundMessage(Object message) {
        throw new UnsupportedOperationException("write: this channel listens");
    }
}
