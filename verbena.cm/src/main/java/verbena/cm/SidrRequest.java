package verbena.cm;

import java.util.function.Consumer;
import verbena.wire.cm.SidrRep;
import verbena.wire.cm.SidrReq;

/// A request for the queue pair of a datagram service, until it is answered or given up (IBTA 12.11). Confined like
/// its [CommunicationManager].
public final class SidrRequest extends Timed {
    /// The receiver of the answer, which is called exactly once.
    public interface Listener {
        void onAnswer(SidrRep answer);

        /// Handles the lack of an answer.
        void onSilence();
    }

    private final CmOutbox outbox;
    private final Consumer<SidrRequest> over;
    private final Listener listener;
    private final CmRoute route;
    private final SidrReq message;
    private final long retryNanos;
    private int retriesLeft;
    private int sendings;

    /// @param over takes it when it is answered or given up
    SidrRequest(
            CmOutbox outbox,
            Consumer<SidrRequest> over,
            Listener listener,
            CmRoute route,
            SidrReq message,
            int retries,
            long retryNanos) {
        this.outbox = outbox;
        this.over = over;
        this.listener = listener;
        this.route = route;
        this.message = message;
        this.retriesLeft = retries;
        this.retryNanos = retryNanos;
    }

    int id() {
        return message.requestId();
    }

    public CmRoute route() {
        return route;
    }

    void begin(long now) {
        outbox.send(route, message);
        await(now);
    }

    void onAnswer(SidrRep answer) {
        cancel();
        listener.onAnswer(answer);
    }

    @Override
    void onDeadline(long now) {
        if (retriesLeft-- > 0) {
            outbox.sendAgain(route, message);
            await(now);
            return;
        }
        cancel();
        listener.onSilence();
    }

    private void await(long now) {
        outbox.schedule(this, now + route.answerNanos(retryNanos, ++sendings));
    }

    /// Gives up, without calling the receiver.
    public void cancel() {
        outbox.schedule(this, NEVER);
        over.accept(this);
    }

    @Override
    public String toString() {
        return "SIDR request 0x" + Integer.toHexString(id()) + " to " + route.remote();
    }
}
