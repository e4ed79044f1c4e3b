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
import verbena.verbs.Pending;
import verbena.verbs.internal.Promise;

/// A peer of a [Worker]. Messages to it leave in the order in which they were sent, and each arrives once.
///
/// Any thread may use it. [Worker#connect] or [WorkerListener#accept()] makes it. The program closes it, or the
/// worker does at its end.
///
/// The methods that begin with `post` do not wait, and throw only for their arguments. What they return tells
/// how the operation has ended. When the peer is lost or closed, or the worker is, all outstanding operations
/// fail with a [ConnectionException], and so do later ones. Messages of it that have arrived whole can still be
/// received.
///
/// [#whenLost()] is done at once. A lost peer frees its place of [WorkerOptions#maxPeers()] by itself.
///
/// @since 0.1
public final class RemoteWorker implements AutoCloseable {
    /// Numbers of handlers are below.
    static final int NUMBERS = 1024;

    private static final long FAREWELL_NANOS = 1_000_000_000;

    private final Traffic traffic;
    final Remote remote;
    final Calls calls;
    private final long maxActiveBytes;
    /// Completed when the peer is lost.
    final PendingOperation<ConnectionException> lost;

    RemoteWorker(Traffic traffic, Remote remote, Calls calls, long maxActiveBytes) {
        this.traffic = traffic;
        this.remote = remote;
        this.calls = calls;
        this.maxActiveBytes = maxActiveBytes;
        this.lost = new PendingOperation<>(traffic.readers);
    }

