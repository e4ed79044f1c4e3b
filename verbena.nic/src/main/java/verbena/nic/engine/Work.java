package verbena.nic.engine;

import java.util.function.LongSupplier;
import verbena.nic.link.Link;

/// What there is to do, and one bounded piece of it: commands, departures, arrivals, deadlines. For the engine's owner,
/// but for [#hasLeft()].
///
/// Departures come before arrivals: a thread that has posted waits for nothing, and what answers an arrival leaves with
/// the next piece, together with what the arrival makes the application post.
///
/// A deadline counts only when everything that arrived before it has been looked at. So a peer is taken for dead only
/// when it was silent, not because this process was stopped or had no processor.
final class Work {
    /// Commands carried out in one piece of work at most.
    private static final int COMMANDS = 64;
    /// Of so many pieces of work in a row one receives.
    private static final int SENDS_ONLY_MAX = 8;
    /// Arrivals behind which more are likely to wait.
    private static final int MANY = 16;
    /// Pieces of work in a row that look at nothing but arrivals, at most.
    private static final int RECEIVES_ONLY_MAX = 2;
    /// Pieces of work in a row that leave deadlines for later because more may have arrived before them; what they
    /// receive is more than a socket's buffer holds.
    private static final int DEADLINES_LATER_MAX = 64;
    /// Batches that may still leave when the engine is closed.
    private static final int LAST_BATCHES = 256;

    final Commands commands;
    final Doorbells doorbells;
    final Inbound inbound;
    final Outbound outbound;
    private final Containment containment;
    private final LongSupplier clock;

    /// Changed by an owner only. Others may see an older one for a while: it ends at the same link ([Engine#relink]).
    private Link link;

    /// Packets received in the last piece of work.
    private int arrived;
    /// Pieces of work in a row that have left deadlines for later.
    private int deadlinesLater;
    /// Pieces of work since the last that received.
    private int sendsOnly;

    private int receivesOnly;
    private boolean lastWordsSaid;

    Work(
            Link link,
            LongSupplier clock,
            Commands commands,
            Doorbells doorbells,
            Inbound inbound,
            Outbound outbound,
            Containment containment) {
        this.link = link;
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
    }

    /// Whether threads have left something to do. Any thread.
    boolean hasLeft() {
        return !commands.isEmpty() || !doorbells.isEmpty();
    }

    /// Packets received in the last piece of work.
    int arrived() {
        return arrived;
    }

    /// When there will be something to do that no other thread says; the past when there is something now.
    long dueNanos(long now) {
        return link.hasArrivals() ? Long.MIN_VALUE : outbound.dueNanos(now);
    }

    /// When there will be something to do though nothing arrives: [Protocol#NEVER], or [Long#MIN_VALUE] for now.
    long deadlineNanos() {
        return hasLeft() ? Long.MIN_VALUE : dueNanos(clock.getAsLong());
    }

    /// Does a piece; returns how much was done, 0 when there was nothing to do.
    ///
    /// @param receiving whether to receive in any case. Otherwise a thread that has sent something leaves that to
    ///     the next piece, for a while: to ask for arrivals costs as much as much of a batch
    int doPiece(long now, boolean receiving) {
        if (arrived >= MANY && receivesOnly < RECEIVES_ONLY_MAX && commands.isEmpty()) {
            // One acknowledgement for all of them, not one for each batch.
            receivesOnly++;
            arrived = inbound.receive(link, now);
            return Math.max(1, arrived);
        }
        receivesOnly = 0;
        int done = runCommands();
        boolean isDue = outbound.hasDue(now);
        if (isDue) {
            done += moveArrivals(now);
            if ((arrived < Inbound.BATCH && !link.mayHaveMore()) || ++deadlinesLater == DEADLINES_LATER_MAX) {
                deadlinesLater = 0;
                done += outbound.runDeadlines(now);
            }
        }
        int sent = depart(now);
        done += sent;
        if (!isDue && (receiving || sent == 0 || ++sendsOnly == SENDS_ONLY_MAX)) {
            done += moveArrivals(now);
        }
        return done;
    }

    /// What was posted leaves; returns how many packets.
    int depart(long now) {
        outbound.makeReady(doorbells);
        return outbound.send(link, now);
    }

    private int moveArrivals(long now) {
        sendsOnly = 0;
        arrived = inbound.receive(link, now) + link.move(now);
        return arrived;
    }

    /// Carries out commands; returns how many. What was posted, and what answers arrivals, leaves before anything is
    /// changed: a queue pair that is closed as soon as a message has come, for example, has still acknowledged it.
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
        return commands.run(COMMANDS);
    }

    /// What is ready to leave leaves, as far as there is room at once: that a connection is over, for example.
    void sayLastWords() {
        if (containment.failure() != null || lastWordsSaid) {
            return;
        }
        lastWordsSaid = true;
        try {
            for (int i = 0; i < LAST_BATCHES && outbound.send(link, clock.getAsLong()) > 0; i++) {
                // until nothing is left
            }
        } catch (RuntimeException e) {
            containment.fail(e);
        }
    }
}
