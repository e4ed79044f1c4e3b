package verbena.stream;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.ProtocolException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ByteChannel;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.InterruptibleChannel;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.ScatteringByteChannel;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.stream.protocol.StreamMessage.Hello;
import verbena.verbs.Context;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Pending;
import verbena.verbs.Preview;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.WaitSource;
import verbena.verbs.Waitable;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.internal.HostAddresses;
import verbena.verbs.waiting.TimeLimits;

/// A connection that carries bytes in both directions, as a socket channel does, over any device. The peer is a
/// [StreamChannel], or a C program with rsockets (rsocket(7)).
///
/// ```java
/// try (StreamChannel channel = StreamChannel.connect(new InetSocketAddress("10.0.0.2", 7471))) {
///     channel.write(ByteBuffer.wrap(question));
///     channel.shutdownOutput();
///     while (channel.read(answer) >= 0) {}
/// }
/// ```
///
/// Any thread may use it. One read and one write may be under way at a time, and other threads wait. A virtual thread
/// that waits releases its carrier.
///
/// A blocking write returns when the channel has taken all bytes. A read waits for the first bytes only, and returns
/// those that are there. Data are copied once at each end, and those of registered memory at the peer only. Neither
/// operation allocates, but a wait with a time limit may allocate one object.
///
/// [#connect], [#open] or [StreamListener#accept()] makes it, and the program closes it. Closing and interrupting end
/// a waiting call as in `java.nio.channels`, with [java.nio.channels.AsynchronousCloseException] or
/// [ClosedByInterruptException]. Later calls throw [ClosedChannelException]. Reading and writing before the
/// connection is made throw [NotYetConnectedException].
///
/// @since 0.1
public final class StreamChannel
        implements ByteChannel, GatheringByteChannel, ScatteringByteChannel, InterruptibleChannel, Waitable {
    /// An operation of [#readyOps]: the next read would not find a byte, but the end or a failure.
    @Preview
    public static final int OP_END = OpenStream.OP_END;

    private final StreamOptions options;
    private final long waitNanos;
    private final ConnectionId id;
    private final ConnectingStream connecting;
    private final AtomicBoolean isClosed = new AtomicBoolean();
    private volatile boolean isBlocking = true;
    /// Null until it is connected.
    private volatile @Nullable OpenStream open;

    private final StreamSources sources = new StreamSources(this, this::isOpen, () -> open);

    // A thread that makes the connection holds both; on the passive side, the first.
    private final ReentrantLock readLock = new ReentrantLock();
    private final ReentrantLock writeLock = new ReentrantLock();
    private final ConnectSteps steps = new ConnectSteps(this, readLock, writeLock);

    private final BufferTarget target = new BufferTarget();
    private final BufferSource source = new BufferSource();

    /// @param events its own; null on the passive side, until the peer is connected
    StreamChannel(StreamOptions options, ConnectionId id, @Nullable EventChannel events) {
        this.options = options;
        this.id = id;
        this.connecting = new ConnectingStream(options, id, events);
        this.waitNanos = options.timeout().map(TimeLimits::nanos).orElse(OpenStream.FOREVER);
    }

    /// Makes a channel that is not connected yet; [#connectTo] connects it.
    public static StreamChannel open(StreamOptions options) {
        EventChannel events = ConnectingStream.events(options);
        return new StreamChannel(options, events.createId(PortSpace.TCP), events);
    }

    /// Connects to a port of a host, with [StreamOptions#defaults()]. When the host has several addresses, it tries
    /// each in turn.
    ///
    /// @param host a name or an address
    /// @throws java.net.UnknownHostException when the host is not known
    /// @throws IOException as [#connect(InetSocketAddress, StreamOptions)]
    public static StreamChannel connect(String host, int port) throws IOException {
        return connect(host, port, StreamOptions.defaults());
    }

    /// Connects with options, otherwise as [#connect(String, int)].
    public static StreamChannel connect(String host, int port, StreamOptions options) throws IOException {
        return HostAddresses.tryEach(host, port, IOException.class, to -> connect(to, options));
    }

    /// Connects to an address with [StreamOptions#defaults()].
    ///
    /// @throws IOException as [#connect(InetSocketAddress, StreamOptions)]
    public static StreamChannel connect(InetSocketAddress to) throws IOException {
        return connect(to, StreamOptions.defaults());
    }

    /// Connects to an address, in blocking mode.
    ///
    /// @throws ConnectException when no program listens there, or it refuses
    /// @throws NoRouteToHostException when no device reaches the address
    /// @throws ProtocolException when the program there speaks another protocol
    /// @throws SocketTimeoutException when the peer does not answer in the time of [StreamOptions#connectTimeout()]
    public static StreamChannel connect(InetSocketAddress to, StreamOptions options) throws IOException {
        StreamChannel made = open(options);
        boolean done = false;
        try {
            done = made.connect(null, to, () -> true, true);
            return made;
        } finally {
            if (!done) {
                made.close();
            }
        }
    }

    // ---- making the connection

    /// Begins to connect this channel. In blocking mode it waits until it is connected.
    ///
    /// @return whether it is connected; if not, call [#finishConnect()]
    /// @throws AlreadyConnectedException when it is connected already
    /// @throws ConnectionPendingException when a connection is on its way
    /// @throws UnresolvedAddressException when the name of the address was not resolved
    /// @throws IOException as [#connect(InetSocketAddress, StreamOptions)]; the channel is then closed
    public boolean connectTo(InetSocketAddress to) throws IOException {
        return connect(null, to, () -> true, isBlocking);
    }

    /// Begins to connect as [#connectTo(InetSocketAddress)] does, from an address and port of this host. `0.0.0.0`
    /// leaves the address open, and port 0 the port.
    ///
    /// @param from null for any
    /// @param isWanted called when the peer has accepted. If it returns false, this method or [#finishConnect()]
    ///     throws a [ConnectException]. The peer then had no connection; over iWARP it finds one reset
    @Preview
    public boolean connectTo(@Nullable InetSocketAddress from, InetSocketAddress to, BooleanSupplier isWanted)
            throws IOException {
        return connect(from, to, isWanted, isBlocking);
    }

    private boolean connect(
            @Nullable InetSocketAddress from, InetSocketAddress to, BooleanSupplier isWanted, boolean waits)
            throws IOException {
        if (to.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        return steps.take(() -> {
            if (open != null) {
                throw new AlreadyConnectedException();
            }
            if (connecting.isUnderWay()) {
                throw new ConnectionPendingException();
            }
            connecting.begin(from, to, isWanted);
            return awaitConnected(waits);
        });
    }

    /// Returns whether the connection of [#connectTo] is made. In blocking mode it waits for that.
    ///
    /// @throws NoConnectionPendingException when none was begun
    /// @throws IOException as [#connect(InetSocketAddress, StreamOptions)]; the channel is then closed
    public boolean finishConnect() throws IOException {
        return steps.take(() -> {
            if (open != null) {
                return true;
            }
            if (!connecting.isUnderWay()) {
                throw new NoConnectionPendingException();
            }
            return awaitConnected(isBlocking);
        });
    }

    private boolean awaitConnected(boolean waits) throws IOException, InterruptedException {
        return (open = connecting.await(waits)) != null;
    }

    /// Agrees to the request of a peer, on the passive side.
    void accept(Hello peer) {
        steps.takePassively(() -> connecting.accept(peer));
    }

    /// Makes the stream when the peer is connected, on the passive side.
    void accepted(Hello peer) {
        steps.takePassively(() -> open = connecting.accepted(peer));
    }

    // ---- data

    /// Reads the bytes that are there. In blocking mode it waits for the first.
    ///
    /// @return bytes; -1 when the peer writes no more, or after [#shutdownInput()]; 0 when there is nothing in
    ///     non-blocking mode
    /// @throws SocketTimeoutException when nothing has come in the time of [StreamOptions#timeout()]
    /// @throws java.net.SocketException when the connection was reset, or the peer does not answer any more
    /// @throws IllegalArgumentException when the buffer is read-only
    @Override
    public int read(ByteBuffer into) throws IOException {
        return read(into, waitNanos);
    }

    /// Reads as [#read(ByteBuffer)] does, with another time limit in blocking mode. The channel can be used after a
    /// timeout.
    ///
    /// @throws SocketTimeoutException when nothing has come in that time; with [Duration#ZERO], when nothing is
    ///     there
    public int read(ByteBuffer into, Duration timeout) throws IOException {
        return read(into, Math.max(1, TimeLimits.nanos(timeout)));
    }

    private int read(ByteBuffer into, long nanos) throws IOException {
        Objects.requireNonNull(into);
        readLock.lock();
        target.begin(into);
        return (int) readAndUnlock(nanos);
    }

    @Override
    public long read(ByteBuffer[] into) throws IOException {
        return read(into, 0, into.length);
    }

    @Override
    public long read(ByteBuffer[] into, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, into.length);
        readLock.lock();
        target.begin(into, offset, length);
        return readAndUnlock(waitNanos);
    }

    private long readAndUnlock(long nanos) throws IOException {
        try {
            OpenStream stream = connected();
            return stream.read(target, beginIo() == 0 ? 0 : nanos);
        } catch (InterruptedException e) {
            throw closedByInterrupt();
        } finally {
            target.end();
            readLock.unlock();
        }
    }

    /// Returns the number of bytes that a read would find without waiting; 0 after [#shutdownInput()].
    ///
    /// @throws ClosedChannelException when the channel is closed
    public int available() throws ClosedChannelException {
        return connected().available();
    }

    /// Writes all bytes; in non-blocking mode, as many as there is room for.
    ///
    /// @return bytes: fewer in blocking mode only when the time of [StreamOptions#timeout()] has passed
    /// @throws SocketTimeoutException when none could be written in that time
    /// @throws ClosedChannelException after [#shutdownOutput()], too
    /// @throws java.net.SocketException when the connection was reset, or the peer does not answer any more
    @Override
    public int write(ByteBuffer from) throws IOException {
        Objects.requireNonNull(from);
        writeLock.lock();
        try {
            source.begin(from);
            return (int) writeLocked();
        } finally {
            source.end();
            writeLock.unlock();
        }
    }

    @Override
    public long write(ByteBuffer[] from) throws IOException {
        return write(from, 0, from.length);
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, from.length);
        writeLock.lock();
        try {
            source.begin(from, offset, length);
            return writeLocked();
        } finally {
            source.end();
            writeLock.unlock();
        }
    }

    private long writeLocked() throws IOException {
        OpenStream stream = connected();
        try {
            return stream.write(source, beginIo());
        } catch (InterruptedException e) {
            throw closedByInterrupt();
        }
    }

    /// Writes from registered memory, without a copy at this end: the device reads it in place. Until it has done
    /// so, the memory must neither change nor be closed. A blocking call returns when the peer's device has
    /// acknowledged all bytes. In non-blocking mode the call takes what there is room for, and [#unacknowledged()]
    /// reports when the memory is free.
    ///
    /// Each call is a message of its own, so pieces of less than some 4 KiB are faster as buffers. Both kinds of
    /// writes keep their order.
    ///
    /// @param from memory of the channel's domain ([StreamOptions#withProtectionDomain])
    /// @return bytes taken: fewer in non-blocking mode only
    /// @throws IllegalArgumentException when the memory is of another domain
    /// @throws verbena.verbs.InvalidStateException when its region is closed
    /// @throws IndexOutOfBoundsException when the piece is not within it
    /// @throws SocketTimeoutException when the peer has not acknowledged all in the time of
    ///     [StreamOptions#timeout()]; the device may read the memory until the channel is closed
    /// @throws ClosedChannelException after [#shutdownOutput()], too
    /// @throws java.net.SocketException when the connection was reset, or the peer does not answer any more
    public long write(MemoryRegion from, long offset, long length) throws IOException {
        Objects.checkFromIndexSize(offset, length, from.length());
        writeLock.lock();
        try {
            OpenStream stream = connected();
            return stream.write(from, offset, length, beginIo());
        } catch (InterruptedException e) {
            throw closedByInterrupt();
        } finally {
            writeLock.unlock();
        }
    }

    /// Returns the number of bytes of [#write(MemoryRegion, long, long)] that the device may still read. They are
    /// the last bytes, because messages are acknowledged in their order. A closed channel has none.
    public long unacknowledged() {
        OpenStream stream = open;
        return stream == null ? 0 : stream.unacknowledged();
    }

    /// Begins a read or a write, and returns how long it may wait, in nanoseconds. A blocking call of an
    /// interrupted thread closes the channel.
    private long beginIo() throws IOException {
        if (!isBlocking) {
            return 0;
        }
        if (Thread.currentThread().isInterrupted()) {
            throw closedByInterrupt();
        }
        return waitNanos;
    }

    ClosedByInterruptException closedByInterrupt() {
        Thread.currentThread().interrupt();
        close();
        return new ClosedByInterruptException();
    }

    private OpenStream connected() throws ClosedChannelException {
        checkOpen();
        OpenStream stream = open;
        if (stream == null) {
            throw new NotYetConnectedException();
        }
        return stream;
    }

    void checkOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    // ---- readiness, for selectors

    /// Sets a listener for a selector; a program that waits for many channels uses a [verbena.verbs.Waiter] instead.
    /// It runs each time that an operation may have become possible after [#readyOps] did not report it. It runs on
    /// any thread, also that of the device in the middle of a call of this class. So it must neither wait nor call
    /// this class.
    ///
    /// @throws NotYetConnectedException when it is not connected
    /// @throws ClosedChannelException when it is closed
    /// @throws verbena.verbs.InvalidStateException when a [verbena.verbs.Waiter] has it
    @Preview
    public void onReadiness(Runnable listener) throws ClosedChannelException {
        sources.requireNoWaiter();
        connected().seat().listen(listener);
    }

    /// Returns those of the given operations that would not wait now, but return bytes, the end or a failure. When
    /// there are none, the listener of [#onReadiness] runs after one may have become possible.
    ///
    /// @param interestOps of `OP_READ` and `OP_WRITE` of [java.nio.channels.SelectionKey], and [#OP_END]
    @Preview
    public int readyOps(int interestOps) {
        OpenStream stream = open;
        return stream == null ? 0 : stream.readyOps(interestOps);
    }

    /// Returns whether a read would return without waiting: bytes, the end or a failure. A connected channel is a
    /// source of one [verbena.verbs.Waiter], in place of [#onReadiness].
    @Override
    public boolean isReady() {
        return sources.reading.isReady();
    }

    @Override
    public WaitSource waitSource() {
        return sources.reading;
    }

    /// Returns a source of a [verbena.verbs.Waiter] that is ready when a write would not wait: there is room, or a
    /// failure. Each call returns the same one.
    ///
    /// There is nearly always room. So add it when a non-blocking write has left bytes, and remove it when the rest
    /// is written.
    public Waitable writable() {
        return sources.writing;
    }

    /// Returns the protection domain of the connection; empty before it is connected.
    public Optional<ProtectionDomain> domain() {
        OpenStream stream = open;
        return stream == null ? Optional.empty() : Optional.of(stream.domain());
    }

    /// Returns the device that carries the connection, or will carry it. The program must not close it, unless it
    /// opened it.
    ///
    /// @throws verbena.verbs.InvalidStateException when no address has been bound or resolved, or the channel was
    ///     closed before it was connected
    public Context context() {
        OpenStream stream = open; // the identifier of a closed channel is at no device
        return stream == null ? id.context() : stream.domain().context();
    }

    // ---- the end

    /// Announces to the peer that nothing more is written. The peer reads the bytes on their way, and then the end.
    /// Reading still works here.
    public StreamChannel shutdownOutput() throws IOException {
        connected().shutdownOutput();
        return this;
    }

    /// Ends reading: a read finds the end at once. The connection ends when both directions have ended.
    public StreamChannel shutdownInput() throws IOException {
        connected().shutdownInput();
        return this;
    }

    /// Ends the connection. It waits until the written bytes have arrived, for [StreamOptions#linger()] at most. A
    /// thread that reads or writes gets an [java.nio.channels.AsynchronousCloseException]. Idempotent; does not
    /// throw.
    @Override
    public void close() {
        close(TimeLimits.nanos(options.linger()));
    }

    /// Closes as [#close()] does, on a virtual thread: this call waits for nothing. The end of the process waits for
    /// such closes, as the kernel does for sockets.
    ///
    /// @return done when it is closed, and its device no longer reads memory of the program
    public Pending<Void> closeLater() {
        return PendingCloses.add(this);
    }

    /// Waits until no stream of this process is being closed by [#closeLater()]; false when `timeout` passed. A
    /// program calls it before it closes a device that such streams have used.
    @Preview
    public static boolean awaitCloses(Duration timeout) throws InterruptedException {
        return PendingCloses.await(timeout);
    }

    /// Ends the connection at once, and drops bytes that have not arrived. The peer finds it reset.
    public void abandon() {
        close(0);
    }

    private void close(long lingerNanos) {
        if (!isClosed.compareAndSet(false, true)) {
            return;
        }
        sources.tell();
        OpenStream stream = open;
        if (stream != null) {
            stream.close(lingerNanos);
        }
        connecting.close();
        if (readLock.tryLock()) { // else the thread that connects frees what it has made
            try {
                free();
            } finally {
                readLock.unlock();
            }
        }
    }

    /// Closes it, and waits for a thread that makes the connection, which [#close()] does not.
    void closeWhole() {
        close();
        readLock.lock();
        try {
            assert !isOpen();
        } finally {
            readLock.unlock();
        }
    }

    /// Frees the objects of a connection that is not going to be made, and a connection that was made at the moment
    /// of closing.
    void free() {
        connecting.free();
        OpenStream stream = open;
        if (stream != null) {
            stream.close(0);
        }
    }

    // ---- what there is to know

    /// Sets the mode. In non-blocking mode no call waits except [#close], whose place [#closeLater] takes: reads and
    /// writes move as many bytes as they can.
    public StreamChannel configureBlocking(boolean block) throws IOException {
        readLock.lock();
        writeLock.lock();
        try {
            checkOpen();
            isBlocking = block;
        } finally {
            writeLock.unlock();
            readLock.unlock();
        }
        return this;
    }

    /// Returns whether the channel was connected and is not closed. The peer may have gone.
    public boolean isConnected() {
        return open != null && isOpen();
    }

    @Override
    public boolean isOpen() {
        return !isClosed.get();
    }

    /// Returns the own address and port; empty before it has an address.
    public Optional<InetSocketAddress> localAddress() {
        return id.localAddress();
    }

    /// Returns the peer's address and port; empty before [#connectTo].
    public Optional<InetSocketAddress> peerAddress() {
        return id.peerAddress();
    }

    @Override
    public String toString() {
        return "stream over " + id;
    }
}
