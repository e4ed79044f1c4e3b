package verbena.verbs.cm;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;
import verbena.verbs.ConnectionException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.LocalMemory;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Pending;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.RemoteMemory;
import verbena.verbs.SendBatch;
import verbena.verbs.internal.HostAddresses;
import verbena.verbs.internal.Promise;
import verbena.verbs.waiting.TimeLimits;

/// A reliable connection with all objects that it needs, for use like a socket. It has a device, a protection domain,
/// completion queues, and a queue pair in RTS. The domain is its own, so the peer reaches no other peer's memory.
/// [ConnectionOptions#withSharing] replaces some of these objects by the program's.
///
/// Each operation on registered memory has two forms. The blocking form ([#write]) returns when the operation is
/// done. The other form ([#postWrite]) posts the request and returns a [Pending] to wait for, also for a limited
/// time. It waits only while the queue pair has no room ([#awaitRoom]). Arrays and text have the blocking form only.
/// Requests of one direction are carried out in the order in which they were posted.
///
/// A SEND or WRITE is done when the peer's device has acknowledged it. Over iWARP it is done when TCP has accepted
/// it: it may still be on its way, and a later READ shows that it has arrived.
///
/// Any number of threads may use it at once. When the connection ends, each waiting thread gets a
/// [ConnectionException] with the reason, and so does each later call. A thread that is interrupted while it
/// waits for room has posted nothing, and the connection stays. A thread that is interrupted in a blocking form
/// after that ends the connection, because the device still uses the memory of its request. Channels of
/// `java.nio` do the same. Interrupting a thread in [Pending#await()] does not end the connection.
///
/// Memory is registered ([#allocate]), and nothing is copied. The forms for arrays and strings copy once. A
/// destination that is too short throws [IndexOutOfBoundsException] before anything is posted, and a closed region
/// throws [InvalidStateException]. For requests of other kinds (a fence, a SEND that invalidates a key), use
/// [#queuePair()] with completion queues of the program ([ConnectionOptions#withCompletionQueues]). One queue serves
/// either the program or these methods, not both.
///
/// [#connect] or [ConnectionListener#accept()] makes it, and the program closes it, also after the peer has ended it
/// ([#whenClosed]). Closing disconnects, and frees the memory of [#allocate]: the program must not use that any more.
/// What the program itself has made in the protection domain it closes before the connection ([#close()]).
///
/// @since 0.1
public final class Connection implements AutoCloseable {
    private final ConnectionId id;
    private final ConnectionParts parts;
    private final QueuePair queuePair;
    private final Outstanding sends;
    private final Outstanding receives;
    private final Poster poster;
    /// Null when the program posts receives.
    private final @Nullable ReceivesAhead ahead;
    /// Held by the thread that closes. Others wait for it, and find nothing left to do.
    private final ReentrantLock closing = new ReentrantLock();
    private final List<MemoryRegion> regions = new ArrayList<>();
    /// The channel of its events, which it closes; null while that is a listener's channel.
    volatile @Nullable EventChannel own;
    /// Null until it is established.
    volatile @Nullable PeerParameters peer;
    private final Ending ending;
    private final EndEvents events;

    Connection(ConnectionId id, ConnectionOptions options, ConnectionParts parts, QueuePair queuePair) {
        this.id = id;
        this.parts = parts;
        this.queuePair = queuePair;
        this.ending = new Ending(this, id::disconnect);
        int sendDepth = parts.ownsSends() ? options.sizes().maxSendWr() : 0;
        int receiveDepth = parts.ownsReceives() ? options.sizes().maxReceiveWr() : 0;
        this.sends = new Outstanding(ending, parts.sends(), this::allocate, sendDepth);
        this.receives = new Outstanding(ending, parts.receives(), this::allocate, receiveDepth);
        this.events = new EndEvents(id, ending, this::look);
        this.poster = new Poster(queuePair, new Staging(this::allocate), ending, options, sends, receives);
        int bytes = options.receiveAheadBytes();
        this.ahead = bytes == 0
                ? null
                : new ReceivesAhead(
                        queuePair,
                        allocate((long) receiveDepth * bytes),
                        ending,
                        poster,
                        receives,
                        receiveDepth,
                        bytes);
    }

