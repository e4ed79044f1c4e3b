package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.Incoming;
import verbena.messages.protocol.Kind;
import verbena.messages.protocol.Outgoing;
import verbena.messages.protocol.PeerOwner;
import verbena.messages.rail.LongMessages;
import verbena.messages.rail.Remote;
import verbena.verbs.ConnectionException;
import verbena.verbs.ConnectionException.Reason;

/// A peer of a [Worker]. Messages to it leave in the order in which they were sent, and arrive once.
///
/// When the peer is lost, all that is under way with it fails with a [ConnectionException], and so does all
/// that is asked for later. Messages of it that have arrived whole can still be received. Safe for use by any
/// thread.
public final class RemoteWorker implements AutoCloseable {
    /// Numbers of handlers are below.
    static final int NUMBERS = 1024;

    private static final long FAREWELL_NANOS = 1_000_000_000;

    private final Traffic traffic;
    private final Remote remote;
    private final Calls calls;
    private final long maxActiveBytes;

    RemoteWorker(Traffic traffic, Remote remote, Calls calls, long maxActiveBytes) {
        this.traffic = traffic;
        this.remote = remote;
        this.calls = calls;
        this.maxActiveBytes = maxActiveBytes;
    }

    /// Returns the program's end of a peer.
    static RemoteWorker of(PeerOwner owner) {
        return (RemoteWorker) ((Remote) owner).attachment();
    }

    Remote remote() {
        return remote;
    }

    Calls calls() {
        return calls;
    }

    // ---- by the program

    /// Returns the local address of the first rail.
    public InetSocketAddress localAddress() {
        return remote.ways().way(0).connection.localAddress();
    }

    /// Returns the peer's address of the first rail.
    public InetSocketAddress peerAddress() {
        return remote.ways().way(0).connection.peerAddress();
    }

    /// Returns the number of connections to it that work now; more than one when both workers have several devices.
    public int railCount() {
        return traffic.ask(() -> remote.peer().isLost() ? 0 : remote.rails().usable());
    }

    /// Returns whether the peer is lost, or this is closed.
    public boolean isLost() {
        return traffic.ask(remote.peer()::isLost);
    }

    /// Sends a message. It is done when the memory is the program's again: a message that fits into a frame
    /// soon, a longer one when the peer has read it.
    ///
    /// @param tag by which the peer receives it
    /// @param data of any kind; memory that is no array's and belongs to no single thread is not copied when it is
    ///     long
    public Pending<Void> send(long tag, MemorySegment data) {
        if (traffic.sendAtOnce(remote, Kind.TAGGED, tag, MemorySegment.NULL, data)) {
            return traffic.sent;
        }
        var pending = new Pending<Void>(traffic.readers);
        traffic.post(remote, new Outgoing(Kind.TAGGED, tag, traffic.devices.longMessages.forAllThreads(data)) {
            @Override
            @SuppressWarnings("NullAway") // a Void has no other value
            public void done() {
                pending.complete(null);
            }

            @Override
            public void failed(String why) {
                pending.fail(remote.lost("send", why));
            }
        });
        return pending;
    }

    /// Sends an array.
    public Pending<Void> send(long tag, byte[] data) {
        return send(tag, MemorySegment.ofArray(data));
    }

    /// Sends text in UTF-8.
    public Pending<Void> send(long tag, String text) {
        return send(tag, text.getBytes(StandardCharsets.UTF_8));
    }

    /// Sends an active message: the peer's [ActiveHandler] of a number gets it. Done as [#send(long,
    /// MemorySegment)] is. Messages that fit into a frame are handled in the order in which they were sent;
    /// longer ones when they are read.
    ///
    /// @param number of the handler; a peer that has none drops the message, and counts it
    /// @param header copied at once; of at most [#maxHeaderBytes()] bytes
    /// @param data of at most [#maxActiveBytes()]
    public Pending<Void> sendActive(int number, MemorySegment header, MemorySegment data) {
        requireActive(number, header, data);
        var pending = new Pending<Void>(traffic.readers);
        traffic.post(
                remote,
                new Outgoing(
                        number,
                        header.toArray(ValueLayout.JAVA_BYTE),
                        traffic.devices.longMessages.forAllThreads(data)) {
                    @Override
                    @SuppressWarnings("NullAway") // a Void has no other value
                    public void done() {
                        pending.complete(null);
                    }

                    @Override
                    public void failed(String why) {
                        pending.fail(remote.lost("send", why));
                    }
                });
        return pending;
    }

    /// Sends an active message when it can leave at once; its memory is the program's again when this returns.
    /// It makes no object. False when the message is too long for a frame, or has to wait for others or for the
    /// peer, or when the peer is lost: then it is not sent, and [#sendActive] can take it.
    public boolean trySendActive(int number, MemorySegment header, MemorySegment data) {
        requireActive(number, header, data);
        LongMessages.requireOpen(data); // also when it cannot leave
        return traffic.sendAtOnce(
                remote, Kind.ACTIVE, Outgoing.activeTag(number, (int) header.byteSize()), header, data);
    }

