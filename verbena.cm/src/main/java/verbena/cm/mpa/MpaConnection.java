package verbena.cm.mpa;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import verbena.cm.CmRefusal;
import verbena.verbs.cm.EndedBy;
import verbena.verbs.cm.PrivateData;
import verbena.wire.cm.RejectReason;
import verbena.wire.iwarp.MpaFrame;
import verbena.wire.iwarp.StreamTerms;
import verbena.wire.iwarp.TerminateCode;

/// One iWARP connection, from TCP's connecting to the end of the stream: a request and a reply (RFC 5044 7.1, RFC
/// 6581), and then the queue pair's stream.
///
/// It knows no socket and no clock. Its owner reports what happens on the TCP connection, carries out what
/// [#poll] gives after each call, and calls [#onDeadline] in time. For one thread at a time.
public final class MpaConnection {
    /// The state of a connection.
    public enum State {
        /// Active: TCP connects.
        CONNECTING,
        /// Active: no program listens at the peer's port yet; TCP will be tried again.
        RETRYING,
        /// Active: the request is sent.
        REQUEST_SENT,
        /// Active: the peer has accepted, and the owner prepares its queue pair.
        REPLY_RECEIVED,
        /// Passive: TCP is connected, and no request has come yet.
        REQUEST_EXPECTED,
        /// Passive: the owner decides.
        REQUEST_RECEIVED,
        /// The TCP connection carries the queue pair's stream.
        STREAMING,
        /// This side has ended its direction, and waits for the peer to end its own.
        ENDING,
        CLOSED
    }

    /// The causes by which a TCP connection is lost, or does not come about.
    public enum Loss {
        /// No program listens at the port.
        REFUSED,
        /// The peer cannot be reached, or does not answer.
        UNREACHABLE,
        /// The peer, or this host, has broken it off.
        RESET
    }

    /// No deadline.
    public static final long NEVER = Long.MAX_VALUE;

    /// The time for which an attempt is repeated while no program listens at the port (decision 20).
    private static final long RETRY_WINDOW_NANOS = 100_000_000;

    /// The peer in words, for events.
    private final String peer;
    private final MpaSecret secret;
    /// The actions that are wanted next, in order.
    private final ArrayDeque<MpaAction> actions = new ArrayDeque<>();

    private State state;
    private @Nullable MpaTimer timer;
    private long deadlineNanos = NEVER;
    /// Active: refused before this time, TCP is tried again.
    private long retriesUntilNanos = Long.MIN_VALUE;
    /// Active: the properties of this side.
    private @Nullable MpaEnd own;
    /// The terms that this side has asked for, or the peer has.
    private @Nullable MpaTerms request;
    /// Active: what both sides have agreed on.
    private @Nullable StreamTerms agreed;
    /// The owner gets no more events.
    private boolean hasEnded;

    private MpaConnection(String peer, MpaSecret secret, State state) {
        this.peer = peer;
        this.secret = secret;
        this.state = state;
    }

    /// Makes the active side; its owner opens the TCP connection at once.
    ///
    /// @param peer in words
    /// @param secret that both ends prove
    /// @param retries whether to try again for a moment when no program listens yet
    /// @throws IllegalArgumentException when the private data is too long
    public static MpaConnection active(String peer, MpaEnd own, MpaSecret secret, boolean retries, long now) {
        return active(peer, own, MpaTerms.enhanced(own.crc(), own.ird(), own.ord()), secret, retries, now);
    }

    /// Makes the active side with terms of choice.
    static MpaConnection active(
            String peer, MpaEnd own, MpaTerms request, MpaSecret secret, boolean retries, long now) {
        requireFits(request, own.privateData(), secret.requestBytes(), "connect");
        var active = new MpaConnection(peer, secret, State.CONNECTING);
        active.own = own;
        active.request = request;
        if (retries) {
            active.retriesUntilNanos = now + RETRY_WINDOW_NANOS;
        }
        active.await(MpaTimer.REPLY, now);
        return active;
    }

    /// Makes the passive side, when a peer has connected.
    ///
    /// @param peer in words
    /// @param secret that both ends prove
    public static MpaConnection passive(String peer, MpaSecret secret, long now) {
        var passive = new MpaConnection(peer, secret, State.REQUEST_EXPECTED);
        passive.await(MpaTimer.REQUEST, now);
        return passive;
    }

