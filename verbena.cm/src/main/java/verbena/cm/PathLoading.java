package verbena.cm;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import verbena.wire.cm.Apr;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.CmPath;
import verbena.wire.cm.Lap;
import verbena.wire.cm.Mra;

/// The loading of another alternate path of an established connection (IBTA 12.8): its active side asks by LAP,
/// again and again, and the passive side answers by APR. Confined as its [CmConnection] is.
public final class PathLoading extends Timed {
    /// The number of replaced questions that are remembered: a copy of one may be late.
    private static final int REPLACED_MAX = 8;

    private final CmOutbox outbox;
    private final CmConnection connection;

    /// Active: what waits for its answer.
    private @Nullable Lap asked;
    /// Active: the path that is named when that answer has come, or will not come any more.
    private @Nullable CmPath next;

    private int retriesLeft;
    private boolean mayBePutOff;

    /// Passive: the question that the owner decides about, or has answered.
    private @Nullable Lap received;

    private @Nullable Apr answer;
    /// Passive: the transactions of the peer's earlier questions, the oldest first.
    private List<Long> replaced = List.of();

    PathLoading(CmOutbox outbox, CmConnection connection) {
        this.outbox = outbox;
        this.connection = connection;
    }

    // ---- what the owner does

    /// Asks the peer, on the active side, to load this path. [CmEvent.AlternateAnswered] follows, unless the peer
    /// does not answer. One question is open at a time, because two may overtake each other: a path that is named
    /// meanwhile is next, and only the last one.
    public void ask(CmPath path, long now) {
        if (!connection.isActive() || connection.state() != CmConnection.State.ESTABLISHED) {
            throw new IllegalStateException("only the active side of an established connection asks for a path");
        }
        if (asked != null) {
            next = path;
            return;
        }
        Lap lap = connection.messages().lap(path, connection.request().remoteResponseTimeout());
        asked = lap;
        next = null;
        retriesLeft = connection.request().maxCmRetries();
        send(lap);
        await(now);
    }

    /// Sends the answer of the passive side: whether the path that the peer has named last is loaded.
    ///
    /// @param status as in [Apr]
    public void answer(int status) {
        Lap lap = received;
        if (lap != null && answer == null && connection.state() == CmConnection.State.ESTABLISHED) {
            Apr apr = connection.messages().apr(lap, status);
            answer = apr;
            send(apr);
        }
    }

    // ---- what the peer does

    void onAsked(Lap lap) {
        if (connection.isActive() || connection.state() != CmConnection.State.ESTABLISHED) {
            outbox.count(CmCounter.STRAYS);
            return;
        }
        Lap before = received;
        if (before != null && before.transactionId() == lap.transactionId()) {
            outbox.count(CmCounter.DUPLICATES);
            outbox.sendAgain(connection.route(), answer);
            return;
        }
        if (replaced.contains(lap.transactionId())) { // it has been overtaken
            outbox.count(CmCounter.STRAYS);
            return;
        }
        if (before != null) {
            replaced = Stream.concat(replaced.stream(), Stream.of(before.transactionId()))
                    .skip(Math.max(0, replaced.size() + 1 - REPLACED_MAX))
                    .toList();
        }
        received = lap;
        answer = null;
        if (lap.remoteQpn() == connection.messages().localQpn()) {
            connection.tell(new CmEvent.AlternateAsked(lap.alternate()));
        } else {
            answer(Apr.INVALID_QPN);
        }
    }

    void onAnswered(Apr apr, long now) {
        Lap lap = asked;
        if (lap == null || lap.transactionId() != apr.transactionId()) {
            outbox.count(CmCounter.STRAYS);
            return;
        }
        forget();
        if (connection.state() == CmConnection.State.ESTABLISHED) {
            connection.tell(new CmEvent.AlternateAnswered(lap.alternate(), apr.status()));
            askNext(now);
        }
    }

    /// Handles an MRA: the peer needs more time. It is granted once for each time that the peer was asked.
    void onReceiptAck(Mra mra, long now) {
        if (asked == null || !mayBePutOff) {
            outbox.count(asked == null ? CmCounter.STRAYS : CmCounter.DUPLICATES);
            return;
        }
        mayBePutOff = false;
        int code = Math.min(mra.serviceTimeout(), CmTimer.SERVICE_TIMEOUT_MAX);
        outbox.schedule(this, now + connection.answerNanos() + CmTimer.nanos(code));
    }

    @Override
    void onDeadline(long now) {
        if (asked == null || connection.state() != CmConnection.State.ESTABLISHED) {
            forget();
            return;
        }
        if (retriesLeft-- == 0) {
            forget();
            askNext(now);
            return;
        }
        outbox.sendAgain(connection.route(), asked);
        await(now);
    }

    private void await(long now) {
        mayBePutOff = true;
        outbox.schedule(this, now + connection.answerNanos());
    }

    /// Asks for the next path. The owner may have ended the connection when it got the answer.
    private void askNext(long now) {
        if (next != null && connection.state() == CmConnection.State.ESTABLISHED) {
            ask(next, now);
        }
    }

    private void forget() {
        asked = null;
        outbox.schedule(this, NEVER);
    }

    private void send(CmMessage message) {
        outbox.send(connection.route(), message);
    }
}
