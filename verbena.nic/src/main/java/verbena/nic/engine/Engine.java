package verbena.nic.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.Link;
import verbena.transport.Counters;
import verbena.transport.PacketFate;
import verbena.transport.congestion.PeerWindows;
import verbena.transport.memory.KeyTable;
import verbena.verbs.Gid;

/// Owns the state of all queue pairs of a device and drives them: packets from the link to their queue pair,
/// packets of queue pairs to the link, deadlines, commands of the application.
///
/// All of that happens in bounded pieces of work ([Work]), one at a time, each by the thread that owns the engine then
/// ([Ownership]): the engine's own thread, a thread of the application that polls an empty completion queue
/// ([#drive()]), waits ([#attend]) or has just posted, or, when the engine has no thread, the simulator ([#step()]).
/// There is no other code path. Which thread works when, and why no wake-up is lost, says [Driver].
public final class Engine implements AutoCloseable {
    /// How long the caller of a command waits before it looks again whether it can help.
    private static final long COMMAND_NANOS = 20_000;

    private final LongSupplier clock;
    private final KeyTable<EngineTask> stations;
    private final Counters counters = new Counters();
    private final PeerWindows windows = new PeerWindows();
    private final Ownership ownership = new Ownership();
    private final Doorbells doorbells = new Doorbells();
    private final Containment containment;
    private final Commands commands;
    private final Outbound outbound;
    private final Inbound inbound;
    private final Work work;
    private final Driver driver;
    /// A thread looks again and again before it sleeps: one is enough.
    private final AtomicBoolean hasLooker = new AtomicBoolean();

    /// What an engine tells its device; called by the engine's owner, which does not go on meanwhile.
    public interface Listener {
        /// It is impossible to go on. Once.
        void onFailure(Throwable cause);

        /// The code of one queue pair, or a command that no thread waits for, has failed. The engine goes on.
        void onContained(Throwable cause);

        /// A peer tries numbers of queue pairs or keys of theirs; at most every 10 s.
        ///
        /// @param last what became of the packet that made it certain
        /// @param sourceHigh upper half of the GID that this packet came from, or claims to
        /// @param sourceLow its lower half
        void onSearch(PacketFate last, long sourceHigh, long sourceLow);
    }

    /// An engine without a thread: the caller drives.
    ///
    /// @param clock nanoseconds, monotonic; read once per piece of work
    /// @param stations queue pairs by number
    public Engine(Link link, LongSupplier clock, KeyTable<EngineTask> stations, Listener listener) {
        Arena arena = Arena.ofAuto();
        this.clock = clock;
        this.stations = stations;
        this.containment = new Containment(counters, listener);
        this.commands = new Commands(containment);
        this.outbound = new Outbound(counters, containment, arena);
        this.inbound = new Inbound(stations, outbound, counters, containment, listener, arena);
        this.work = new Work(link, clock, commands, doorbells, inbound, outbound, containment);
        this.driver = new Driver(work, ownership, containment, clock);
    }

    /// Gives the engine a thread of its own.
    public void start(String name) {
        driver.start(name);
    }

    /// Whether the engine has a thread of its own.
    public boolean hasThread() {
        return driver.hasThread();
    }

    public Counters counters() {
        return counters;
    }

    public Link link() {
        return work.link();
    }

    /// Puts something around the link, or takes it away, while nothing is under way; as a command. What is around
    /// it forwards sleep and wake-up, so that a thread in the one hears of the other.
    public void relink(UnaryOperator<Link> change) {
        work.link(change.apply(work.link()));
    }

    /// What its reliable connections to each peer have under way; for the owner only.
    public PeerWindows windows() {
        return windows;
    }

    public long nowNanos() {
        return clock.getAsLong();
    }

    /// Why the engine stands still, when something in it or in the link is broken; null while it works. Commands
    /// still run.
    public @Nullable Throwable failure() {
        return containment.failure();
    }

