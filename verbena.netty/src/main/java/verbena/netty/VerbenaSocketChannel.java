package verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.FileRegion;
import io.netty.channel.IoEvent;
import io.netty.channel.IoRegistration;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.PromiseCombiner;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamChannel;
import verbena.stream.StreamOptions;
import verbena.verbs.ProtectionDomain;

/// A connection over RDMA, with the pipeline and the options of a socket channel. The peer is such a channel, a
/// stream, a program with the agent, or a C program with rsockets.
///
/// Data are copied once at each end. The sender does not copy buffers of a [VerbenaByteBufAllocator]. The pieces of a
/// composite buffer, and buffers that are flushed together, leave in one message.
///
/// [io.netty.channel.ChannelOption#SO_SNDBUF] and [io.netty.channel.ChannelOption#SO_RCVBUF] are the sizes of
/// the rings, 16 KiB to 16 MiB and 256 KiB by default; set them before it is connected.
/// [io.netty.channel.ChannelOption#SO_LINGER] has its usual effect, and
/// [io.netty.channel.ChannelOption#SO_KEEPALIVE] probes the peer after two hours of silence. Other options of
/// sockets are stored and have no effect.
///
/// Its event loop uses it; any thread may call the methods of [SocketChannel]. Connecting fails as
/// [StreamChannel#connect] does, and with [io.netty.channel.ConnectTimeoutException] when its time has passed.
/// Such a channel never connects by TCP. Closing it ends the connection when written data have arrived, as
/// [StreamChannel#close()] does.
///
/// @since 0.1
public final class VerbenaSocketChannel extends RegisteredChannel implements SocketChannel {

    private final StreamSocketConfig config = new StreamSocketConfig(this);
    private volatile @Nullable StreamChannel stream;
    /// The domain that the stream belongs to; set before the stream.
    private @Nullable ProtectionDomain domain;
    private volatile @Nullable InetSocketAddress bound;
    private volatile boolean isInputShut;
    private volatile boolean isOutputShut;

    // By the thread of the event loop.
    private @Nullable ConnectAttempt attempt;
    private @Nullable ChannelPromise connecting;
    private final StreamWriter writer = new StreamWriter();

    /// Makes a channel for a bootstrap.
    public VerbenaSocketChannel() {
        super(null);
    }

    /// A connection that a listener has accepted.
    VerbenaSocketChannel(Channel parent, StreamChannel accepted) throws IOException {
        super(parent);
        accepted.configureBlocking(false);
        adopt(accepted);
    }

    private void adopt(StreamChannel made) throws ClosedChannelException {
        made.onReadiness(this::poke);
        domain = made.domain().orElse(null);
        stream = made;
        NettyCounters.CONNECTIONS.increment();
        poke();
    }

