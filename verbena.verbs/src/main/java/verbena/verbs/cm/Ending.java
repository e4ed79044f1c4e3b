package verbena.verbs.cm;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import verbena.verbs.ConnectionException;
import verbena.verbs.ConnectionException.Reason;
import verbena.verbs.VerbsException;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;

/// The reason for which a connection has ended: the first one is told to all its threads. Any thread.
final class Ending {
    private record Root(Reason reason, String why) {}

    private final Object connection;
    private final Runnable disconnect;
    /// Null while the connection lives, and when the peer or the network has ended it.
    private final AtomicReference<@Nullable Root> root = new AtomicReference<>();

    /// The reason that the connection manager has, when this side has none; null before a thread has taken it.
    private volatile @Nullable Root event;

    private final AtomicBoolean closed = new AtomicBoolean();

    /// @param connection what it is called in messages
    /// @param disconnect tells the device
    Ending(Object connection, Runnable disconnect) {
        this.connection = connection;
        this.disconnect = disconnect;
    }

    Object connection() {
        return connection;
    }

    /// Ends the connection because the program closes it. Returns whether it was open.
    boolean close() {
        root.compareAndSet(null, new Root(Reason.CLOSED, "closed by " + Thread.currentThread()));
        return closed.compareAndSet(false, true);
    }

    /// Returns whether a failure has ended the connection.
    boolean isFailure() {
        Root own = root.get();
        Root told = event;
        return (own != null && own.reason == Reason.FAILED) || (told != null && told.reason == Reason.FAILED);
    }

    /// Ends the connection from this side.
    void end(Reason reason, String why) {
        if (root.compareAndSet(null, new Root(reason, why))) {
            disconnect.run();
        }
    }

    /// Ends the connection: a request has failed.
    void onFailure(String verb, WorkCompletion wc) {
        if (wc.status() != WcStatus.WR_FLUSH_ERR) {
            root.compareAndSet(
                    null, new Root(Reason.FAILED, verb + " failed: " + wc.cause() + " (" + wc.status() + ")"));
        }
    }

    /// Notes that the connection manager has ended the connection.
    void onEvent(Reason reason, String why) {
        event = new Root(reason, why);
    }

    /// Returns whether no thread of this side has ended it.
    boolean isOpen() {
        return !closed.get() && root.get() == null;
    }

    /// Throws when it is closed.
    void checkOpen(String verb) {
        if (closed.get()) {
            throw exception(verb);
        }
    }

    /// Returns the exception when a connection has ended.
    ConnectionException exception(String verb) {
        return exception(verb, WcStatus.WR_FLUSH_ERR, "", null);
    }

    /// Returns the exception when posting was refused.
    VerbsException refused(String verb, VerbsException e) {
        return root.get() == null ? e : exception(verb, WcStatus.WR_FLUSH_ERR, "", e);
    }

    /// Returns the exception for a request that did not succeed.
    ///
    /// @param trouble why no completion came; null when one did
    ConnectionException exception(String verb, WcStatus status, String cause, @Nullable VerbsException trouble) {
        Root known = root.get() == null ? event : root.get();
        Reason reason = Reason.DISCONNECTED;
        String why = (cause.isEmpty() ? "it has ended" : cause) + " (" + status + ")";
        if (status != WcStatus.WR_FLUSH_ERR) {
            reason = Reason.FAILED;
        } else if (known != null) {
            reason = known.reason;
            why = known.why;
        } else if (trouble != null) {
            reason = Reason.FAILED;
            why = cause;
        }
        String message = verb + ": " + connection + ": " + why;
        return trouble == null
                ? new ConnectionException(reason, message)
                : new ConnectionException(reason, message, trouble);
    }
}
