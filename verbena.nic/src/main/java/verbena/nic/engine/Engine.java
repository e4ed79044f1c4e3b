package verbena.nic.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.Claimable;
import verbena.nic.link.Link;
import verbena.nic.link.LinkException;
import verbena.transport.EngineCounters;
import verbena.transport.Shortcut;
import verbena.transport.congestion.PeerWindows;
import verbena.transport.memory.KeyTable;
import verbena.transport.queue.SpareFrames;
import verbena.verbs.DeviceException;
import verbena.verbs.Gid;

/// The owner and driver of the state of all queue pairs of a device. It brings packets from the link to their queue
/// pair and from queue pairs to the link, and it handles deadlines and the application's commands.
///
/// All of this happens in bounded pieces of work ([Work]), one at a time. The thread that owns the engine at that
/// moment ([Ownership]) does the piece. This may be the engine's own thread, or a thread of the application that
/// polls an empty completion queue ([#drive()]), waits ([#attend]) or has just posted. When the engine has no
/// thread, it is the caller of [#step()], for example the simulator. There is no other code path. [Driver] describes
/// which thread works when, and why no wake-up is lost.
public final class Engine implements AutoCloseable {
    private final LongSupplier clock;
    private final KeyTable<EngineTask> tasks;
    private final EngineCounters counters = new EngineCounters();
    private final PeerWindows windows = new PeerWindows();
    private final SpareFrames spareFrames = new SpareFrames(SpareFrames.FRAMES_MAX);
    private final Ownership ownership = new Ownership();
    private final Doorbells doorbells = new Doorbells();
    private final Containment containment;
    private final Commands commands;
    private final Outbound outbound;
    private final Inbound inbound;
    private final Work work;
    private final Driver driver;
    /// Whether a thread spins already; one such thread is enough.
    private final AtomicBoolean hasLooker = new AtomicBoolean();

    /// Creates an engine without a thread, which its caller drives.
    ///
    /// @param clock nanoseconds, monotonic; read once per piece of work
    /// @param tasks the queue pairs by number
    public Engine(Link link, LongSupplier clock, KeyTable<EngineTask> tasks, EngineListener listener) {
        Arena arena = Arena.ofAuto();
        this.clock = clock;
        this.tasks = tasks;
        this.containment = new Containment(counters, listener);
        this.commands = new Commands(containment);
        this.outbound = new Outbound(counters, containment, arena);
        this.inbound = new Inbound(tasks, outbound, counters, containment, listener, arena);
        this.work = new Work(link, clock, commands, doorbells, inbound, outbound, containment);
        this.driver = new Driver(work, ownership, containment, clock);
    }

    /// Gives the engine a thread of its own.
    public void start(String name) {
        driver.start(name);
    }

    /// Returns whether the engine has a thread of its own.
    public boolean hasThread() {
        return driver.hasThread();
    }

    public EngineCounters counters() {
        return counters;
    }

    public Link link() {
        return work.link();
    }

    /// Wraps the link, or unwraps it, while nothing is under way; as a command. The wrapper forwards sleep and
    /// wake-up, so that a wake-up reaches a thread that sleeps in either link.
    public void relink(UnaryOperator<Link> change) {
        assert isCommand() : "as a command";
        work.link(change.apply(work.link()));
    }

    /// Returns the congestion windows of its reliable connections to each peer; for the owner only.
    public PeerWindows windows() {
        return windows;
    }

    /// Returns the frames that its reliable connections use to keep packets that have come ahead of a gap; for the
    /// owner only.
    public SpareFrames spareFrames() {
        return spareFrames;
    }

    public long nowNanos() {
        return clock.getAsLong();
    }

    /// Returns why the engine has stopped, when it or its link is broken; null while it works. Commands still run
    /// after a failure.
    public @Nullable Throwable failure() {
        return containment.failure();
    }

    /// Stops the engine, because it cannot go on. A failure that cannot be contained in one engine stops the others
    /// of its device by this method.
    public void fail(Throwable cause) {
        containment.fail(cause);
    }

    /// Counts and reports a failure in the code of one queue pair, one stream or one command, which ends alone. By
    /// the owner.
    public void contained(Throwable cause) {
        containment.contained(cause);
    }

    // ---- threads of the application

