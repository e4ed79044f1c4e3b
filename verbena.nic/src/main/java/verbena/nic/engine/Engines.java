package verbena.nic.engine;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import verbena.foreign.GuardedAccess;
import verbena.foreign.SystemCopy;
import verbena.nic.link.Link;
import verbena.transport.congestion.PeerWindow;
import verbena.transport.memory.JvmMemory;
import verbena.transport.memory.KeyTable;
import verbena.transport.memory.MemoryTable;
import verbena.verbs.Gid;
import verbena.verbs.InvalidStateException;

/// The engines of one device: one for each of its links. Each has a memory table of its own; the tables share their
/// keys. The first engine also has the tasks that serve the whole device. Any thread.
public final class Engines {
    /// Queue pair numbers 0 and 1 belong to the standard (SMI and GSI).
    private static final int QPN_FIRST = 2;

    private final List<Engine> all;
    private final List<MemoryTable> memories = new ArrayList<>();
    private final int queuePairsMax;

    /// @param links one or more; with several, each has a slot of its own ([Link#slot()])
    /// @param clock nanoseconds, monotonic
    /// @param random for keys and queue pair numbers
    /// @param queuePairsMax how many queue pairs there may be, if no other device assigns numbers too
    /// @param regionsMax how many memory regions and windows there may be
    public Engines(
            List<? extends Link> links,
            LongSupplier clock,
            RandomGenerator random,
            int queuePairsMax,
            int regionsMax,
            EngineListener listener) {
        GuardedAccess guarded = GuardedAccess.ofProcess();
        memories.add(
                guarded == null
                        ? new MemoryTable(
                                random, regionsMax, clock, SystemCopy::copy, new JvmMemory(), new OnDemandMemory())
                        : new MemoryTable(
                                random,
                                regionsMax,
                                clock,
                                SystemCopy::copy,
                                new ProgramMemory(guarded, false),
                                new ProgramMemory(guarded, true)));
        var made = new ArrayList<Engine>();
        int most = 0;
        for (Link link : links) {
            KeyTable<EngineTask> tasks = link.slot() == Link.NO_SLOT
                    ? new KeyTable<>(random, QPN_FIRST, queuePairsMax, clock)
                    : KeyTable.ofSlot(random, link.slot(), QPN_FIRST, queuePairsMax, clock);
            most = tasks.limit();
            made.add(new Engine(link, clock, tasks, listener));
            if (made.size() > 1) {
                memories.add(memory().forAnotherEngine());
            }
        }
        this.all = List.copyOf(made);
        this.queuePairsMax = most;
    }

    /// Returns the only engine, or the one that serves the whole device.
    public Engine first() {
        return all.getFirst();
    }

    public List<Engine> all() {
        return all;
    }

    /// Returns the engine with the fewest queue pairs.
    public Engine emptiest() {
        return Collections.min(all, Comparator.comparingInt(Engine::size));
    }

    /// Returns how many queue pairs there may be.
    public int queuePairsMax() {
        return queuePairsMax;
    }

    /// Returns the table to which regions and windows are added: that of the first engine.
    public MemoryTable memory() {
        return memories.getFirst();
    }

    /// Returns the table of one of these engines.
    public MemoryTable memory(Engine engine) {
        return memories.get(all.indexOf(engine));
    }

    // ---- driving

    /// Gives each engine a thread.
    ///
    /// @param name of the first thread; the names of the others append a number
    public void start(String name) {
        for (int i = 0; i < all.size(); i++) {
            all.get(i).start(i == 0 ? name : name + "-" + i);
        }
    }

    /// Returns whether there are threads that drive the engines.
    public boolean hasThread() {
        return first().hasThread();
    }

    /// Does a bounded piece of each engine's work on the calling thread. Returns false when there was nothing to
    /// do, or other threads do it already.
    public boolean drive() {
        boolean threads = hasThread();
        boolean any = false;
        for (int i = 0; i < all.size(); i++) { // without an iterator: a simulator asks at every step
            Engine engine = all.get(i);
            any |= threads ? engine.drive() : engine.step() > 0;
        }
        return any;
    }