    /// It is impossible to go on. What cannot be repaired in one engine ends the others of its device by this.
    public void fail(Throwable cause) {
        containment.fail(cause);
    }

    /// Something has failed in the code of one queue pair, one stream or one command, which ends alone. By the owner.
    public void contained(Throwable cause) {
        containment.contained(cause);
    }

    // ---- threads of the application

    /// Something was posted on this queue pair. Sends it on the caller's thread when no other thread owns the engine:
    /// at once, or with what the caller posts next ([Burst]). An engine without a thread only takes note.
    ///
    /// @param requests how many
    /// @param bytes of their messages, all together
    public void ring(EngineTask station, int requests, long bytes) {
        doorbells.ring(station);
        driver.posted(requests, bytes);
    }

    /// The caller has found a completion without a look at the engine: what it has posted does not wait for ever.
    public void polled() {
        driver.polled();
    }

    /// For a thread that polls in vain: does a piece of work when no other thread does; true when something was
    /// done. Without a thread of its own the engine is driven by [#step()] only.
    public boolean drive() {
        return driver.drive();
    }

    /// Does a piece of work for an engine without a thread; returns how much was done. What goes wrong is thrown.
    public int step() {
        if (!ownership.tryOwn()) {
            return 0;
        }
        try {
            return work.doPiece(clock.getAsLong(), true);
        } finally {
            ownership.disown();
        }
    }

    /// When [#step()] will have something to do though nothing arrives: [verbena.transport.Protocol#NEVER], or
    /// [Long#MIN_VALUE] for now.
    public long deadlineNanos() {
        return work.deadlineNanos();
    }

    /// The caller will not poll any more for now: the attendant takes over at once.
    public void handOver() {
        driver.handOver();
    }

    /// Looks again and again for what the caller waits for, and drives, until `isOver`, `policy` says that it is
    /// enough, or the time has come. At once when another thread does that already.
    ///
    /// @param nanos how long at most, from `start` on
    public void look(SpinPolicy policy, BooleanSupplier isOver, long start, long nanos) {
        if (!hasLooker.compareAndSet(false, true)) {
            return;
        }
        try {
            long now;
            do {
                if (isOver.getAsBoolean() || (drive() && isOver.getAsBoolean())) {
                    return;
                }
                Thread.onSpinWait();
                now = clock.getAsLong();
            } while (policy.looksAgain(now) && now - start < nanos);
        } finally {
            hasLooker.set(false);
        }
    }

    /// The caller, a thread of the application, waits for something that the engine brings, and parks until it is
    /// woken: 1. It has ended that: -1.
    public void parked(int change) {
        driver.parked(change);
    }

    /// Attends in place of the engine's thread until `isOver`, the engine has ended, or the time has come. What makes
    /// it over happens in a piece of work of this engine, or is followed by [#wakeGuest()].
    ///
    /// @param nanos how long at most
    /// @return false when that cannot be: others wait, or attend, or the caller is a virtual thread, which must not
    ///     block in the kernel
    public boolean attend(BooleanSupplier isOver, long nanos) throws InterruptedException {
        return driver.attend(isOver, nanos);
    }

    /// What [#visit] answers when the caller has to wait in another way.
    public static final int ELSEWHERE = -1;

    /// Attends as [#attend] does, for a caller that sleeps by a system call of its own: returns when it is to poll(2),
    /// and then the same thread comes again, or [ends the visit][#endVisit()]. No method of ours is on its stack
    /// meanwhile. If it never comes again the device can still be closed, and does nothing else.
    ///
    /// @param pollfds where to put the `struct pollfd`s; has what poll(2) has found when the caller comes again
    /// @return how many they are; zero when it is over, or nearly so; [#ELSEWHERE] when this cannot be, or not any
    ///     more. The visit has ended in the last two cases
    public int visit(BooleanSupplier isOver, MemorySegment pollfds) {
        return driver.visit(isOver, pollfds);
    }

    /// The thread that [visits][#visit] will not come again; does nothing when it does not visit.
    public void endVisit() {
        driver.endVisit();
    }

