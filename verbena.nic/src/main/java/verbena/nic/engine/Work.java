package verbena.nic.engine;

import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.Link;
import verbena.nic.link.QuickTraffic;

/// The work that there is, and one bounded piece of it: commands, departures, arrivals, deadlines. For the engine's
/// owner, except for [#hasLeft()].
///
/// Departures come before arrivals, so that a thread that has posted waits for nothing. The answer to an arrival
/// leaves with the next piece, together with the requests that the application posts because of that arrival.
///
/// A deadline counts only after all earlier arrivals have been handled. So a peer is considered dead only when it
/// was silent, not because this process was stopped or had no processor.
final class Work {
    final Commands commands;
    final Doorbells doorbells;
    final Inbound inbound;
    final Outbound outbound;
    private final Containment containment;
    private final LongSupplier clock;

    /// Changed by an owner only. Other threads may see an older link for a while; both end at the same link
    /// ([Engine#relink]).
    private Link link;
    /// The link's traffic that a thread that polls may move without a turn of the engine; null when there is none.
    private @Nullable QuickTraffic quick;

    /// The number of packets received in the last piece of work.
    private int arrived;
    /// Consecutive pieces of work that have postponed deadlines.
    private int deadlinesLater;
    /// The number of pieces of work since the last piece that received.
    private int sendsOnly;

    private int receivesOnly;
    private boolean remainingSent;

    Work(
            Link link,
            LongSupplier clock,
            Commands commands,
            Doorbells doorbells,
            Inbound inbound,
            Outbound outbound,
            Containment containment) {
        link(link);
        this.clock = clock;
        this.commands = commands;
        this.doorbells = doorbells;
        this.inbound = inbound;
        this.outbound = outbound;
        this.containment = containment;
    }

    Link link() {
        return link;
    }

    void link(Link other) {
        link = other;
        quick = other instanceof QuickTraffic itself ? itself : null;
    }

    /// Returns the traffic that a thread that polls may move without a turn of the engine; null when there is none.
    @Nullable
    QuickTraffic quick() {
        return quick;
    }

    /// Returns whether threads have left something to do. Any thread.
    boolean hasLeft() {
        return !commands.isEmpty() || !doorbells.isEmpty();
    }

    /// Returns the number of packets received in the last piece of work.
    int arrived() {
        return arrived;
    }

    /// Returns when there will be work that no other thread announces; a time in the past when there is some now.
    long dueNanos(long now) {
        return link.hasArrivals() ? Long.MIN_VALUE : outbound.dueNanos(now);
    }

    /// Returns when there will be work even if nothing arrives: [verbena.transport.Protocol#NEVER] for never,
    /// [Long#MIN_VALUE] for now.
    long deadlineNanos() {
        return hasLeft() ? Long.MIN_VALUE : dueNanos(clock.getAsLong());
    }

    /// Does a piece of work; returns how much was done, 0 when there was nothing to do.
    ///
    /// @param receiving whether to receive in any case. Otherwise, a thread that has sent something leaves arrivals
    ///     to the next piece for a while, because asking for them costs as much as a large part of a batch
    int doPiece(long now, boolean receiving) {
        if (arrived >= Tuning.MANY && receivesOnly < Tuning.RECEIVES_ONLY_MAX && commands.isEmpty()) {
            // One acknowledgement for all of these batches, not one for each.
            receivesOnly++;
            QuickTraffic at = quick;
            arrived = inbound.receive(link, now) + (at == null ? 0 : at.moveAtOnce(now));
            return Math.max(1, arrived);
        }
        receivesOnly = 0;
        int done = runCommands();
        boolean isDue = outbound.hasDue(now);
        if (isDue) {
            done += moveArrivals(now);
            if ((arrived < Tuning.BATCH && !link.mayHaveMore()) || ++deadlinesLater == Tuning.DEADLINES_LATER_MAX) {
                deadlinesLater = 0;
                done += outbound.runDeadlines(now);
            }
        }
        int sent = depart(now);
        done += sent;
        if (!isDue && (receiving || sent == 0 || ++sendsOnly == Tuning.SENDS_ONLY_MAX)) {
            done += moveArrivals(now);
        }
        return done;
    }

    /// Sends what was posted; returns how many packets.
    int depart(long now) {
        outbound.makeReady(doorbells);
        return outbound.send(link, now);
    }

    private int moveArrivals(long now) {
        sendsOnly = 0;
        arrived = inbound.receive(link, now) + link.move(now);
        return arrived;
    }

    /// Runs commands; returns how many. Posted requests and answers to arrivals leave before a command changes
    /// anything. A queue pair that is closed as soon as a message has come, for example, has still acknowledged it.
    int runCommands() {
        if (commands.isEmpty()) {
            return 0;
        }
        outbound.makeReady(doorbells);
        if (outbound.hasReady() && containment.failure() == null) {
            try {
                int _ = outbound.send(link, clock.getAsLong());
            } catch (RuntimeException e) {
                containment.fail(e);
            }
        }
        return commands.run(Tuning.BATCH);
    }

    /// Sends what is ready, as far as there is room at once: for example, the notice that a connection is over.
    void sendRemaining() {
        if (containment.failure() != null || remainingSent) {
            return;
        }
        remainingSent = true;
        try {
            for (int i = 0; i < Tuning.LAST_BATCHES && outbound.send(link, clock.getAsLong()) > 0; i++) {
                // until nothing is left
            }
        } catch (RuntimeException e) {
            containment.fail(e);
        }
    }
}