    /// Returns when the first of them has to be driven next even if nothing arrives ([Engine#deadlineNanos()]).
    public long deadlineNanos() {
        long earliest = first().deadlineNanos();
        for (int i = 1; i < all.size(); i++) {
            earliest = Math.min(earliest, all.get(i).deadlineNanos());
        }
        return earliest;
    }

    /// Tells the engines that the caller will not poll for now ([Engine#handOver()]).
    public void handOver() {
        for (int i = 0; i < all.size(); i++) { // without an iterator: called at every wait
            all.get(i).handOver();
        }
    }

    /// Counts threads that park: 1 when the caller begins to wait, -1 when its wait has ended
    /// ([Engine#parked(int)]).
    public void parked(int change) {
        for (int i = 0; i < all.size(); i++) {
            all.get(i).parked(change);
        }
    }

    /// Attends until `isOver` is true or `nanos` have passed. False when the caller cannot attend
    /// ([Engine#attend]), as with several engines, because the caller could sleep in one link only.
    public boolean attend(BooleanSupplier isOver, long nanos) throws InterruptedException {
        return all.size() == 1 && first().attend(isOver, nanos, false);
    }

    /// Attends as [#attend] does, for a caller that gives way.
    public boolean attendGivingWay(BooleanSupplier isOver, long nanos) throws InterruptedException {
        return all.size() == 1 && first().attend(isOver, nanos, true);
    }

    // ---- all of them at once

    /// Runs `command` while no engine works. The engines are stopped in their order, each by a command inside that
    /// of the one before, so two callers never wait for each other. A caller that owns one of them already, because
    /// the engine has called the program, helps the others meanwhile.
    public <T> T alone(Supplier<T> command) {
        return alone(0, command);
    }

    private <T> T alone(int from, Supplier<T> command) {
        Engine engine = all.get(from);
        return from == all.size() - 1
                ? engine.call(command, this::help)
                : engine.call(() -> alone(from + 1, command), this::help);
    }

    /// Runs the commands that other threads have left at engines that this thread owns; false when it owns none.
    public boolean help() {
        boolean any = false;
        for (Engine engine : all) {
            any |= engine.help();
        }
        return any;
    }

    /// Wraps each engine's link, or unwraps it ([Engine#relink]).
    public void relink(UnaryOperator<Link> change) {
        for (Engine engine : all) {
            engine.call(() -> {
                engine.relink(change);
                return true;
            });
        }
    }

    // ---- the end

    /// Implements [verbena.nic.SoftContext#roomTo].
    public int roomTo(Gid peer) {
        int least = Integer.MAX_VALUE;
        for (Engine engine : all) {
            least = Math.min(least, engine.call(() -> {
                PeerWindow window = engine.windows().join(peer.high(), peer.low());
                int room = window.room();
                engine.windows().leave(window);
                return room;
            }));
        }
        return least;
    }

    /// Returns why the device has stopped; null while it works.
    public @Nullable Throwable failure() {
        for (int i = 0; i < all.size(); i++) {
            Throwable failure = all.get(i).failure();
            if (failure != null) {
                return failure;
            }
        }
        return null;
    }

    /// Stops all engines after a failure that cannot be contained in one of them.
    public void fail(Throwable cause) {
        all.forEach(engine -> engine.fail(cause));
    }

    /// Throws when this thread owns an engine: such a thread cannot wait for the engine's end.
    ///
    /// @param device how messages name what is being closed
    /// @throws InvalidStateException when the caller owns one
    public void checkNotMine(String device) {
        if (all.stream().anyMatch(Engine::isMine)) {
            throw new InvalidStateException(
                    "close: " + device + " has called this thread; close it from another thread");
        }
    }

    /// Ends the threads and closes the links.
    public void close() {
        all.forEach(Engine::close);
    }
}