    /// What a thread waits for in [#attend] may have come, by another thread's doing.
    public void wakeGuest() {
        driver.wakeGuest();
    }

    // ---- commands

    /// Runs `command` as the owner and gives back its result; what it throws is thrown here. Takes no longer than
    /// the present piece of work.
    public <T> T call(Supplier<T> command) {
        return call(command, () -> {});
    }

    /// The same.
    ///
    /// @param meanwhile called again and again while this thread waits for the owner, which may be waiting for it
    public <T> T call(Supplier<T> command, Runnable meanwhile) {
        if (isMine()) {
            return command.get();
        }
        Commands.Task<T> task = commands.add(command);
        boolean interrupted = false;
        while (!task.isDone()) {
            if (ownership.tryOwn()) {
                driver.runCommands();
            } else if (ownership.isOver()) {
                runAfterTheEnd(task);
            } else {
                meanwhile.run();
                LockSupport.parkNanos(this, COMMAND_NANOS);
                interrupted |= Thread.interrupted();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return task.result();
    }

    /// Whether this thread owns the engine.
    public boolean isMine() {
        return ownership.isMine();
    }

    /// For an owner that has called the program back, and now waits for another thread there: carries out the
    /// commands that wait, one of which may be that thread's. False when this thread is not the owner.
    public boolean help() {
        if (!isMine()) {
            return false;
        }
        int _ = commands.run(Integer.MAX_VALUE);
        return true;
    }

    /// The engine is closed: a caller carries its command out itself, one caller at a time, unless the last owner
    /// still carries it out.
    private void runAfterTheEnd(Commands.Task<?> task) {
        synchronized (ownership) {
            commands.run(task);
        }
    }

    /// Runs `command` as the owner, later. Not on the caller's thread, which may own another engine and be in the
    /// middle of something there, unless it owns this one.
    public void later(Runnable command) {
        commands.add(command);
        if (!isMine()) {
            driver.call();
        }
    }

    /// Runs `command` as the owner: now when the caller is that, else later.
    public void execute(Runnable command) {
        if (isMine()) {
            command.run();
        } else {
            later(command);
        }
    }

    // ---- queue pairs

    /// How many queue pairs there are. Any thread.
    public int size() {
        return stations.size();
    }

    /// Makes a queue pair under a fresh number; -1 when there are too many. Any thread.
    public int add(IntFunction<EngineTask> make) {
        return stations.add(make);
    }

    /// Takes a queue pair out; as a command.
    public void remove(int qpn, EngineTask station) {
        inbound.detachFromAll(link(), station);
        stations.remove(qpn);
        outbound.remove(station);
    }

    /// Hands what comes to queue pair 1 to `station` from now on; null: drops it, which it does at first. As a
    /// command.
    public void generalServices(@Nullable EngineTask station) {
        inbound.generalServices(station);
    }

    /// Hands what is sent to a multicast group to a queue pair too; as a command. Nothing changes when it is
    /// attached already.
    ///
    /// @throws verbena.verbs.ResourceLimitException when there are too many
    /// @throws verbena.nic.link.LinkException when the link cannot become a member
    public void attach(EngineTask station, Gid gid) {
        inbound.attach(link(), station, gid);
    }

    /// Ends that; false when it was not so. As a command.
    public boolean detach(EngineTask station, Gid gid) {
        return inbound.detach(link(), station, gid);
    }

    /// Sees to it that the queue pair is asked for packets; as a command.
    public void makeReady(EngineTask station) {
        outbound.makeReady(station);
    }

    /// Ends the thread and closes the link, when what is ready has left. Waits for the owner's piece of work to
    /// end.
    @Override
    public void close() {
        boolean interrupted = driver.end();
        while (!ownership.tryEnd()) {
            LockSupport.parkNanos(this, COMMAND_NANOS);
            interrupted |= Thread.interrupted();
        }
        synchronized (ownership) { // see runAfterTheEnd
            work.sayLastWords();
        }
        link().close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
