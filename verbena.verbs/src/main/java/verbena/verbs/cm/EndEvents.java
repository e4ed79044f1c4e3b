package verbena.verbs.cm;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import verbena.verbs.ConnectionException;
import verbena.verbs.ConnectionException.Reason;
import verbena.verbs.InvalidStateException;

/// The events of a connection that is made: the last of them is its end. One thread takes them, the one that closes
/// the connection or a virtual thread. Any thread.
final class EndEvents {
    /// The time that closing waits for the peer to know.
    private static final Duration FAREWELL = Duration.ofSeconds(1);

    private final ConnectionId id;
    private final Ending ending;
    /// Reads the completions that are there.
    private final Runnable look;
    private final CompletableFuture<ConnectionException> closed = new CompletableFuture<>();
    private final CompletionStage<ConnectionException> stage = closed.minimalCompletionStage();
    // Guarded by this.
    /// Whether a virtual thread takes the events.
    private boolean isWatched;
    private boolean isClosing;

    EndEvents(ConnectionId id, Ending ending, Runnable look) {
        this.id = id;
        this.ending = ending;
        this.look = look;
    }

    /// Returns what completes when the connection has ended, and takes the events from now on.
    synchronized CompletionStage<ConnectionException> whenClosed() {
        if (!isWatched && !isClosing) {
            isWatched = true;
            Thread.ofVirtual().name("verbena-closed").start(this::watch);
        }
        return stage;
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
        if (event instanceof ConnectionEvent.Disconnected end) {
            ending.onEvent(Reason.DISCONNECTED, end.why());
        } else if (event instanceof ConnectionEvent.DeviceRemoval gone) {
            ending.onEvent(Reason.FAILED, gone.why());
        }
    }

    /// Waits until the peer knows that this side has disconnected, for a second at most.
    void awaitDisconnected() {
        try {
            if (mayTake()) {
                take();
            } else {
                ConnectionException _ = closed.get(FAREWELL.toNanos(), TimeUnit.NANOSECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (TimeoutException e) {
            // the peer does not answer
        } catch (ExecutionException e) {
            throw new AssertionError("it completes with a result", e);
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