    /// Reports that requests were posted on this queue pair. When no other thread owns the engine, they are sent on
    /// the caller's thread: at once, or with the caller's next posts ([Burst]). An engine without a thread only
    /// records them.
    ///
    /// @param requests how many requests
    /// @param bytes that leave with them
    /// @param needNoPackets whether that may be so ([verbena.transport.queue.SendRequest#mayNeedNoPackets()])
    public void ring(EngineTask task, int requests, long bytes, boolean needNoPackets) {
        Shortcut shortcut = task.shortcut;
        if (needNoPackets && shortcut != null && shortcut.mayCarryOut() && driver.carryOut(task, shortcut)) {
            return;
        }
        VarHandle.fullFence(); // the requests are there before the doorbell is looked at: it may have rung already
        doorbells.ring(task);
        driver.posted(requests, bytes);
    }

    /// Reports that the caller has taken a completion without driving the engine. This keeps its posted requests
    /// from waiting for ever.
    public void polled() {
        driver.polled();
    }

    /// Does a piece of work for a thread that polls in vain, unless another thread works already; returns whether
    /// anything was done. An engine without a thread of its own is driven by [#step()] only.
    public boolean drive() {
        return driver.drive();
    }

    /// Does a piece of work for an engine without a thread; returns how much was done. Throws the failure, if there
    /// is one.
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

    /// Returns when [#step()] will have something to do even if nothing arrives: [verbena.transport.Protocol#NEVER]
    /// for never, [Long#MIN_VALUE] for now.
    public long deadlineNanos() {
        return work.deadlineNanos();
    }

    /// Tells the engine that the caller will not poll for now: the attendant takes over at once.
    public void handOver() {
        driver.handOver();
    }

    /// Spins, driving the engine, until `isOver` is true, `policy` stops it, or the time is over. Returns at once
    /// when another thread spins already.
    ///
    /// @param nanos how long at most, counted from `start`
    public void look(SpinPolicy policy, BooleanSupplier isOver, long start, long nanos) {
        if (!hasLooker.compareAndSet(false, true)) {
            return;
        }
        try {
            long now;
            do {
                boolean worked = false;
                for (int i = 0; i < Tuning.LOOKS_AT_ONCE && !worked; i++) {
                    if (isOver.getAsBoolean()) {
                        return;
                    }
                    worked = drive();
                }
                if (worked && isOver.getAsBoolean()) {
                    return;
                }
                Thread.onSpinWait();
                now = clock.getAsLong();
                if (worked) {
                    policy.worked(now);
                }
            } while (policy.looksAgain(now) && now - start < nanos);
        } finally {
            hasLooker.setRelease(false);
        }
    }

    /// Counts threads of the application that wait for something from the engine and park until another thread
    /// wakes them.
    ///
    /// @param change 1 when the caller begins to wait, -1 when its wait has ended
    public void parked(int change) {
        driver.parked(change);
    }

    /// Attends in place of the engine's thread until `isOver` is true, the engine has ended, or the time is over. A
    /// change that makes `isOver` true happens in a piece of work of this engine, or is followed by [#wakeGuest()].
    ///
    /// @param nanos how long at most
    /// @param givesWay for a caller that waits for something rare: it gives the place away, and returns, when a
    ///     thread wants it that waits for completions
    /// @return false when the caller cannot attend: other threads wait or attend, or the caller is a virtual
    ///     thread, which must not block in the kernel
    public boolean attend(BooleanSupplier isOver, long nanos, boolean givesWay) throws InterruptedException {
        return driver.attend(isOver, nanos, givesWay);
    }

    /// The result of [#visit] when the caller has to wait by other means.
    public static final int ELSEWHERE = Driver.ELSEWHERE;

    /// Attends as [#attend] does, for a caller that sleeps by a system call of its own. Returns when the caller
    /// should call poll(2); the same thread then calls this method again, or [ends the visit][#endVisit()]. No
    /// method of Verbena is on its stack meanwhile. If the thread never returns, the device can still be closed,
    /// but does nothing else.
    ///
    /// @param pollfds where to put the `struct pollfd`s; holds the result of poll(2) when the caller comes again
    /// @return the number of `struct pollfd`s; zero when the wait is over, or nearly over; [#ELSEWHERE] when the
    ///     caller cannot visit, or no longer can. The last two results end the visit
    public int visit(BooleanSupplier isOver, MemorySegment pollfds) {
        return driver.visit(isOver, pollfds);
    }

    /// Ends this thread's [visit][#visit]; does nothing when the thread does not visit.
    public void endVisit() {
        driver.endVisit();
    }

    /// Wakes a thread in [#attend] because another thread may have brought the event that it waits for.
    public void wakeGuest() {
        driver.wakeGuest();
    }

    // ---- commands

    /// Runs `command` as the owner and returns its result; throws what the command throws. Takes no longer than the
    /// current piece of work.
    public <T> T call(Supplier<T> command) {
        return call(command, () -> {});
    }

