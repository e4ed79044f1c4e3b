package verbena.conformance.chaos;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import verbena.verbs.ConnectionException;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.UnsupportedException;
import verbena.verbs.WorkCompletion;

/// A thread of the storm: draws actions from its seed, does one after the other, and says what it is at.
final class Actor implements Runnable {
    /// Actions that a report shows.
    private static final int REMEMBERED = 8;

    /// What it is doing, and since when, in granted time.
    record Doing(String action, long sinceNanos, boolean mayWait) {}

    final String name;
    final SplittableRandom random;
    final WorkCompletion wc = new WorkCompletion();
    final WorkCompletion[] several = {new WorkCompletion(), new WorkCompletion(), new WorkCompletion()};
    final Thread thread;
    private final Storm storm;
    private final Deque<String> last = new ArrayDeque<>();
    private volatile Optional<Doing> doing = Optional.empty();

    Actor(Storm storm, int number, long seed, boolean virtual) {
        this.storm = storm;
        this.name = (virtual ? "virtual actor " : "actor ") + number;
        this.random = new SplittableRandom(seed);
        var builder = virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
        this.thread = builder.name(name).unstarted(this);
    }

    Optional<Doing> doing() {
        return doing;
    }

    /// What it did last, the newest at the end.
    List<String> last() {
        synchronized (last) {
            return new ArrayList<>(last);
        }
    }

    @Override
    public void run() {
        while (storm.goesOn()) {
            act(storm.actions().draw(random));
        }
        doing = Optional.empty();
    }

    private void act(Actions.Action action) {
        doing = Optional.of(new Doing(action.name(), storm.grantedNanos(), action.mayWait()));
        String how = "";
        try {
            action.body().act(this);
            action.succeeded().increment();
        } catch (Throwable e) {
            how = " " + e.getClass().getSimpleName();
            if (!isExpected(e)) {
                storm.fail(this + " in " + action.name() + ": unexpected " + e, e);
            }
        }
        synchronized (last) {
            if (last.size() == REMEMBERED) {
                last.poll();
            }
            last.add(action.name() + how);
        }
    }

    /// What a verb may answer with when other threads close and change everything meanwhile.
    private static boolean isExpected(Throwable e) {
        String message = String.valueOf(e.getMessage());
        return switch (e) {
            case InvalidStateException _,
                    InUseException _,
                    ResourceLimitException _,
                    InvalidAttributesException _,
                    UnsupportedException _,
                    ConnectionException _ -> !message.contains("has failed");
            case IllegalArgumentException _ ->
                message.contains("another")
                        || message.contains("the request is of")
                        || message.contains("queue pair of type")
                        || message.contains("is of type")
                        || message.contains("name the receiver")
                        || message.contains("ON_DEMAND")
                        || message.contains("arena is closed");
            case InterruptedException _ -> true;
            default -> false;
        };
    }

    @Override
    public String toString() {
        return name;
    }
}