    // ---- what there is to know

    public State state() {
        return state;
    }

    /// Returns the timer that runs; null when nothing that has a limit is awaited.
    public @Nullable MpaTimer timer() {
        return timer;
    }

    /// Returns the time to call [#onDeadline]; [#NEVER] when there is nothing to wait for.
    public long deadlineNanos() {
        return deadlineNanos;
    }

    /// Polls the next action for the owner; null when there is none.
    public @Nullable MpaAction poll() {
        return actions.poll();
    }

    // ---- what happens on the TCP connection

    /// Handles the beginning of the TCP connection.
    public void onConnected() {
        MpaTerms asked = request;
        MpaEnd end = own;
        if (state == State.CONNECTING && asked != null && end != null) {
            state = State.REQUEST_SENT;
            actions.add(new MpaAction.Send(secret.prove(asked, end.privateData())));
        }
    }

    /// Handles bytes that have arrived. Returns how many of them are done with; the rest comes again with those
    /// that follow, or belongs to the queue pair.
    ///
    /// @param segmentBytes bytes of payload of a full TCP segment
    public int onBytes(MemorySegment bytes, long from, int available, int segmentBytes) {
        return switch (state) {
            case REQUEST_SENT -> onReply(bytes, from, available, segmentBytes);
            case REQUEST_EXPECTED -> onRequest(bytes, from, available);
            case REPLY_RECEIVED -> 0; // it belongs to the queue pair, which is on its way
            case REQUEST_RECEIVED -> { // RFC 5044 7.1.2: an initiator sends nothing before the reply
                close(true);
                tellEnd(new MpaEvent.Disconnected(EndedBy.FAILURE, peer + " sends before it is answered"));
                yield available;
            }
            case CONNECTING, RETRYING, STREAMING, ENDING, CLOSED -> available;
        };
    }

    private int onReply(MemorySegment bytes, long from, int available, int segmentBytes) {
        int length = MpaFrame.length(bytes, from, available, true);
        if (length == 0) {
            return 0;
        }
        if (length < 0) {
            rejected(
                    RejectReason.UNSUPPORTED_REQUEST,
                    peer + " does not speak iWARP: its answer is no MPA reply",
                    PrivateData.NONE);
            return available;
        }
        PrivateData data = privateData(bytes, from);
        MpaTerms asked = request;
        MpaEnd end = own;
        if (MpaTerms.isReject(bytes, from) || asked == null || end == null) {
            onRejection(data);
            return length;
        }
        if (!secret.isProven(bytes.asSlice(from, length), data)) {
            rejected(RejectReason.CONSUMER_REJECT, peer + " has accepted without proving the secret", PrivateData.NONE);
            return available;
        }
        var said = MpaTerms.read(bytes, from);
        MpaTerms.Outcome outcome = MpaTerms.ofInitiator(asked, said, end.ird(), end.ord(), segmentBytes);
        StreamTerms terms = outcome.terms();
        if (terms == null) {
            TerminateCode code = outcome.code();
            rejected(
                    RejectReason.INSUFFICIENT_RESPONDER_RESOURCES,
                    peer + " answers with what does not fit the request (" + code + ")",
                    PrivateData.NONE);
            return available;
        }
        agreed = terms;
        state = State.REPLY_RECEIVED;
        await(null, 0);
        tell(new MpaEvent.Accepted(said, MpaSecret.rest(data, secret.replyBytes())));
        return length;
    }

    /// Ends the attempt, or goes on over another TCP connection when the peer has only asked for a proof.
    private void onRejection(PrivateData data) {
        var info = verbena.wire.cm.PrivateData.of(data.bytes());
        CmRefusal refusal = CmRefusal.of(info);
        if (refusal == CmRefusal.CHALLENGE && secret.takesChallenge(CmRefusal.challenge(info))) {
            state = State.CONNECTING;
            actions.add(new MpaAction.Close(true));
            actions.add(new MpaAction.Connect());
        } else if (refusal == null) {
            rejected(RejectReason.CONSUMER_REJECT, "the application at " + peer + " refuses", data);
        } else {
            rejected(RejectReason.CONSUMER_REJECT, peer + " " + refusal.text(), PrivateData.NONE);
        }
    }