    /// Connects to the program that listens at a port of a host, with [ConnectionOptions#defaults()]. When the host
    /// has several addresses, it tries each in turn.
    ///
    /// It returns after the other program has called [ConnectionListener#accept()]: a request in the backlog is no
    /// connection yet, unlike a socket's. A thread that is to connect and then to accept the same connection waits
    /// until the time is over.
    ///
    /// @param host a name or an address
    /// @throws ConnectionException when no connection is made; the message has the reason
    /// @throws IllegalArgumentException when `port` is not 1 to 65535
    public static Connection connect(String host, int port) throws InterruptedException {
        return connect(host, port, ConnectionOptions.defaults());
    }

    /// Connects with options, otherwise as [#connect(String, int)]. It waits for the other program for
    /// [ConnectionOptions#connectTimeout()] at most, at each address.
    public static Connection connect(String host, int port, ConnectionOptions options) throws InterruptedException {
        if (port < 1 || port > 0xFFFF) {
            throw new IllegalArgumentException("port: 1 to 65535, got " + port);
        }
        return HostAddresses.tryEach("connect", host, port, to -> connect(to, options));
    }

    /// Connects to an address with [ConnectionOptions#defaults()], otherwise as
    /// [#connect(InetSocketAddress, ConnectionOptions)].
    public static Connection connect(InetSocketAddress to) throws InterruptedException {
        return connect(to, ConnectionOptions.defaults());
    }

    /// Connects to an address with options. It waits for the other program as [#connect(String, int)] does, for
    /// [ConnectionOptions#connectTimeout()] at most.
    ///
    /// @param to a resolved address
    /// @throws ConnectionException when no connection is made; the message has the reason
    /// @throws IllegalArgumentException when the name of the address was not resolved
    public static Connection connect(InetSocketAddress to, ConnectionOptions options) throws InterruptedException {
        return ConnectionSetup.connect(to, options);
    }

    private void look() {
        sends.look();
        receives.look();
    }

    /// Posts the receives that it is to have before it is made.
    void begin() {
        ReceivesAhead posting = ahead;
        if (posting != null) {
            posting.begin();
        }
    }

    // ---- what belongs to it

    /// Returns the parameters and the private data that the peer sent.
    public PeerParameters peer() {
        PeerParameters known = peer;
        if (known == null) {
            throw new InvalidStateException("peer: not connected yet");
        }
        return known;
    }

    /// Returns the own address and port.
    public InetSocketAddress localAddress() {
        return id.localAddress().orElseThrow();
    }

    /// Returns the peer's address and port.
    public InetSocketAddress peerAddress() {
        return id.peerAddress().orElseThrow();
    }

    /// Returns the identifier of the connection manager, for events. The connection closes it.
    public ConnectionId id() {
        return id;
    }

    /// Returns the queue pair, for requests of other kinds. The connection closes it. Its protection domain belongs
    /// to no other connection unless the options share one. A region that the program registers there, it closes
    /// before the connection.
    public QueuePair queuePair() {
        return queuePair;
    }

    /// Allocates memory to send from and receive into, which peers cannot access. The connection closes it at its
    /// end, unless the program did so before.
    ///
    /// @param bytes at least 1
    /// @throws ConnectionException when the program has closed the connection
    /// @throws verbena.verbs.ResourceLimitException when the device has no more regions, or there is no memory left
    public MemoryRegion allocate(long bytes) {
        return allocate(bytes, Set.of(Access.LOCAL_WRITE));
    }

    /// Allocates memory that the peer may access with the rights in `access`. Otherwise as [#allocate(long)]. Memory
    /// that all connections of a listener may reach is [ConnectionListener#allocate].
    public MemoryRegion allocate(long bytes, Set<Access> access) {
        synchronized (regions) { // so that none is made after a close
            ending.checkOpen("allocate");
            MemoryRegion region = parts.domain().allocate(bytes, access);
            regions.removeIf(MemoryRegion::isClosed);
            regions.add(region);
            return region;
        }
    }