    private StreamChannel connected() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException(); // the stream is closed in another thread, perhaps later
        }
        StreamChannel made = stream;
        if (made == null) {
            throw new NotYetConnectedException();
        }
        return made;
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new Carried();
    }

    @Override
    public SocketChannelConfig config() {
        return config;
    }

    @Override
    public @Nullable ServerSocketChannel parent() {
        return (ServerSocketChannel) super.parent();
    }

    @Override
    public boolean isActive() {
        return isOpen() && stream != null;
    }

    // ---- connecting

    @Override
    protected void doBind(SocketAddress local) {
        if (bound != null || stream != null) {
            throw new AlreadyBoundException();
        }
        bound = address(local);
    }

    private static InetSocketAddress address(SocketAddress of) {
        if (!(of instanceof InetSocketAddress address)) {
            throw new UnsupportedAddressTypeException();
        }
        if (address.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        return address;
    }

    private void connect(InetSocketAddress to, @Nullable SocketAddress from, ChannelPromise promise) {
        if (connecting != null) {
            throw new ConnectionPendingException();
        }
        if (stream != null) {
            throw new AlreadyConnectedException();
        }
        if (from != null) {
            doBind(from);
        }
        int millis = config.getConnectTimeoutMillis(); // 0 is no limit
        StreamOptions options = config.choices.stream(config.getAllocator())
                .withConnectTimeout(Duration.ofMillis(millis == 0 ? Long.MAX_VALUE : millis));
        connecting = promise;
        promise.addListener(future -> {
            if (future.isCancelled()) {
                closeNow();
            }
        });
        var made = new ConnectAttempt(bound, to, options);
        attempt = made;
        made.start(
                connection -> later(() -> onConnected(connection), connection),
                why -> later(() -> onFailed(why, to), null));
    }

    /// Runs a step in the thread of the event loop, unless that has ended.
    private void later(Runnable step, @Nullable StreamChannel otherwiseClosed) {
        try {
            eventLoop().execute(step);
        } catch (RejectedExecutionException e) {
            if (otherwiseClosed != null) {
                var _ = otherwiseClosed.closeLater();
            }
        }
    }

    private void onConnected(StreamChannel made) {
        ChannelPromise promise = connecting;
        attempt = null;
        connecting = null;
        if (!isOpen() || promise == null) {
            var _ = made.closeLater();
            return;
        }
        try {
            adopt(made);
        } catch (ClosedChannelException e) {
            promise.tryFailure(e);
            closeNow();
            return;
        }
        boolean isActive = isActive(); // before the program knows, who may close it at once
        boolean isWanted = promise.trySuccess();
        if (isActive) {
            pipeline().fireChannelActive();
        }
        if (!isWanted) {
            closeNow();
        }
    }

    private void onFailed(Throwable why, InetSocketAddress to) {
        ChannelPromise promise = connecting;
        attempt = null;
        connecting = null;
        if (promise != null && unsafe() instanceof Carried carried) {
            promise.tryFailure(carried.annotated(why, to));
            closeNow();
        }
    }

    // ---- what the handler serves

    private final class Carried extends Served {
        private final StreamReader reader = new StreamReader(VerbenaSocketChannel.this);

        @Override
        public int readyOps(int interestOps) {
            StreamChannel made = stream;
            // The end is told without being asked for; what was not read comes first.
            int wanted = isInputShut ? interestOps : interestOps | StreamOps.END;
            if (made == null) {
                return 0;
            }
            // Without an operation too, so that the next acknowledgement is notified: a task may write a buffer to
            // hold.
            int ready = made.readyOps(wanted);
            writer.release(made); // an acknowledgement is noticed as well
            return ready;
        }

        @Override
        public @Nullable StreamChannel stream() {
            return stream;
        }

        @Override
        public void handle(IoRegistration registration, IoEvent event) {
            int ops = event instanceof StreamOps ready ? ready.value() : 0;
            if ((ops & StreamOps.WRITE) != 0) {
                super.flush0(); // it makes room
            }
            if ((ops & (StreamOps.READ | StreamOps.END)) != 0 && isOpen()) {
                reader.read(round());
            }
        }

        @Override
        public void connect(SocketAddress remote, SocketAddress local, ChannelPromise promise) {
            if (promise.isDone() || !ensureOpen(promise)) {
                return;
            }
            try {
                VerbenaSocketChannel.this.connect(address(remote), local, promise);
            } catch (RuntimeException e) {
                promise.tryFailure(annotateConnectException(e, remote));
            }
        }

        Throwable annotated(Throwable why, SocketAddress remote) {
            return annotateConnectException(why, remote);
        }

        /// Flushes. When a write waits for room, the flushed buffers wait behind it.
        @Override
        protected void flush0() {
            if (!waitsFor(StreamOps.WRITE)) {
                super.flush0();
            }
        }

        @Override
        protected @Nullable Executor prepareToClose() {
            if (stream == null || config.getSoLinger() <= 0) {
                return null;
            }
            doDeregister(); // the close waits elsewhere
            return task -> Thread.ofVirtual().name("verbena-netty-close").start(task);
        }
    }

    /// Flushes once more, after other tasks.
    private void flushLater() {
        eventLoop().execute(() -> {
            if (unsafe() instanceof Carried carried) {
                carried.flush0();
            }
        });
    }

    // ---- data

    int read(ByteBuf into) throws IOException {
        int count = into.writeBytes(connected(), into.writableBytes());
        NettyCounters.IN.add(Math.max(0, count));
        return count;
    }

    @Override
    protected Object filterOutboundMessage(Object message) {
        if (message instanceof ByteBuf || message instanceof FileRegion) {
            return message;
        }
        throw new UnsupportedOperationException(
                "write: a ByteBuf or a FileRegion, got " + message.getClass().getName());
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer in) throws Exception {
        StreamChannel to = connected();
        RegisteredMemory memory = registered();
        int rounds = config.getWriteSpinCount();
        while (!in.isEmpty()) {
            if (rounds-- <= 0) {
                waitNoMoreFor(StreamOps.WRITE);
                flushLater();
                return;
            }
            if (!writer.write(in, to, memory)) {
                waitFor(StreamOps.WRITE);
                return;
            }
        }
        waitNoMoreFor(StreamOps.WRITE);
    }

    /// Returns the memory of the channel's allocator; null when it belongs to another domain than the stream.
    private @Nullable RegisteredMemory registered() {
        return config.getAllocator() instanceof VerbenaByteBufAllocator own
                        && own.domain().equals(domain)
                ? own.memory()
                : null;
    }

    // ---- the end

    @Override
    protected void doClose() {
        super.doClose();
        ChannelPromise promise = connecting;
        connecting = null;
        if (promise != null) {
            promise.tryFailure(new ClosedChannelException());
        }
        ConnectAttempt current = attempt;
        if (current != null) {
            current.cancel();
        }
        StreamChannel made = stream;
        if (made != null) {
            end(made, config.getSoLinger());
        }
    }

    private void end(StreamChannel made, int lingerSeconds) {
        if (lingerSeconds == 0) {
            made.abandon();
            writer.release(made);
        } else if (lingerSeconds > 0) {
            made.close(); // not in the thread of the event loop: see prepareToClose()
            writer.release(made);
        } else {
            var _ = made.closeLater()
                    .toFuture()
                    .thenRun(() -> writer.release(made)); // the event loop does not come here again
        }
    }

    /// Notes the end of the input: the peer writes nothing more, and the program writes on.
    void inputHasEnded() {
        isInputShut = true;
        waitNoMoreFor(StreamOps.READ);
    }

    @Override
    protected void doBeginRead() {
        if (!isInputShut) {
            super.doBeginRead();
        }
    }

    @Override
    protected void doShutdownOutput() throws IOException {
        StreamChannel made = connected();
        isOutputShut = true;
        StreamChannel _ = made.shutdownOutput();
    }

    private void shutInput(ChannelPromise promise) {
        try {
            StreamChannel made = connected();
            inputHasEnded();
            StreamChannel _ = made.shutdownInput();
            promise.setSuccess();
        } catch (IOException | RuntimeException e) {
            promise.setFailure(e);
        }
    }

    private void inLoop(Runnable step) {
        if (eventLoop().inEventLoop()) {
            step.run();
        } else {
            eventLoop().execute(step);
        }
    }

    @Override
    public boolean isInputShutdown() {
        return isInputShut || !isActive();
    }

    @Override
    public ChannelFuture shutdownInput() {
        return shutdownInput(newPromise());
    }

    @Override
    public ChannelFuture shutdownInput(ChannelPromise promise) {
        inLoop(() -> shutInput(promise));
        return promise;
    }

    @Override
    public boolean isOutputShutdown() {
        return isOutputShut || !isActive();
    }

    @Override
    public ChannelFuture shutdownOutput() {
        return shutdownOutput(newPromise());
    }

    @Override
    public ChannelFuture shutdownOutput(ChannelPromise promise) {
        inLoop(() -> ((AbstractUnsafe) unsafe()).shutdownOutput(promise));
        return promise;
    }

    @Override
    public boolean isShutdown() {
        return isInputShutdown() && isOutputShutdown();
    }

    @Override
    public ChannelFuture shutdown() {
        return shutdown(newPromise());
    }

    @Override
    public ChannelFuture shutdown(ChannelPromise promise) {
        inLoop(() -> {
            var both = new PromiseCombiner(eventLoop());
            both.add((Future<?>) shutdownOutput());
            both.add((Future<?>) shutdownInput());
            both.finish(promise);
        });
        return promise;
    }

    // ---- what there is to know

    @Override
    public InetSocketAddress localAddress() {
        return (InetSocketAddress) super.localAddress();
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return (InetSocketAddress) super.remoteAddress();
    }

    @Override
    @SuppressWarnings("NullAway") // null before there is one, as Netty has it
    protected SocketAddress localAddress0() {
        StreamChannel made = stream;
        return made == null ? null : made.localAddress().orElse(null);
    }

    @Override
    @SuppressWarnings("NullAway") // null before there is one, as Netty has it
    protected SocketAddress remoteAddress0() {
        StreamChannel made = stream;
        return made == null ? null : made.peerAddress().orElse(null);
    }
}
