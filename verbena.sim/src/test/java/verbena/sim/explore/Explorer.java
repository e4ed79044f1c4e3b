package verbena.sim.explore;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Takes every order of the steps of a [SmallWorld], with at most so many deviations from the usual. Those with
/// the fewest deviations come first, and of these the shortest. So the first schedule that fails is one that a
/// person can read.
///
/// Real objects cannot be copied. So each step is tried in a world of its own, which first takes the steps that
/// have led to the state before. A state that was there before, by its [Fingerprint], is not gone on from. So
/// the orders are far more than the steps that are tried ([Explored#schedules]).
///
/// What has to be right:
///
/// - at each step, what [SmallWorld#check] says;
/// - where nothing can happen any more, what [SmallWorld#checkAtRest] says;
/// - that usual steps never lead in a circle: whatever has happened, everything comes to rest once nothing more
/// goes
///   wrong, and so every wait ends;
/// - that the same steps lead to the same state.
public final class Explorer {
    /// More states are a mistake in a world: what is explored is to be explored wholly.
    private static final int STATES_MAX = 20_000_000;

    /// A way that is longer leads nowhere.
    private static final int STEPS_MAX = 300;

    private final String name;
    private final Supplier<? extends SmallWorld> worlds;
    private final Fingerprint fingerprint;
    private final int deviationsMax;

    private final States states = new States();
    private final List<Deque<Integer>> waiting = new ArrayList<>();
    /// A world in the state that is looked at; null when it has gone on.
    private @Nullable SmallWorld there;

    private int atRest;
    private int longest;

    private Explorer(String name, Supplier<? extends SmallWorld> worlds, Fingerprint fingerprint, int deviationsMax) {
        this.name = name;
        this.worlds = worlds;
        this.fingerprint = fingerprint;
        this.deviationsMax = deviationsMax;
        for (int i = 0; i <= deviationsMax; i++) {
            waiting.add(new ArrayDeque<>());
        }
    }

    /// Skips a world of many states that was not drawn (`-Dverbena.draw=N`). The deep run explores all of them.
    ///
    /// @param share the number of this world among those of which one is drawn
    /// @param shares how many those are
    public static void assumeDrawn(int share, int shares) {
        boolean isAny = Boolean.getBoolean("verbena.deep") || System.getProperty("verbena.schedule") != null;
        int draw = Integer.getInteger("verbena.draw", 0);
        assumeTrue(isAny || draw % shares == share, "-Dverbena.draw=" + share + " or the deep run explores it");
    }

    /// Explores all of a world. With `-Dverbena.schedule=4.0.2` it takes these steps only, and prints them.
    ///
    /// @param name of the protocol, for the table
    /// @throws Counterexample when something is wrong
    public static Explored explore(
            String name, Supplier<? extends SmallWorld> worlds, Fingerprint fingerprint, int deviationsMax) {
        var explorer = new Explorer(name, worlds, fingerprint, deviationsMax);
        String schedule = System.getProperty("verbena.schedule");
        if (schedule != null) {
            int[] way = schedule.isEmpty()
                    ? new int[0]
                    : Arrays.stream(schedule.split("\\."))
                            .mapToInt(Integer::parseInt)
                            .toArray();
            throw explorer.counterexample(way, null);
        }
        return explorer.runVirtually();
    }

    /// Explores a world in which something is wrong on purpose, and returns the first schedule that shows it.
    ///
    /// @throws AssertionError when there is none
    public static Counterexample find(
            String name, Supplier<? extends SmallWorld> worlds, Fingerprint fingerprint, int deviationsMax) {
        try {
            var _ = new Explorer(name, worlds, fingerprint, deviationsMax).runVirtually();
        } catch (Counterexample e) {
            return e;
        }
        throw new AssertionError(name + ": nothing is found with " + deviationsMax + " deviations");
    }