    /// Waits until another SEND, WRITE, READ or atomic can be posted without waiting; false when `timeout` passed.
    /// [Duration#ZERO] only asks. When several threads post, another one may take the room.
    ///
    /// @throws ConnectionException when the connection has ended
    public boolean awaitRoom(Duration timeout) throws InterruptedException {
        requireOpen("awaitRoom");
        boolean hasRoom = sends.awaitRoom(TimeLimits.nanos(timeout));
        requireOpen("awaitRoom"); // what ends makes room
        return hasRoom;
    }

    private void requireOpen(String verb) {
        if (!isOpen()) {
            throw ending.exception(verb);
        }
    }

    // ---- messages

    /// Sends a message and waits until a receive of the peer has taken it. It waits longer when the peer has posted
    /// none yet. Over iWARP it waits only until TCP has accepted the message.
    ///
    /// @throws ConnectionException when the connection has ended, or the peer refuses the message
    public void send(LocalMemory data) throws InterruptedException {
        poster.finish(startSend(true, data));
    }

    /// Posts a message. Its memory must not change until the request is done.
    ///
    /// @throws ConnectionException when the connection has ended
    /// @throws InterruptedException when the thread is interrupted while it waits for room; nothing is posted
    public Pending<Void> postSend(LocalMemory data) throws InterruptedException {
        return startSend(false, data);
    }

    private WorkRequest<Void> startSend(boolean reusable, LocalMemory data) throws InterruptedException {
        requireOpen("send", data);
        return poster.start(sends, "send", reusable, r -> queuePair.postSend(r.wrId, data));
    }

    /// Sends a message with 32 bits beside it, which the peer gets in [ReceivedMessage#immediate()]. Otherwise as
    /// [#send(LocalMemory)].
    public void sendWithImmediate(LocalMemory data, int immediate) throws InterruptedException {
        poster.finish(startSendWithImmediate(true, data, immediate));
    }

    /// Posts a message with 32 bits beside it, otherwise as [#postSend].
    public Pending<Void> postSendWithImmediate(LocalMemory data, int immediate) throws InterruptedException {
        return startSendWithImmediate(false, data, immediate);
    }

    private WorkRequest<Void> startSendWithImmediate(boolean reusable, LocalMemory data, int immediate)
            throws InterruptedException {
        requireOpen("send", data);
        return poster.start(sends, "send", reusable, r -> queuePair.postSendWithImmediate(r.wrId, data, immediate));
    }

    /// Sends an array as a message, otherwise as [#send(LocalMemory)]. There is no posting form.
    public void send(byte[] data) throws InterruptedException {
        poster.fromCopy("send", data, SendBatch::send);
    }

    /// Sends text as a message in UTF-8, otherwise as [#send(LocalMemory)].
    public void send(String text) throws InterruptedException {
        send(text.getBytes(StandardCharsets.UTF_8));
    }

    /// Waits for a message, which fills `into` from its beginning. To wait for a limited time, use [#postReceive].
    ///
    /// @throws ConnectionException when the connection has ended, or the message is longer than `into`
    /// @throws IllegalArgumentException when the region is without the right LOCAL_WRITE
    public ReceivedMessage receive(LocalMemory into) throws InterruptedException {
        requireWritable("receive", into);
        return ahead != null ? ahead.receive(into.segment()) : poster.finishReceive(startReceive(true, into));
    }

    /// Waits for a message without bytes, such as a WRITE with immediate data: it needs no memory here.
    ///
    /// @throws ConnectionException when the connection has ended, or the message has bytes
    public ReceivedMessage receive() throws InterruptedException {
        return ahead != null
                ? ahead.receive(MemorySegment.NULL)
                : poster.finishReceive(poster.start(receives, "receive", true, poster::postEmptyReceive));
    }