    private int onRequest(MemorySegment bytes, long from, int available) {
        int length = MpaFrame.length(bytes, from, available, false);
        if (length == 0) {
            return 0;
        }
        if (length < 0 || length < available) { // RFC 5044 7.1.2: an initiator sends nothing before the reply
            close(true);
            return available;
        }
        var asked = MpaTerms.read(bytes, from);
        PrivateData data = privateData(bytes, from);
        PrivateData refusal = secret.refusal(bytes.asSlice(from, length), data);
        if (refusal != null) { // the timer of the request goes on
            sendRejection(MpaTerms.enhanced(false, 0, 0).reply(asked), refusal);
            return length;
        }
        request = asked;
        state = State.REQUEST_RECEIVED;
        await(null, 0);
        tell(new MpaEvent.Requested(asked, MpaSecret.rest(data, secret.requestBytes())));
        return length;
    }

    /// Handles the loss of the TCP connection, or a failure to connect.
    ///
    /// @param why in words
    public void onLost(Loss how, String why, long now) {
        switch (state) {
            case CONNECTING, REQUEST_SENT -> {
                if (state == State.CONNECTING && how == Loss.REFUSED && now < retriesUntilNanos) {
                    state = State.RETRYING;
                    await(MpaTimer.RETRY, now);
                    return;
                }
                close(false);
                tellEnd(
                        switch (how) {
                            case REFUSED ->
                                new MpaEvent.Rejected(RejectReason.INVALID_SERVICE_ID, why, PrivateData.NONE);
                            case RESET ->
                                new MpaEvent.Rejected(
                                        RejectReason.NO_RESOURCES, why + " instead of answering", PrivateData.NONE);
                            case UNREACHABLE -> new MpaEvent.Unreachable(why);
                        });
            }
            case REPLY_RECEIVED, REQUEST_RECEIVED -> {
                close(false);
                tellEnd(new MpaEvent.Disconnected(EndedBy.PEER, why));
            }
            case REQUEST_EXPECTED -> close(false);
            case ENDING -> {
                close(false);
                tellEnd(byThisSide());
            }
            case RETRYING, STREAMING, CLOSED -> {}
        }
    }

    /// Handles the deadline, which has perhaps come.
    public void onDeadline(long now) {
        if (now < deadlineNanos) {
            return;
        }
        switch (state) {
            case RETRYING -> {
                state = State.CONNECTING;
                await(MpaTimer.REPLY, now);
                actions.add(new MpaAction.Connect());
            }
            case CONNECTING -> {
                close(true);
                tellEnd(new MpaEvent.Unreachable(peer + " does not answer"));
            }
            case REQUEST_SENT -> {
                close(true);
                tellEnd(new MpaEvent.Unreachable(
                        peer + " does not answer: there is TCP, but no MPA reply; does it speak iWARP?"));
            }
            case REQUEST_EXPECTED -> close(true);
            case ENDING -> {
                close(true);
                tellEnd(byThisSide());
            }
            case REPLY_RECEIVED, REQUEST_RECEIVED, STREAMING, CLOSED -> {}
        }
    }

    // ---- what happens to the queue pair's stream

    /// Handles the end of the stream, and of the TCP connection with it.
    public void onStreamOver(EndedBy by, String why) {
        close(false);
        tellEnd(new MpaEvent.Disconnected(by, why));
    }

    /// Handles the end of sending: this side has sent all that it will.
    public void onStreamFinished(long now) {
        if (state == State.STREAMING) {
            state = State.ENDING;
            await(MpaTimer.END, now);
        }
    }

    /// Handles a failure of the queue pair. The stream may still carry the reason to the peer.
    public void onQueuePairFailed(String why) {
        tellEnd(new MpaEvent.Disconnected(EndedBy.FAILURE, why));
    }

    // ---- what the owner does

    /// Accepts the connection on the passive side. The stream begins at once.
    ///
    /// @param segmentBytes bytes of payload of a full TCP segment
    /// @throws IllegalStateException when the request is not there any more
    /// @throws IllegalArgumentException when the private data is too long
    public void accept(MpaEnd end, int segmentBytes) {
        MpaTerms asked = requireRequest();
        MpaTerms answer = MpaTerms.enhanced(end.crc(), end.ird(), end.ord()).reply(asked);
        requireFits(answer, end.privateData(), secret.replyBytes(), "accept");
        actions.add(new MpaAction.Send(secret.proveReply(answer, end.privateData())));
        begin(MpaTerms.ofResponder(asked, answer, end.ird(), end.ord(), segmentBytes));
        tell(new MpaEvent.Established());
    }