    private void requireActive(int number, MemorySegment header, MemorySegment data) {
        if (number < 0 || number >= NUMBERS) {
            throw new IllegalArgumentException("number: 0 to " + (NUMBERS - 1) + ", got " + number);
        }
        if (header.byteSize() > maxHeaderBytes()) {
            throw new IllegalArgumentException(
                    "header: at most " + maxHeaderBytes() + " bytes, got " + header.byteSize());
        }
        if (data.byteSize() > maxActiveBytes()) {
            throw new IllegalArgumentException("data: at most " + maxActiveBytes() + " bytes, got " + data.byteSize());
        }
    }

    /// Returns the longest header of an active message to this peer.
    public int maxHeaderBytes() {
        return remote.peer().headerBytesMax();
    }

    /// Returns the longest data of an active message to this peer: as long as its requests
    /// ([WorkerOptions#maxCallBytes]).
    public long maxActiveBytes() {
        return maxActiveBytes;
    }

    /// Receives a message of this peer; else as [Worker#receive(TagFilter, MemorySegment)].
    public Pending<Received> receive(TagFilter tags, MemorySegment into) {
        return receive(traffic, tags, remote, into);
    }

    /// Calls the peer's [CallHandler], without a time limit. Waits while as many calls are under way as the options
    /// of both workers say.
    ///
    /// @param request as in [#send(long, MemorySegment)]
    public Pending<byte[]> callAsync(MemorySegment request) throws InterruptedException {
        return calls.begin(request, Duration.ZERO);
    }

    /// Calls the peer's [CallHandler] with a time limit, within which it also waits for other calls to end.
    ///
    /// @param request as in [#send(long, MemorySegment)]; a long one is copied
    /// @param timeLimit after which the call fails, counted from now; more than zero
    public Pending<byte[]> callAsync(MemorySegment request, Duration timeLimit) throws InterruptedException {
        return calls.begin(request, limit(timeLimit));
    }

    /// Calls the peer's [CallHandler] without a time limit, and has its answer put into memory of the program.
    ///
    /// @param into for the answer; a longer one fills it. The device puts a long answer there
    /// @return gives the length of the answer
    public Pending<Long> callAsync(MemorySegment request, MemorySegment into) throws InterruptedException {
        return calls.begin(request, into, Duration.ZERO);
    }

    /// Calls the peer's [CallHandler] with a time limit, and has its answer put into memory of the program.
    ///
    /// @param into for the answer; a longer one fills it. A long answer is copied into it when it is there
    /// @param timeLimit after which the call fails, counted from now; more than zero
    /// @return gives the length of the answer
    public Pending<Long> callAsync(MemorySegment request, MemorySegment into, Duration timeLimit)
            throws InterruptedException {
        return calls.begin(request, into, limit(timeLimit));
    }

    private static Duration limit(Duration timeLimit) {
        if (timeLimit.isNegative() || timeLimit.isZero()) {
            throw new IllegalArgumentException("timeLimit: more than zero, got " + timeLimit);
        }
        return timeLimit;
    }

    /// Calls the peer's [CallHandler] and waits for its answer.
    ///
    /// @throws CallException when it has none
    /// @throws ConnectionException when the peer is lost
    public byte[] call(byte[] request, Duration timeLimit) throws InterruptedException {
        return callAsync(MemorySegment.ofArray(request), timeLimit).await();
    }

    /// Calls with text, and gets text.
    public String call(String request, Duration timeLimit) throws InterruptedException {
        return new String(call(request.getBytes(StandardCharsets.UTF_8), timeLimit), StandardCharsets.UTF_8);
    }

    /// Returns memory that the peer shares ([Worker#share]).
    ///
    /// @param token from the peer, by a message or in any other way
    public PeerMemory memory(byte[] token) {
        return new PeerMemory(traffic, remote, SharedMemory.of(token));
    }

    // ---- within

    /// Posts a receive, of one peer or of any.
    static Pending<Received> receive(Traffic traffic, TagFilter tags, @Nullable Remote from, MemorySegment into) {
        traffic.devices.longMessages.requireWritable("into", into);
        var pending = new Pending<Received>(traffic.readers);
        var incoming = new Incoming() {
            @Override
            public MemorySegment memory() {
                return into;
            }

            @Override
            public void done(PeerOwner sender, long itsTag, long length) {
                pending.complete(new Received(of(sender), itsTag, length, length > into.byteSize()));
            }

            @Override
            public void failed(String why) {
                pending.fail(new ConnectionException(Reason.DISCONNECTED, "receive: " + why));
            }
        };
        pending.withdrawnBy(() -> traffic.withdraw(incoming, pending::cancelled));
        traffic.receive(tags.tag(), tags.mask(), from, incoming);
        return pending;
    }

    // ---- the end

    /// Ends it. What was sent has up to a second to arrive; what is under way then fails. Idempotent.
    @Override
    public void close() {
        traffic.readers.requireMayWait();
        traffic.close(remote, FAREWELL_NANOS);
    }

    @Override
    public String toString() {
        return remote.toString();
    }
}