    /// Posts a receive. Several are filled in the order in which they were posted. A WRITE with immediate data
    /// takes one too, and leaves its memory unchanged.
    ///
    /// Where the connection posts receives by itself ([ConnectionOptions#withReceivesAhead]), this takes the oldest
    /// of them. The message is copied to `into` when the program sees that the request is done.
    ///
    /// @throws ConnectionException when the connection has ended
    /// @throws IllegalArgumentException when the region is without the right LOCAL_WRITE
    /// @throws InterruptedException as [#postSend]
    public Pending<ReceivedMessage> postReceive(LocalMemory into) throws InterruptedException {
        requireWritable("receive", into);
        return ahead != null ? ahead.post(into) : startReceive(false, into);
    }

    private WorkRequest<ReceivedMessage> startReceive(boolean reusable, LocalMemory into) throws InterruptedException {
        return poster.start(receives, "receive", reusable, r -> queuePair.postReceive(r.wrId, into));
    }

    /// Waits for a message of up to `maxBytes` bytes. Immediate data are lost: see [#receive(LocalMemory)]. A WRITE
    /// with immediate data is an empty message here.
    ///
    /// @throws ConnectionException when the connection has ended, or the message is longer
    /// @throws IllegalArgumentException when `maxBytes` is negative
    public byte[] receive(int maxBytes) throws InterruptedException {
        if (maxBytes < 0) {
            throw new IllegalArgumentException("maxBytes: zero or more, got " + maxBytes);
        }
        if (ahead != null) {
            return ahead.receive(maxBytes);
        }
        return poster.toCopy(
                "receive", maxBytes, copy -> poster.finishBytes(startReceive(true, copy.slice(0, maxBytes))));
    }

    /// Waits for a message of text in UTF-8, of up to `maxBytes` bytes.
    public String receiveText(int maxBytes) throws InterruptedException {
        return new String(receive(maxBytes), StandardCharsets.UTF_8);
    }

    /// Refuses memory that the device may not write, before a message is on its way there.
    private void requireWritable(String verb, LocalMemory into) {
        requireOpen(verb, into);
        if (!into.region().access().contains(Access.LOCAL_WRITE)) {
            throw new IllegalArgumentException(verb + ": into: needs the right LOCAL_WRITE, got " + into.region());
        }
    }

    private void requireOpen(String verb, LocalMemory memory) {
        if (memory.region().isClosed()) {
            ending.checkOpen(verb); // closing has closed it
            throw new InvalidStateException(verb + ": " + memory.region() + " is closed");
        }
    }

    // ---- the peer's memory

    /// Writes to the peer's memory, and waits until the peer's device has acknowledged it. Over iWARP it waits only
    /// until TCP has accepted the bytes, and a READ behind it shows that they have arrived.
    ///
    /// @param to at least as long as `from`
    /// @throws ConnectionException when the connection has ended, or the peer does not allow it
    /// @throws IndexOutOfBoundsException when `to` is too short
    public void write(LocalMemory from, RemoteMemory to) throws InterruptedException {
        poster.finish(startWrite(true, from, to));
    }

    /// Posts a write to the peer's memory.
    ///
    /// @throws ConnectionException when the connection has ended
    /// @throws IndexOutOfBoundsException when `to` is too short
    /// @throws InterruptedException as [#postSend]
    public Pending<Void> postWrite(LocalMemory from, RemoteMemory to) throws InterruptedException {
        return startWrite(false, from, to);
    }

    private WorkRequest<Void> startWrite(boolean reusable, LocalMemory from, RemoteMemory to)
            throws InterruptedException {
        requireOpen("write", from);
        requireRoom(from.length(), to.length());
        return poster.start(sends, "write", reusable, r -> queuePair.postWrite(r.wrId, from, to));
    }

    /// Writes to the peer's memory as [#write(LocalMemory, RemoteMemory)] does, and also takes a receive of the
    /// peer, and gives it 32 bits.
    ///
    /// Over `shm` one of more than 1 MiB goes by packets. [#postWrite], with an empty write with immediate data
    /// behind it, avoids them where the memory allows, and is faster.
    ///
    /// @throws ConnectionException when the connection has ended, or the peer does not allow it
    /// @throws IndexOutOfBoundsException when `to` is too short
    public void writeWithImmediate(LocalMemory from, RemoteMemory to, int immediate) throws InterruptedException {
        poster.finish(startWriteWithImmediate(true, from, to, immediate));
    }