    /// Rejects the connection on the passive side. The owner gets no more events. On the active side, when the peer
    /// has accepted, it ends the connection, because there is no message for a rejection.
    ///
    /// @param crc whether this side asks for CRCs
    /// @throws IllegalStateException when the request is not there any more
    /// @throws IllegalArgumentException when the private data is too long
    public void reject(boolean crc, PrivateData privateData, long now) {
        if (state == State.REPLY_RECEIVED) {
            disconnect();
            return;
        }
        MpaTerms answer = MpaTerms.enhanced(crc, 0, 0).reply(requireRequest());
        requireFits(answer, privateData, 0, "reject");
        sendRejection(answer, privateData);
        await(MpaTimer.END, now);
    }

    /// Begins the stream on the active side, whose queue pair is ready.
    ///
    /// @throws IllegalStateException when the connection is not there any more
    public void ready() {
        begin(requireReply());
    }

    /// Disconnects, or gives the attempt up.
    public void disconnect() {
        switch (state) {
            case STREAMING -> actions.add(new MpaAction.Finish());
            case ENDING, CLOSED -> {}
            case CONNECTING, RETRYING, REQUEST_SENT, REPLY_RECEIVED, REQUEST_EXPECTED, REQUEST_RECEIVED -> {
                close(true);
                tellEnd(byThisSide());
            }
        }
    }

    /// Breaks the TCP connection off without a word: the peer has asked for nothing that the owner knows of.
    public void abandon() {
        close(true);
        hasEnded = true;
    }

    /// Returns the request that waits for a decision.
    ///
    /// @throws IllegalStateException when there is none
    public MpaTerms requireRequest() {
        MpaTerms asked = request;
        if (state != State.REQUEST_RECEIVED || asked == null) {
            throw new IllegalStateException("the request of " + peer + " is not there any more");
        }
        return asked;
    }

    /// Returns the terms that the peer's reply has led to.
    ///
    /// @throws IllegalStateException when there is none
    public StreamTerms requireReply() {
        StreamTerms terms = agreed;
        if (state != State.REPLY_RECEIVED || terms == null) {
            throw new IllegalStateException("the connection to " + peer + " is not there any more");
        }
        return terms;
    }

    // ---- leaves

    private static void requireFits(MpaTerms terms, PrivateData privateData, int taken, String to) {
        int most = terms.privateDataMax() - taken;
        if (privateData.length() > most) {
            throw new IllegalArgumentException(
                    "private data to " + to + " with: at most " + most + " bytes, got " + privateData.length());
        }
    }

    private static PrivateData privateData(MemorySegment bytes, long at) {
        return PrivateData.of(
                bytes.asSlice(at + MpaFrame.privateDataOffset(bytes, at), MpaFrame.privateDataLength(bytes, at))
                        .toArray(ValueLayout.JAVA_BYTE));
    }

    private MpaEvent.Disconnected byThisSide() {
        return new MpaEvent.Disconnected(EndedBy.THIS_SIDE, "disconnected by this side");
    }

    private void sendRejection(MpaTerms answer, PrivateData privateData) {
        actions.add(new MpaAction.Send(answer.frame(true, true, privateData)));
        actions.add(new MpaAction.EndOutput());
        hasEnded = true;
        state = State.ENDING;
    }

    private void begin(StreamTerms terms) {
        state = State.STREAMING;
        actions.add(new MpaAction.Begin(terms));
    }

    private void rejected(RejectReason reason, String why, PrivateData data) {
        close(true);
        tellEnd(new MpaEvent.Rejected(reason, why, data));
    }

    private void await(@Nullable MpaTimer next, long now) {
        timer = next;
        deadlineNanos = next == null ? NEVER : now + next.nanos;
    }

    private void close(boolean reset) {
        state = State.CLOSED;
        await(null, 0);
        actions.add(new MpaAction.Close(reset));
    }

    /// Reports the end to the owner once.
    private void tellEnd(MpaEvent.Ended event) {
        if (!hasEnded) {
            hasEnded = true;
            tell(event);
        }
    }

    private void tell(MpaEvent event) {
        actions.add(new MpaAction.Tell(event));
    }

    @Override
    public String toString() {
        return "connection to " + peer + " in " + state;
    }
}
