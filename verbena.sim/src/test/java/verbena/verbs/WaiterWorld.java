package verbena.verbs;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.sim.explore.Fingerprint;
import verbena.sim.explore.SmallWorld;
import verbena.sim.explore.Step;
import verbena.sim.explore.Strand;

/// A thread that takes what several sources bring, by a [Waiter] at a place, and the threads that bring it. A thread
/// stands still wherever another may come in between: at each look at a source, between an event and its listener, and
/// before each look and each wake-up at the place.
final class WaiterWorld implements SmallWorld {
    enum Plant {
        NOTHING,
        /// A source has an event, and its listener does not run.
        TELLS_NOBODY,
        /// The listener runs before the event is there.
        TELLS_TOO_EARLY,
        /// The thread at the place is not woken.
        WAKES_NOBODY,
        /// A result that is done says that more will come.
        NEVER_ENDS
    }

    /// A thread.
    private static final class Actor {
        private final String name;
        private final Strand strand = new Strand();
        private boolean hasBegun;

        private Actor(String name) {
            this.name = name;
        }
    }

    /// A source of events, or a result.
    private final class Source implements Waitable, WaitSource {
        private final boolean isResult;
        private int events;
        private int given;
        /// Where the look at it is: the number of events seen, once it has looked.
        private int look = NONE;

        private @Nullable Runnable listener;

        private Source(boolean isResult) {
            this.isResult = isResult;
        }

        private void bring() {
            if (plant == Plant.TELLS_TOO_EARLY) {
                tell();
                stand("told");
                events++;
            } else {
                events++;
                stand("brought");
                tell();
            }
        }

        private void tell() {
            if (listener != null && plant != Plant.TELLS_NOBODY) {
                listener.run();
            }
        }

        @Override
        public boolean isReady() {
            look = UNKNOWN;
            stand("look");
            look = events;
            stand("looked");
            boolean is = look > 0;
            look = NONE;
            return is;
        }

        @Override
        public WaitSource waitSource() {
            return this;
        }

        @Override
        public void addListener(Runnable added) {
            listener = added;
        }

        @Override
        public void removeListener(Runnable removed) {
            listener = null;
        }

        @Override
        public boolean hasEnded() {
            return isResult && plant != Plant.NEVER_ENDS;
        }

        @Override
        public Optional<Place> place() {
            return Optional.of(place);
        }
    }

    /// The place, which forgets a wake-up that comes when no thread attends.
    private final class Sleeps implements WaitSource.Place {
        private boolean isAttended;
        private boolean isWoken;

        @Override
        public boolean attend(BooleanSupplier isOver, long nanos) {
            isWoken = false;
            isAttended = true;
            stand("attend");
            while (!isOver.getAsBoolean()) {
                stand(SLEEP);
                isWoken = false;
            }
            isAttended = false;
            return true;
        }

        @Override
        public void wakeAttendant() {
            stand("wake");
            isWoken |= isAttended && plant != Plant.WAKES_NOBODY;
        }
    }

    private static final String SLEEP = "sleep";
    private static final int NONE = -1;
    private static final int UNKNOWN = -2;

    private final Plant plant;
    private final Sleeps place = new Sleeps();
    private final Waiter<Source> waiter = new Waiter<>();
    private final List<Source> sources = new ArrayList<>();
    private final List<Actor> actors = new ArrayList<>();
    private final int wanted;
    private int taken;
    private int wakeUps;

    /// @param events at least 3: what the threads bring, each to a source of its own, but the last two to one. The
    ///     first source is a result
    WaiterWorld(int events, Plant plant) {
        this.plant = plant;
        this.wanted = events;
        actors.add(new Actor("the thread that waits"));
        for (int i = 0; i < events; i++) {
            actors.add(new Actor("thread " + i));
            if (i < events - 1) {
                sources.add(new Source(i == 0));
                waiter.add(sources.getLast(), sources.getLast());
            }
        }
        actors.add(new Actor("another"));
    }

    static Fingerprint fingerprint() {
        return new Fingerprint()
                .without(Waiter.class.getName(), "sources", "counts", "places", "isOver")
                .without(Waiter.class.getName() + "$Source", "place", "found")
                .without(Actor.class.getName(), "name")
                .without(Strand.class.getName(), "world", "own", "failure");
    }

    private void run(int index) {
        if (index == 0) {
            take();
        } else if (index <= wanted) {
            sources.get(Math.min(index, sources.size()) - 1).bring();
        } else {
            waiter.wakeup();
        }
    }

    /// Waits until all events are taken, and for a wake-up.
    private void take() {
        try {
            while (taken < wanted || wakeUps == 0) {
                Source source = waiter.await().orElse(null);
                if (source != null) {
                    source.given++;
                    taken += source.events;
                    source.events = source.isResult ? 1 : 0;
                } else {
                    wakeUps++;
                }
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void stand(String where) {
        for (Actor each : actors) {
            if (each.strand.is(Thread.currentThread())) {
                each.strand.pause(where);
            }
        }
    }

    // ---- SmallWorld

    @Override
    public List<Step> steps() {
        var steps = new ArrayList<Step>();
        for (int i = 0; i < actors.size(); i++) {
            Actor each = actors.get(i);
            int index = i;
            if (!each.hasBegun) {
                steps.add(Step.usual(() -> each.name + " begins", () -> {
                    each.hasBegun = true;
                    each.strand.begin(() -> run(index));
                }));
            } else if (each.strand.isUnderWay() && (!each.strand.at().equals(SLEEP) || place.isWoken)) {
                steps.add(Step.usual(() -> each.name + " goes on from " + each.strand.at(), each.strand::goOn));
            }
        }
        return steps;
    }

    @Override
    public void check() {
        for (Source each : sources) {
            if (each.isResult && each.given > 1) {
                throw new AssertionError("a result is given twice");
            }
        }
    }

    @Override
    public void checkAtRest() {
        for (Actor each : actors) {
            if (each.strand.isUnderWay()) {
                throw new AssertionError(each.name + " waits for ever at " + each.strand.at());
            }
        }
    }

    @Override
    public long now() {
        return Fingerprint.BEGINNING;
    }

    @Override
    public void close() {
        for (Actor each : actors) {
            each.strand.close();
        }
    }
}