    /// Posts a write with immediate data.
    ///
    /// @throws ConnectionException when the connection has ended
    /// @throws IndexOutOfBoundsException when `to` is too short
    /// @throws InterruptedException as [#postSend]
    public Pending<Void> postWriteWithImmediate(LocalMemory from, RemoteMemory to, int immediate)
            throws InterruptedException {
        return startWriteWithImmediate(false, from, to, immediate);
    }

    private WorkRequest<Void> startWriteWithImmediate(
            boolean reusable, LocalMemory from, RemoteMemory to, int immediate) throws InterruptedException {
        requireOpen("write", from);
        requireRoom(from.length(), to.length());
        return poster.start(
                sends, "write", reusable, r -> queuePair.postWriteWithImmediate(r.wrId, from, to, immediate));
    }

    /// Writes an array, otherwise as [#write(LocalMemory, RemoteMemory)]. There is no posting form.
    public void write(byte[] data, RemoteMemory to) throws InterruptedException {
        requireRoom(data.length, to.length());
        poster.fromCopy("write", data, (batch, wrId) -> batch.write(wrId, to));
    }

    /// Reads all of `from`, memory of the peer, and waits until it has arrived.
    ///
    /// @param into at least as long as `from`
    /// @throws ConnectionException when the connection has ended, or the peer does not allow it
    /// @throws IllegalArgumentException when the region is without the right LOCAL_WRITE
    /// @throws IndexOutOfBoundsException when `into` is too short
    public void read(RemoteMemory from, LocalMemory into) throws InterruptedException {
        poster.finish(startRead(true, from, into));
    }

    /// Posts a read from the peer's memory.
    ///
    /// @throws ConnectionException when the connection has ended
    /// @throws IllegalArgumentException when the region is without the right LOCAL_WRITE
    /// @throws IndexOutOfBoundsException when `into` is too short
    /// @throws InterruptedException as [#postSend]
    public Pending<Void> postRead(RemoteMemory from, LocalMemory into) throws InterruptedException {
        return startRead(false, from, into);
    }

    private WorkRequest<Void> startRead(boolean reusable, RemoteMemory from, LocalMemory into)
            throws InterruptedException {
        requireWritable("read", into);
        requireRoom(from.length(), into.length());
        return poster.start(sends, "read", reusable, r -> queuePair.postRead(r.wrId, from, into));
    }

