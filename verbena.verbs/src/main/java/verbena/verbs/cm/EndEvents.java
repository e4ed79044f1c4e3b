package verbena.verbs.cm;

import java.time.Duration;
import verbena.verbs.ConnectionException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Pending;
import verbena.verbs.internal.Promise;

/// The events of a connection that is made: the last of them is its end. One thread takes them, the one that closes
/// the connection or a virtual thread. Any thread.
final class EndEvents {
    /// The time that closing waits for the peer to know.
    private static final Duration FAREWELL = Duration.ofSeconds(1);

    private final ConnectionId id;
    private final Ending ending;
    /// Reads the completions that are there.
    private final Runnable look;
    private final Promise<ConnectionException> closed = new Promise<>();
    // Guarded by this.
    /// Whether a virtual thread takes the events.
    private boolean isWatched;
    private boolean isClosing;

    EndEvents(ConnectionId id, Ending ending, Runnable look) {
        this.id = id;
        this.ending = ending;
        this.look = look;
    }

    /// Returns what is done when the connection has ended, and takes the events from now on.
    synchronized Pending<ConnectionException> whenClosed() {
        if (!isWatched && !isClosing) {
            isWatched = true;
            Thread.ofVirtual().name("verbena-closed").start(this::watch);
        }
        return closed;
    }

    private void watch() {
        try {
            while (id.state() == ConnectionId.State.CONNECTED) {
                note(id.channel().await());
            }
            look.run(); // a request that has failed is the better reason
        } catch (InvalidStateException e) {
            // closed here, as `ending` knows
        } catch (InterruptedException e) {
            throw new AssertionError("no program knows this thread", e);
        } finally {
            closed.complete(ending.exception("whenClosed"));
        }
    }

    private void note(ConnectionEvent event) {
        event.failure().ifPresent(reason -> ending.onEvent(reason, event.why()));
    }

    /// Waits until the peer knows that this side has disconnected, for a second at most.
    void awaitDisconnected() {
        try {
            if (mayTake()) {
                take();
            } else {
                boolean _ = closed.await(FAREWELL); // not done when the peer does not answer
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized boolean mayTake() {
        isClosing = true;
        return !isWatched;
    }

    private void take() throws InterruptedException {
        long begin = System.nanoTime();
        while (id.state() != ConnectionId.State.DISCONNECTED) {
            long left = FAREWELL.toNanos() - (System.nanoTime() - begin);
            if (id.channel().await(Math.max(0, left)).isEmpty()) {
                return;
            }
        }
    }

    /// Handles the end of everything: no events come any more.
    void onClosed() {
        if (mayTake()) {
            closed.complete(ending.exception("whenClosed"));
        }
    }
}
