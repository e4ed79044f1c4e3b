package verbena.tools.perf;

import java.time.Duration;
import java.util.function.Supplier;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.QpType;

/// A watch for a loop that waits in vain: the thread is interrupted, the peer has gone, or nothing has happened for
/// too long. When the loop spins, it looks only now and then.
final class StallWatch {
    private static final int LOOKS = 1 << 12;
    private static final long SECOND_NANOS = 1_000_000_000;

    private final PerfEnd end;
    private final Exchange exchange;
    private final Clock clock;
    private final Supplier<String> soFar;
    private final long nanos;
    private int idle;
    private long since;
    private long peerLookedAt;
    private boolean watching;

    /// @param clock before it starts the peer may be silent without limit
    /// @param soFar what has happened until now, for messages
    StallWatch(PerfEnd end, Exchange exchange, Clock clock, Supplier<String> soFar) {
        this.end = end;
        this.exchange = exchange;
        this.clock = clock;
        this.soFar = soFar;
        nanos = end.options.timeout().toNanos();
    }

    /// Notes that there was progress.
    void progress() {
        watching = false;
    }

    /// Called when nothing has happened. With `-e` it sleeps until there is an event, for a second at most.
    ///
    /// @return whether the thread is interrupted: the loop is to end
    /// @throws CommandFailed when nothing will happen any more
    boolean isInterrupted() {
        if (end.options.events) {
            boolean _ = end.sleep(Duration.ofSeconds(1));
        } else if ((++idle & LOOKS - 1) != 0) {
            return false;
        }
        if (Thread.currentThread().isInterrupted()) {
            return true;
        }
        long now = System.nanoTime();
        if (!watching) {
            watching = true;
            since = now;
            peerLookedAt = now;
        }
        if (now - peerLookedAt > SECOND_NANOS) {
            peerLookedAt = now;
            if (exchange.hasEnded()) {
                throw new CommandFailed("the peer at " + exchange.peer() + " has ended after " + soFar.get());
            }
        }
        if (now - since > nanos && clock.isStarted()) {
            throw new CommandFailed("nothing happened for " + nanos / SECOND_NANOS + " s after " + soFar.get() + ": "
                    + (end.options.type == QpType.RC
                            ? "has the peer stopped, or has it other options?"
                            : "what is lost is not sent again: was something lost? Or has the peer other options?"));
        }
        return false;
    }
}