    /// Reads all of `from` into a new array.
    ///
    /// @throws ConnectionException when the connection has ended, or the peer does not allow it
    /// @throws IllegalArgumentException when `from` is longer than an array can be
    public byte[] read(RemoteMemory from) throws InterruptedException {
        if (from.length() > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "from: an array has at most " + Integer.MAX_VALUE + " bytes, got " + from);
        }
        int length = (int) from.length();
        return poster.toCopy("read", length, copy -> {
            read(from, copy);
            return length;
        });
    }

    private static void requireRoom(long bytes, long room) {
        if (bytes > room) {
            throw new IndexOutOfBoundsException(bytes + " bytes, and the destination has " + room);
        }
    }

    /// Adds to the first 8 bytes of `to`.
    ///
    /// @return the previous value
    /// @throws ConnectionException when the connection has ended, or the peer does not allow it
    /// @throws IllegalArgumentException when the address of `to` is not a multiple of 8
    /// @throws IndexOutOfBoundsException when `to` has less than 8 bytes
    public long fetchAdd(RemoteMemory to, long add) throws InterruptedException {
        return poster.finish(startFetchAdd(true, to, add));
    }

    /// Posts an addition to the first 8 bytes of `to`; the result is the previous value. Throws as [#fetchAdd]
    /// and [#postSend].
    public Pending<Long> postFetchAdd(RemoteMemory to, long add) throws InterruptedException {
        return startFetchAdd(false, to, add);
    }

    private WorkRequest<Long> startFetchAdd(boolean reusable, RemoteMemory to, long add) throws InterruptedException {
        requireWord("fetchAdd", to);
        MemoryRegion words = sends.words("fetchAdd");
        return poster.start(
                sends,
                "fetchAdd",
                reusable,
                r -> poster.postAtomic(words, r, (batch, wrId) -> batch.fetchAdd(wrId, to, add)));
    }

    /// Judges the place of an atomic. At another address the peer would refuse it, and the connection would be
    /// over.
    private static void requireWord(String verb, RemoteMemory to) {
        requireRoom(Long.BYTES, to.length());
        if ((to.address() & 7) != 0) {
            throw new IllegalArgumentException(verb
                    + ": to: an atomic has an address that is a multiple of 8, got 0x"
                    + Long.toHexString(to.address()));
        }
    }

    /// Replaces the first 8 bytes of `to` by `swap` if they equal `compare`. Throws as [#fetchAdd].
    ///
    /// @return the previous value: `compare` when it was replaced
    public long compareSwap(RemoteMemory to, long compare, long swap) throws InterruptedException {
        return poster.finish(startCompareSwap(true, to, compare, swap));
    }

    /// Posts a comparison and replacement; the result is the previous value. Throws as [#fetchAdd] and
    /// [#postSend].
    public Pending<Long> postCompareSwap(RemoteMemory to, long compare, long swap) throws InterruptedException {
        return startCompareSwap(false, to, compare, swap);
    }

    private WorkRequest<Long> startCompareSwap(boolean reusable, RemoteMemory to, long compare, long swap)
            throws InterruptedException {
        requireWord("compareSwap", to);
        MemoryRegion words = sends.words("compareSwap");
        return poster.start(
                sends,
                "compareSwap",
                reusable,
                r -> poster.postAtomic(words, r, (batch, wrId) -> batch.compareSwap(wrId, to, compare, swap)));
    }

    // ---- the end

    /// Returns whether the connection can carry requests. The answer is false as soon as this side or the device
    /// knows that the connection has ended.
    public boolean isOpen() {
        return ending.isOpen() && queuePair.state() == QpState.RTS;
    }

    /// Returns a result that is done when the connection has ended, by whichever side: the exception that later calls
    /// throw, with the reason. Each call returns the same one. A [verbena.verbs.Waiter] waits for it together with
    /// others. From the first call on, a virtual thread takes the events of [#id()].
    public Pending<ConnectionException> whenClosed() {
        return events.whenClosed();
    }

    /// Disconnects and closes all objects of the connection, the memory of [#allocate] included. It waits until the
    /// peer knows, for a second at most. Idempotent. Threads that wait on it get a [ConnectionException]. Each of
    /// several threads that close it returns when it is closed.
    ///
    /// @throws verbena.verbs.InUseException when the program has made objects in the connection's own protection
    ///     domain that are still open; the message names them. The connection has ended, and its queue pair, queues
    ///     and memory are gone. The domain and the device stay: close those objects, and then call this once more
    @Override
    public void close() {
        if (ending.close()) {
            ConnectionCounters.CLOSED.increment();
            if (ending.isFailure()) {
                ConnectionCounters.FAILED.increment();
            }
        }
        closing.lock();
        try {
            if (id.state() == ConnectionId.State.CONNECTED) {
                id.disconnect();
                events.awaitDisconnected();
            }
            abandon();
        } finally {
            closing.unlock();
        }
    }

    /// Closes the connection as [#close()] does, on a virtual thread: this call waits for nothing.
    ///
    /// @return done when it is closed; fails as [#close()] throws
    public Pending<Void> closeLater() {
        return Promise.ofRun(this::close);
    }

    /// Gives everything back.
    void abandon() {
        queuePair.close();
        parts.closeQueues();
        var closedNow = new InvalidStateException("close: " + this + " is closed");
        sends.breakDown(closedNow);
        receives.breakDown(closedNow);
        synchronized (regions) {
            regions.forEach(MemoryRegion::close);
            regions.clear();
            parts.closeDomain();
        }
        id.close(); // and with the last of them the device
        EventChannel channel = own;
        if (channel != null) {
            channel.close();
        }
        events.onClosed();
    }

    @Override
    public String toString() {
        return "connection to " + id.peerAddress().map(ConnectionId::text).orElse("no peer");
    }
}