    /// Runs in a virtual thread, because a [Strand] is one: they take turns without the system's scheduler.
    private Explored runVirtually() {
        var task = new FutureTask<>(this::run);
        Thread.ofVirtual().start(task);
        try {
            return task.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Counterexample found) {
                throw found;
            }
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private Explored run() {
        long start = System.nanoTime();
        try (SmallWorld world = worlds.get()) {
            if (world.now() != Fingerprint.BEGINNING) {
                throw new IllegalStateException(name + " does not begin at the beginning of time");
            }
            waiting.getFirst().add(states.add(fingerprint.of(world), States.NONE, 0, 0));
        }
        for (int deviations = 0; deviations <= deviationsMax; deviations++) {
            for (Integer state = next(deviations); state != null; state = next(deviations)) {
                if (states.deviations(state) == deviations) {
                    goOn(state);
                }
            }
        }
        var circle = new ArrayList<Integer>();
        Graph graph = states.graph();
        int[] order = graph.order(circle);
        if (!circle.isEmpty()) {
            int[] way = states.way(circle.getFirst());
            int[] all = IntStream.concat(
                            IntStream.of(way), circle.stream().skip(1).mapToInt(Integer::intValue))
                    .toArray();
            throw counterexample(
                    all, new AssertionError("the last " + (circle.size() - 1) + " steps may go on for ever"));
        }
        return new Explored(
                name,
                deviationsMax,
                states.count(),
                states.edgeCount(),
                graph.schedules(order, deviationsMax),
                longest,
                atRest,
                (System.nanoTime() - start) / 1e9);
    }

    private @Nullable Integer next(int deviations) {
        return waiting.get(deviations).poll();
    }

    /// Takes each step that may follow a state.
    private void goOn(int state) {
        int[] way = states.way(state);
        longest = Math.max(longest, way.length);
        if (way.length > STEPS_MAX) {
            throw counterexample(way, new AssertionError("there is no rest after " + STEPS_MAX + " steps"));
        }
        SmallWorld world = replay(way);
        if (fingerprint.of(world) != states.fingerprint(state)) {
            throw counterexample(way, new AssertionError("the same steps have led to another state"));
        }
        List<Step> steps = world.steps();
        there = world;
        boolean moves = take(state, way, steps, Step.Kind.USUAL, false);
        boolean waits = !moves && take(state, way, steps, Step.Kind.TIME, false);
        if (!moves && !waits) {
            atRest++;
            try (SmallWorld rest = worldAt(way)) {
                rest.checkAtRest();
            } catch (RuntimeException | AssertionError e) {
                throw counterexample(way, e);
            }
        }
        if (states.deviations(state) < deviationsMax) {
            if (moves) {
                take(state, way, steps, Step.Kind.TIME, true);
            }
            take(state, way, steps, Step.Kind.FAULT, true);
        }
    }

    /// Takes each step of a kind. False when none changes anything.
    private boolean take(int state, int[] way, List<Step> steps, Step.Kind kind, boolean costs) {
        boolean isChanged = false;
        for (int i = 0; i < steps.size(); i++) {
            if (steps.get(i).kind() == kind) {
                isChanged |= take(state, way, i, costs);
            }
        }
        return isChanged;
    }

    private boolean take(int state, int[] way, int step, boolean costs) {
        long after;
        try (SmallWorld world = worldAt(way)) {
            world.steps().get(step).does().run();
            world.check();
            after = fingerprint.of(world);
        } catch (RuntimeException | AssertionError e) {
            throw counterexample(
                    IntStream.concat(IntStream.of(way), IntStream.of(step)).toArray(), e);
        }
        if (after == states.fingerprint(state)) {
            return false;
        }
        int deviations = states.deviations(state) + (costs ? 1 : 0);
        int to = states.find(after);
        if (to == States.NONE) {
            if (states.count() == STATES_MAX) {
                throw new IllegalStateException(name + " has more than " + STATES_MAX + " states");
            }
            to = states.add(after, state, step, deviations);
            waiting.get(deviations).add(to);
        } else if (deviations < states.deviations(to)) { // its turn has not come yet
            states.lower(to, state, step, deviations);
            waiting.get(deviations).add(to);
        }
        states.addEdge(state, step, to, costs);
        return true;
    }

    /// A world that has taken these steps: the one that is there already, once.
    private SmallWorld worldAt(int[] way) {
        SmallWorld world = there;
        there = null;
        return world == null ? replay(way) : world;
    }

    private SmallWorld replay(int[] way) {
        SmallWorld world = worlds.get();
        for (int step : way) {
            world.steps().get(step).does().run();
            world.check();
        }
        return world;
    }

    /// Takes the steps once more, to name them.
    ///
    /// @param cause null: what these steps lead to
    private Counterexample counterexample(int[] way, @Nullable Throwable cause) {
        var lines = new ArrayList<String>();
        Throwable why = cause;
        try (SmallWorld world = worlds.get()) {
            for (int step : way) {
                Step next = world.steps().get(step);
                lines.add(next.kind().mark + next.name().get());
                next.does().run();
                world.check();
            }
            if (why == null) {
                world.checkAtRest();
            }
        } catch (RuntimeException | AssertionError e) {
            why = cause == null ? e : cause;
        }
        return new Counterexample(name, lines, way, why);
    }
}
