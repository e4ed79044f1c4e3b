package verbena.cm;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.Dreq;

/// The repetitions of a connection, and their times: the message that waits for its answer (IBTA 12.9.8.2), and the
/// RTU, which has none.
final class Repetition {
    /// The number of times that an RTU is repeated, at 1, 3 and 7 times the peer's own wait for it. It ends early
    /// when something shows that the RTU has arrived (decision 20).
    private static final int RTU_REPEATS = 3;

    private final CmOutbox outbox;
    private final CmRoute route;
    private final Timed connection;

    /// The message that is sent again until an answer comes.
    private @Nullable CmMessage pending;
    /// The RTU or REJ that a repeated REP gets.
    private @Nullable CmMessage confirmation;

    private int retriesLeft;
    private int sendings;
    private long firstSentNanos;
    /// The number of times that the time for the answer has begun.
    private int waits;

    private long retryNanos;
    private boolean mayBePutOff;
    private int rtusLeft;
    private long rtuNanos;

    /// @param connection whose deadlines are set here
    Repetition(CmOutbox outbox, CmRoute route, Timed connection) {
        this.outbox = outbox;
        this.route = route;
        this.connection = connection;
    }

    /// Sets the time that an answer may take.
    void retryNanos(long nanos) {
        retryNanos = nanos;
    }

    long retryNanos() {
        return retryNanos;
    }

    /// Waits for the answer to a message that has been sent, and sends it again.
    void await(CmMessage message, int retries, long now) {
        assert retries >= 0 : "a number of retries";
        pending = message;
        retriesLeft = retries;
        sendings = 1;
        firstSentNanos = now;
        waits = 0;
        beginWait(now);
    }

    /// Settles the message: its answer has come.
    void settle() {
        pending = null;
        outbox.schedule(connection, Timed.NEVER);
    }

    /// Returns whether the message may be sent once more now.
    boolean takeRetry() {
        return retriesLeft-- > 0;
    }

    /// Begins the time for the answer anew, which is over.
    ///
    /// @param isSent whether the message goes to the peer again
    void repeat(boolean isSent, long now) {
        assert pending != null : "a message waits for its answer";
        if (isSent) {
            sendAgain(pending);
        }
        beginWait(now);
    }

    private void beginWait(long now) {
        mayBePutOff = true;
        waits++;
        // A DREQ that is not answered has still come: the peer finds it, and nothing here waits for more.
        boolean isEnd = pending instanceof Dreq;
        outbox.schedule(connection, now + (isEnd ? retryNanos : route.answerNanos(retryNanos, waits)));
    }

    /// Sends the answer again: it was lost, because the peer asks again.
    void answerAgain(long now) {
        retriesLeft--;
        sendAgain(pending);
        outbox.schedule(connection, now + retryNanos);
    }

    /// Sends a message that was held back, for the first time.
    void sendPending() {
        if (pending != null) {
            sendings++;
            outbox.send(route, pending);
        }
    }

    /// Returns whether the peer may have more time. It may once for each time that it was asked, and so no more
    /// often than that; false when it had that already.
    boolean putOff() {
        boolean may = mayBePutOff;
        mayBePutOff = false;
        return may;
    }

    /// Waits so much longer.
    void wait(long nanos, long now) {
        outbox.schedule(connection, now + retryNanos + nanos);
    }

    // ---- RTU, REJ

    /// Sets the message that a repeated REP gets from now on.
    void confirm(CmMessage with) {
        confirmation = with;
    }

    @Nullable
    CmMessage confirmation() {
        return confirmation;
    }

    void confirmAgain() {
        sendAgain(confirmation);
    }

    /// Repeats the confirmation by itself.
    ///
    /// @param nanos until the first time
    void confirmRepeatedly(long nanos, long now) {
        rtusLeft = RTU_REPEATS;
        rtuNanos = nanos;
        outbox.schedule(connection, now + nanos);
    }

    /// Handles the deadline of the confirmation, and sends it again.
    void onConfirmationDue(long now) {
        sendAgain(confirmation);
        if (--rtusLeft > 0) {
            rtuNanos *= 2;
            outbox.schedule(connection, now + rtuNanos);
        }
    }

    // ---- leaves

    private void sendAgain(@Nullable CmMessage message) {
        if (message != null) {
            sendings++;
            outbox.sendAgain(route, message);
        }
    }

    /// Describes in words that no answer has come.
    String silence(long now) {
        CmMessage message = pending;
        String name = message == null ? "" : message.getClass().getSimpleName().toUpperCase(Locale.ROOT);
        return route.remote() + " did not answer " + name + ", sent " + sendings + " times in "
                + String.format(Locale.ROOT, "%.1f", (now - firstSentNanos) / 1e9) + " s";
    }
}