    /// Returns the program's end of a peer.
    static RemoteWorker of(PeerOwner owner) {
        return (RemoteWorker) ((Remote) owner).attachment();
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

    /// Returns the number of connections to the peer that work now. There may be several when both workers have
    /// several devices.
    public int railCount() {
        return traffic.ask(() -> remote.peer().isLost() ? 0 : remote.rails().usable());
    }

    /// Returns whether the peer is lost, or this is closed.
    public boolean isLost() {
        return traffic.ask(remote.peer()::isLost);
    }

    /// Returns a result that is done when the peer is lost or this is closed, by whichever side: the exception
    /// that operations of this peer then throw, with the reason. Each call returns the same one. A
    /// [verbena.verbs.Waiter] waits for it together with others.
    public Pending<ConnectionException> whenLost() {
        return lost;
    }

    /// Sends a message without waiting. The result is complete when the memory is free again. That is soon for
    /// a message that fits into a frame, and for a longer one when the peer has read it. It fails with a
    /// [ConnectionException] when the peer is lost before. Messages that cannot leave yet queue up here without
    /// a limit, so a program limits the results that it leaves outstanding.
    ///
    /// @param tag by which the peer receives it
    /// @param data memory of any kind. Long data are copied when they are an array's, or confined to one thread
    public Pending<Void> postSend(long tag, MemorySegment data) {
        if (traffic.sendAtOnce(remote, Kind.TAGGED, tag, MemorySegment.NULL, data)) {
            return traffic.sent;
        }
        var pending = new PendingOperation<Void>(traffic.readers);
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

    /// Sends an array as a message, otherwise as [#postSend(long, MemorySegment)].
    public Pending<Void> postSend(long tag, byte[] data) {
        return postSend(tag, MemorySegment.ofArray(data));
    }

    /// Sends text in UTF-8 as a message.
    public Pending<Void> postSend(long tag, String text) {
        return postSend(tag, text.getBytes(StandardCharsets.UTF_8));
    }

    /// Sends an active message to the peer's [ActiveHandler] of a number. The result is complete as that of
    /// [#postSend(long, MemorySegment)]. Messages that fit into a frame are handled in the order in which they
    /// were sent, and longer ones when they have been read.
    ///
    /// @param number of the handler, 0 to 1023; a peer without that handler drops and counts the message
    /// @param header copied at once; at most [#maxActiveHeaderBytes()]
    /// @param data at most [#maxActiveBytes()]
    /// @throws IllegalArgumentException when `number`, `header` or `data` is out of range
    public Pending<Void> postActive(int number, MemorySegment header, MemorySegment data) {
        requireActive(number, header, data);
        var pending = new PendingOperation<Void>(traffic.readers);
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

    /// Sends an active message if it can leave at once. Its memory is free again when this returns. Allocates
    /// nothing. A message is not sent, and [#postActive] can take it, when it is too long for a frame, has to
    /// wait, or the peer is lost.
    ///
    /// @return whether it was sent
    public boolean tryPostActive(int number, MemorySegment header, MemorySegment data) {
        requireActive(number, header, data);
        LongMessages.requireOpen(data); // also when it cannot leave
        return traffic.sendAtOnce(
                remote, Kind.ACTIVE, Outgoing.activeTag(number, (int) header.byteSize()), header, data);
    }

    private void requireActive(int number, MemorySegment header, MemorySegment data) {
        if (number < 0 || number >= NUMBERS) {
            throw new IllegalArgumentException("number: 0 to " + (NUMBERS - 1) + ", got " + number);
        }
        if (header.byteSize() > maxActiveHeaderBytes()) {
            throw new IllegalArgumentException(
                    "header: at most " + maxActiveHeaderBytes() + " bytes, got " + header.byteSize());
        }
        if (data.byteSize() > maxActiveBytes()) {
            throw new IllegalArgumentException("data: at most " + maxActiveBytes() + " bytes, got " + data.byteSize());
        }
    }

    /// Returns the length of the longest header of an active message to this peer, in bytes.
    public int maxActiveHeaderBytes() {
        return remote.peer().headerBytesMax();
    }

    /// Returns the length of the longest data of an active message to this peer, in bytes: that of its requests
    /// ([WorkerOptions#maxCallBytes]).
    public long maxActiveBytes() {
        return maxActiveBytes;
    }

    /// Posts a receive for a message of this peer, otherwise as [Worker#postReceive(TagFilter, MemorySegment)].
    /// It also fails with a [ConnectionException] when the peer is lost.
    public Pending<Received> postReceive(TagFilter tags, MemorySegment into) {
        return postReceive(traffic, tags, remote, into);
    }

    /// Calls the peer's [CallHandler] without a time limit, and does not wait for the answer. While as many
    /// calls are outstanding as the options of both workers allow ([WorkerOptions#maxCalls()]), the call waits
    /// for its turn. The result fails with a [CallException] when the peer's handler has failed, or the peer
    /// has none, and with a [ConnectionException] when the peer is lost.
    ///
    /// @param request as in [#postSend(long, MemorySegment)]
    public Pending<byte[]> postCall(MemorySegment request) {
        return calls.begin(request, Duration.ZERO);
    }

    /// Calls the peer's [CallHandler] with a time limit, which includes the time until its turn comes.
    /// Otherwise as [#postCall(MemorySegment)].
    ///
    /// @param request as in [#postSend(long, MemorySegment)]; a long one is copied
    /// @param timeLimit after which the call fails with [CallException.Reason#TIMEOUT], counted from now; more than
    ///     zero
    /// @throws IllegalArgumentException when `timeLimit` is not more than zero
    public Pending<byte[]> postCall(MemorySegment request, Duration timeLimit) {
        return calls.begin(request, limit(timeLimit));
    }

    /// Calls the peer's [CallHandler] without a time limit, and stores its answer in memory of the program.
    /// Otherwise as [#postCall(MemorySegment)].
    ///
    /// @param into for the answer; a longer answer fills it. The device writes a long answer there
    /// @return gives the length of the answer in bytes
    public Pending<Long> postCall(MemorySegment request, MemorySegment into) {
        return calls.begin(request, into, Duration.ZERO);
    }

    /// Calls the peer's [CallHandler] with a time limit, and stores its answer in memory of the program.
    /// Otherwise as [#postCall(MemorySegment, Duration)].
    ///
    /// @param into for the answer; a longer answer fills it. A long answer is copied into it after it has arrived
    /// @param timeLimit after which the call fails with [CallException.Reason#TIMEOUT], counted from now; more than
    ///     zero
    /// @return gives the length of the answer in bytes
    /// @throws IllegalArgumentException when `timeLimit` is not more than zero
    public Pending<Long> postCall(MemorySegment request, MemorySegment into, Duration timeLimit) {
        return calls.begin(request, into, limit(timeLimit));
    }

    private static Duration limit(Duration timeLimit) {
        if (timeLimit.isNegative() || timeLimit.isZero()) {
            throw new IllegalArgumentException("timeLimit: more than zero, got " + timeLimit);
        }
        return timeLimit;
    }

    /// Calls the peer's [CallHandler] and waits for its answer. [#postCall(MemorySegment)] and
    /// [Pending#await()] wait without a time limit.
    ///
    /// @throws CallException when it has none
    /// @throws ConnectionException when the peer is lost
    /// @throws verbena.verbs.InvalidStateException in an [ActiveHandler], which must not wait
    /// @throws InterruptedException when the thread is interrupted; the call is given up
    public byte[] call(byte[] request, Duration timeLimit) throws InterruptedException {
        traffic.readers.requireMayWait();
        Pending<byte[]> answer = postCall(MemorySegment.ofArray(request), timeLimit);
        try {
            return answer.await();
        } catch (InterruptedException e) {
            boolean _ = answer.cancel();
            throw e;
        }
    }

    /// Calls with text in UTF-8 and returns text, otherwise as [#call(byte[], Duration)].
    public String call(String request, Duration timeLimit) throws InterruptedException {
        return new String(call(request.getBytes(StandardCharsets.UTF_8), timeLimit), StandardCharsets.UTF_8);
    }

    /// Returns memory that the peer shares ([Worker#share]).
    ///
    /// @param token of [SharedMemory#token()], which the program has received from the peer
    /// @throws IllegalArgumentException when `token` has the wrong length
    public PeerMemory memory(byte[] token) {
        return new PeerMemory(traffic, remote, SharedMemory.of(token));
    }

    // ---- within

    /// Posts a receive, of one peer or of any.
    static Pending<Received> postReceive(Traffic traffic, TagFilter tags, @Nullable Remote from, MemorySegment into) {
        traffic.devices.longMessages.requireWritable("into", into);
        var pending = new PendingOperation<Received>(traffic.readers);
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
                pending.fail(
                        from == null
                                ? new ConnectionException(Remote.reason(why), "receive: " + why)
                                : from.lost("receive", why));
            }
        };
        pending.withdrawnBy(() -> traffic.withdraw(incoming, pending::cancelled));
        traffic.receive(tags.tag(), tags.mask(), from, incoming);
        return pending;
    }

    // ---- the end

    /// Ends the connection to the peer. It waits up to a second for sent messages to arrive. Operations that are
    /// then outstanding fail. Idempotent.
    ///
    /// @throws verbena.verbs.InvalidStateException in an [ActiveHandler]
    @Override
    public void close() {
        traffic.readers.requireMayWait();
        traffic.close(remote, FAREWELL_NANOS);
    }

    /// Closes the peer as [#close()] does, on a virtual thread: this call waits for nothing.
    ///
    /// @return done when it is closed
    public Pending<Void> closeLater() {
        return Promise.ofRun(this::close);
    }

    @Override
    public String toString() {
        return remote.toString();
    }
}