    /// Runs `command` as the owner and returns its result, as [#call(Supplier)] does.
    ///
    /// @param meanwhile called repeatedly while this thread waits for the owner, because the owner may be waiting
    ///     for it
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
                LockSupport.parkNanos(this, Tuning.COMMAND_NANOS);
                interrupted |= Thread.interrupted();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return task.result();
    }

    /// Returns whether this thread owns the engine.
    public boolean isMine() {
        return ownership.isMine();
    }

    /// Returns whether this thread is alone with the engine: it owns it, or the engine is closed.
    private boolean isCommand() {
        return isMine() || (ownership.isOver() && Thread.holdsLock(ownership));
    }

    /// Runs the waiting commands, for an owner that has called the program and now waits there for another thread.
    /// One of the commands may be that thread's. False when this thread is not the owner.
    public boolean help() {
        if (!isMine()) {
            return false;
        }
        int _ = commands.run(Integer.MAX_VALUE);
        return true;
    }

    /// Runs a command on the caller's thread, because the engine is closed. One caller at a time does so, and waits
    /// for a last owner that still runs it.
    private void runAfterTheEnd(Commands.Task<?> task) {
        synchronized (ownership) {
            commands.run(task);
        }
    }

    /// Runs `command` as the owner, later. It does not run on the caller's thread, which may own another engine and
    /// be in the middle of its work, unless the caller owns this engine.
    public void later(Runnable command) {
        commands.add(command);
        if (!isMine()) {
            driver.call();
        }
    }

    /// Runs `command` as the owner: now when the caller is the owner, otherwise later.
    public void execute(Runnable command) {
        if (isMine()) {
            command.run();
        } else {
            later(command);
        }
    }

    // ---- queue pairs

    /// Claims what only one device at a time can use ([Claimable]). Any thread.
    ///
    /// @throws DeviceException when another device has it
    public void claim(String verb) {
        try {
            Claimable claimed = link().service(Claimable.class);
            if (claimed != null) {
                claimed.claim();
            }
        } catch (LinkException e) {
            throw new DeviceException(verb + ": " + e.getMessage(), e);
        }
    }

    /// Returns how many queue pairs there are. Any thread.
    public int size() {
        return tasks.size();
    }

    /// Creates a queue pair under a fresh number; returns -1 when there are too many. Any thread.
    public int add(IntFunction<EngineTask> make) {
        return tasks.add(make);
    }

    /// Removes a queue pair; as a command.
    public void remove(int qpn, EngineTask task) {
        assert isCommand() : "as a command";
        inbound.detachFromAll(link(), task);
        tasks.remove(qpn);
        outbound.remove(task);
    }

    /// Hands what has arrived, and is no packet, to a queue pair, which then has its turn. What the queue pair's
    /// code throws ends that queue pair alone. For the owner.
    ///
    /// @return false when there is no such queue pair, or it does not take this
    public boolean hand(int qpn, EngineTask.Arrival arrival) {
        return inbound.hand(qpn, arrival);
    }

    /// Hands packets for queue pair 1 to `task` from now on. Null drops them, as an engine does at first. As a
    /// command.
    public void generalServices(@Nullable EngineTask task) {
        assert isCommand() : "as a command";
        inbound.generalServices(task);
    }

    /// Attaches a queue pair to a multicast group, whose packets it receives from now on; as a command. Does
    /// nothing when the queue pair is attached already.
    ///
    /// @throws verbena.verbs.ResourceLimitException when there are too many
    /// @throws verbena.nic.link.LinkException when the link cannot become a member
    public void attach(EngineTask task, Gid gid) {
        assert isCommand() : "as a command";
        inbound.attach(link(), task, gid);
    }

    /// Detaches a queue pair from a multicast group; false when it was not attached. As a command.
    public boolean detach(EngineTask task, Gid gid) {
        assert isCommand() : "as a command";
        return inbound.detach(link(), task, gid);
    }

    /// Ensures that the queue pair is polled for packets; as a command.
    public void makeReady(EngineTask task) {
        assert isCommand() : "as a command";
        outbound.makeReady(task);
    }

    /// Sends what is ready, ends the thread and closes the link. Waits for the owner's piece of work to end.
    @Override
    public void close() {
        boolean interrupted = driver.end();
        while (!ownership.tryEnd()) {
            LockSupport.parkNanos(this, Tuning.COMMAND_NANOS);
            interrupted |= Thread.interrupted();
        }
        synchronized (ownership) { // see runAfterTheEnd
            work.sendRemaining();
        }
        link().close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
