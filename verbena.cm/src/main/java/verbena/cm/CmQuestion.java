package verbena.cm;

import verbena.wire.cm.SidrRep;
import verbena.wire.cm.SidrReq;

/// The question who takes datagrams for a service, until it is answered or given up (IBTA 12.11). Confined like its
/// [CommunicationManager].
public final class CmQuestion implements CommunicationManager.Timed {
    /// Who is told, exactly once.
    public interface Listener {
        void onAnswer(SidrRep answer);

        /// Nobody has answered.
        void onSilence();
    }

    private final CommunicationManager manager;
    private final Listener listener;
    private final CmRoute route;
    private final SidrReq message;
    private final long retryNanos;
    private int retriesLeft;
    private long deadlineNanos;

    CmQuestion(
            CommunicationManager manager,
            Listener listener,
            CmRoute route,
            SidrReq message,
            int retries,
            long retryNanos) {
        this.manager = manager;
        this.listener = listener;
        this.route = route;
        this.message = message;
        this.retriesLeft = retries;
        this.retryNanos = retryNanos;
    }

    int id() {
        return message.requestId();
    }

    CmRoute route() {
        return route;
    }

    void send(long now) {
        manager.send(route, message);
        deadlineNanos = now + retryNanos;
        manager.schedule(this);
    }

    void onAnswer(SidrRep answer) {
        cancel();
        listener.onAnswer(answer);
    }

    @Override
    public long deadlineNanos() {
        return deadlineNanos;
    }

    @Override
    public void onDeadline(long now) {
        if (retriesLeft-- > 0) {
            send(now);
            return;
        }
        cancel();
        listener.onSilence();
    }

    /// Gives up; nobody is told.
    public void cancel() {
        deadlineNanos = Long.MAX_VALUE;
        manager.forget(this);
    }
}
