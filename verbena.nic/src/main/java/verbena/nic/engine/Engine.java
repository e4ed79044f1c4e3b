package verbena.nic.engine;

import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.Link;
import verbena.transport.Counter;
import verbena.transport.Counters;
import verbena.transport.PacketFate;
import verbena.transport.PeerWindows;
import verbena.transport.Protocol;
import verbena.transport.memory.KeyTable;
import verbena.verbs.Gid;
import verbena.verbs.ResourceLimitException;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;

/// Owns the state of all queue pairs of a device and drives them: packets from the link to their queue pair,
/// packets of queue pairs to the link, deadlines, commands of the application.
///
/// One [#doWork(long)] does a bounded piece of all that. Whoever owns the engine may call it: the engine's own
/// thread, a thread of the application that polls an empty completion queue ([#drive()]) or has just posted, or,
/// when the engine has no thread, the simulator. There is no other code path.
///
/// # Why no wake-up is lost
///
/// Whoever leaves work (a doorbell, a command) makes it visible first and then tries to own the engine. An owner
/// gives the ownership back first and then looks for work left meanwhile. The attendant says `sleeping`
/// first, then looks for work and for others that have owned since, and only then sleeps; whoever has owned counts
/// `turns` first and then looks at `sleeping`. All of these are volatile and so have one order that all agree on:
/// in it, one side of each pair sees the other.
///
/// # Why no doorbell is forgotten
///
/// A thread that posts may leave a doorbell on the list without owning the engine ([Burst]), so that it leaves together
/// with the next ones. It puts the doorbell on the list first and then looks at `sleeping`; the attendant says
/// `sleeping` first and then looks at the list. So either the poster sends, or the attendant does not go to sleep in
/// the link. An attendant that stays away looks at the list each time that it looks whether threads still poll, which
/// is within [#STAY_AWAY_NANOS_OFTEN], and sends what a thread has forgotten.
///
/// # The attendant
///
/// One thread at a time attends: it looks after arrivals and deadlines, and sleeps in the link. At first that is the
/// engine's own thread. A thread of the application that waits for a completion takes its place ([#attend]), so
/// that a message wakes one thread, not two. When that thread leaves with its completion, the place stays empty for
/// a moment: the same thread is likely to come back. If it does not, the engine's thread takes the place again,
/// within [#STAY_AWAY_NANOS_OFTEN]; at once when other threads wait.
///
/// # What an exception ends
///
/// An exception in the code of one queue pair ends that queue pair ([Station.Owner]), and is counted and logged. Only
/// one that belongs to no queue pair and no command, in the link for example, stops the engine and its device.
///
/// # What silence is
///
/// A deadline counts only when everything that arrived before it has been looked at. So a peer is taken for dead only
/// when it was silent, not because this process was stopped or had no processor.
public final class Engine implements AutoCloseable {
    /// The destination queue pair of every multicast (IBTA 9.2.4).
    private static final int MULTICAST_QPN = 0xFF_FFFF;
    /// The queue pair of management datagrams (IBTA 3.9.3); the table never has such a number.
    private static final int GENERAL_SERVICES_QPN = 1;
    /// Frames received, and frames sent, in one piece of work at most.
    private static final int BATCH = 64;
    /// Frames that one queue pair may fill before the next has its turn.
    private static final int TURN = 16;
    /// Commands carried out in one piece of work at most.
    private static final int COMMANDS = 64;
    /// Pieces of work that a poster does for what it posted before it leaves the rest to the engine's thread.
    private static final int POSTER_PIECES = 4;
    /// And a poller, for what has arrived: one that receives, one that answers.
    private static final int POLLER_PIECES = 2;
    /// Of so many pieces of work in a row one receives.
    private static final int SENDS_ONLY_MAX = 8;
    /// Arrivals behind which more are likely to wait.
    private static final int MANY = 16;
    /// Pieces of work in a row that look at nothing but arrivals, at most.
    private static final int RECEIVES_ONLY_MAX = 2;
    /// After so many polls in vain, some 30 µs, a poller lets others have the processor: who shares it may be the
    /// one that it waits for.
    private static final int YIELD_POLLS = 64;
    /// A thread of the application that waits for the place of the engine's thread looks so often, when no
    /// other thread wakes it.
    private static final long HEIR_NANOS = 1_000_000;
    /// The answers to so many packets may wait for what a poller without pause does next.
    private static final int FEW = 2;
    /// Batches that may still leave when the engine is closed.
    private static final int LAST_BATCHES = 256;
    /// An acknowledgement, BTH through ICRC.
    private static final int ACKNOWLEDGEMENT_BYTES = Packet.length(Opcode.RC_ACKNOWLEDGE, 0);
    /// When the way out is full, try again after this.
    private static final long FULL_NANOS = 50_000;
    /// Pieces of work in a row that leave deadlines for later because more may have arrived before them; what they
    /// receive is more than a socket's buffer holds.
    private static final int DEADLINES_LATER_MAX = 64;
    /// Each time that the engine is taken then, it waits twice as long, so many times at most: on one processor the
    /// owner may be the one that has to run.
    private static final int IN_VAIN_MAX = 4;
    /// How long the caller of a command waits before it looks again whether it can help.
    private static final long COMMAND_NANOS = 20_000;

    // While threads of the application do the engine's work, its own thread stays away: at first for MIN, then twice
    // as long each time, up to MAX, or OFTEN when they come so often that they are not likely to stop. So long, at
    // most,
    // do packets wait when they suddenly do.
    private static final long STAY_AWAY_NANOS_MIN = 250_000;
    private static final long STAY_AWAY_NANOS_MAX = 1_000_000;
    private static final long STAY_AWAY_NANOS_OFTEN = 4_000_000;
    /// Often: once in this time, on the average.
    private static final long OFTEN_NANOS = 100_000;
    /// Without pause: at least one poll in this time, on the average.
    private static final long POLL_INTERVAL_NANOS = 25_000;
    /// And so many at least.
    private static final int POLLS_MIN = 8;

    private static final VarHandle OWNER;
    private static final VarHandle RUNG;
    private static final VarHandle POLLS;
    private static final VarHandle FINDS;

    static {
        try {
            var lookup = MethodHandles.lookup();
            OWNER = lookup.findVarHandle(Engine.class, "owner", Thread.class);
            RUNG = lookup.findVarHandle(Engine.class, "rung", Station.class);
            POLLS = lookup.findVarHandle(Engine.class, "polls", long.class);
            FINDS = lookup.findVarHandle(Engine.class, "finds", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /// Owns an engine that is closed, for ever.
    private static final Thread NOBODY = Thread.ofPlatform().unstarted(() -> {});

    /// Changed by an owner only. Others may see an older one for a while: it ends at the same link ([#relink]).
    private Link link;
    private final LongSupplier clock;
    private final KeyTable<Station> stations;
    private final Listener listener;
    private final SearchAlarm searchAlarm = new SearchAlarm();
    private final Counters counters = new Counters();
    private final Arena arena = Arena.ofAuto();
    private final Frame[] arrivals;
    private final Frame[] departures;
    private int departuresFrom;
    private int departuresTo;

    private final ArrayDeque<Station> ready = new ArrayDeque<>();
    private final DeadlineHeap deadlines = new DeadlineHeap();
    private final MulticastGroups groups = new MulticastGroups();
    private final PeerWindows windows = new PeerWindows();
    private final ConcurrentLinkedQueue<Task<?>> commands = new ConcurrentLinkedQueue<>();
    private @Nullable Station generalServices;

    private @Nullable Thread thread;
    private volatile boolean closed;
    private volatile @Nullable Throwable failure;
    private boolean lastWordsSaid;
    /// Packets received in the last piece of work.
    private int arrived;
    /// Pieces of work in a row that have left deadlines for later.
    private int deadlinesLater;
    /// Pieces of work since the last that received.
    private int sendsOnly;
    private int receivesOnly;
    /// The attendant is in the link, or about to be.
    private volatile boolean sleeping;
    /// When it means to wake by itself.
    private volatile long wakeNanos = Protocol.NEVER;
    /// How often the engine was owned. Written by owners only.
    private volatile long turns;
    /// How often pollers have driven. Written by owners, read by the attendant as a hint.
    @SuppressWarnings("UnusedVariable") // by VarHandle
    private long polls;
    /// How often they have found something to do; a guess.
    @SuppressWarnings("UnusedVariable") // by VarHandle
    private long finds;
    /// Polls that have found nothing to do, since one did; a guess.
    private int polledInVain;
    /// The attendant stays away because of a poller, or the engine's thread because of a guest.
    private volatile boolean away;
    /// A poller has said that it stops, or a guest has left while others wait.
    private volatile boolean handedOver;
    /// The engine's thread, or a guest; null for a moment when a guest has left.
    private final AtomicReference<@Nullable Thread> attendant = new AtomicReference<>();
    /// A thread that wants to attend in place of the engine's thread.
    private final AtomicReference<@Nullable Thread> heir = new AtomicReference<>();
    /// How often guests have come. Written by the attendant.
    private volatile long visits;
    /// The engine's thread sleeps until the guest leaves.
    private volatile boolean offDuty;
    /// Threads that wait for completions and do not attend: each needs another thread to wake it.
    private final AtomicInteger parked = new AtomicInteger();
    /// A thread looks again and again before it sleeps: one is enough.
    private final AtomicBoolean hasLooker = new AtomicBoolean();

    private final Burst burst = new Burst();

    private final InterruptBell interruptBell = new InterruptBell(this::wakeGuest);

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private volatile @Nullable Thread owner;

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private @Nullable Station rung;

    /// What an engine tells its device; called by the engine's owner, which does not go on meanwhile.
    public interface Listener {
        /// It is impossible to go on. Once.
        void onFailure(Throwable cause);

        /// The code of one queue pair, or a command that nobody waits for, has failed. The engine goes on.
        void onContained(Throwable cause);

        /// Somebody tries numbers of queue pairs or keys of theirs; at most every 10 s.
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
    public Engine(Link link, LongSupplier clock, KeyTable<Station> stations, Listener listener) {
        this.link = link;
        this.clock = clock;
        this.stations = stations;
        this.listener = listener;
        this.arrivals = Frame.allocate(arena.allocate((long) BATCH * Frame.SLOT_BYTES, 64));
        this.departures = Frame.allocate(arena.allocate((long) BATCH * Frame.SLOT_BYTES, 64));
    }

    /// Gives the engine a thread of its own.
    public void start(String name) {
        Thread own = new Thread(this::run, name);
        own.setDaemon(true);
        thread = own;
        own.start();
    }

    /// Whether the engine has a thread of its own.
    public boolean hasThread() {
        return thread != null;
    }

    public Counters counters() {
        return counters;
    }

    public Link link() {
        return link;
    }

    /// Puts something around the link, or takes it away, while nothing is under way; as a command. What is around
    /// it forwards sleep and wake-up, so that a thread in the one hears of the other.
    public void relink(UnaryOperator<Link> change) {
        link = change.apply(link);
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
        return failure;
    }

    // ---- any thread

    /// Something was posted on this queue pair. Sends it on the caller's thread when no other thread owns the engine:
    /// at once, or with what the caller posts next ([Burst]). An engine without a thread only takes note.
    ///
    /// @param requests how many
    /// @param bytes of their messages, all together
    public void ring(Station station, int requests, long bytes) {
        // The first ring since the last answer puts it on the list; the answer comes before the look at what was
        // posted (see Station.answer).
        if (station.ring()) {
            Station head;
            do {
                head = (Station) RUNG.getVolatile(this);
                station.nextRung = head;
            } while (!RUNG.compareAndSet(this, head, station));
        }
        if (thread == null) {
            return;
        }
        // A doorbell may wait only while no thread sleeps in the link: see "Why no doorbell is forgotten".
        boolean mayWait = burst.mayWait(Thread.currentThread().threadId(), requests, bytes, clock.getAsLong());
        if (!mayWait || sleeping) {
            workNow();
        }
    }

    /// The caller has found a completion without a look at the engine: what it has posted does not wait for ever.
    public void polled() {
        if (RUNG.getOpaque(this) != null && burst.isOver(clock.getAsLong())) {
            workNow();
        }
    }

    private void workNow() {
        if (thread != null && failure == null && tryOwn()) {
            work(POSTER_PIECES, false);
        }
    }

    /// For a thread that polls in vain: does a piece of work when nobody else is at it; true when something was
    /// done. Without a thread of its own the engine is driven by [#step()] only.
    @SuppressWarnings("ThreadPriorityCheck") // no more than a courtesy
    public boolean drive() {
        if (thread == null || failure != null) {
            return false;
        }
        burst.end(Thread.currentThread().threadId());
        if (!tryOwn()) {
            return false;
        }
        POLLS.setOpaque(this, (long) POLLS.getOpaque(this) + 1);
        boolean any = work(POLLER_PIECES, true);
        if (any) {
            FINDS.setOpaque(this, (long) FINDS.getOpaque(this) + 1);
            polledInVain = 0;
        } else if (++polledInVain % YIELD_POLLS == 0) {
            Thread.yield();
        }
        return any;
    }

    /// Does a piece of work for an engine without a thread; returns how much was done. What goes wrong is thrown.
    public int step() {
        if (!tryOwn()) {
            return 0;
        }
        try {
            return doWork(clock.getAsLong());
        } finally {
            disown();
        }
    }

    /// The caller will not poll any more for now: the attendant takes over at once.
    public void handOver() {
        Thread own = thread;
        if (own != null && !handedOver) {
            handedOver = true;
            if (away) {
                Thread now = attendant.get();
                LockSupport.unpark(now == null ? own : now);
            }
        }
    }

    /// Looks again and again for what the caller waits for, and drives, until `isOver`, `policy` says that it is
    /// enough,
    /// or the time has come. At once when another thread does that already.
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
        parked.getAndAdd(change);
        if (change > 0) {
            handOver();
        }
    }

    /// Attends in place of the engine's thread until `isOver`, the engine has ended, or the time has come. What makes
    /// it over happens in a piece of work of this engine, or is followed by [#wakeGuest()].
    ///
    /// @param nanos how long at most
    /// @return false when that cannot be: others wait, or attend, or the caller is a virtual thread, which must not
    ///     block in the kernel
    public boolean attend(BooleanSupplier isOver, long nanos) throws InterruptedException {
        Thread me = Thread.currentThread();
        long now = clock.getAsLong();
        long untilNanos = nanos < Protocol.NEVER - Math.max(0, now) ? now + nanos : Protocol.NEVER;
        if (thread == null || me.isVirtual() || isMine() || !takeOver(me, isOver, untilNanos)) {
            return false;
        }
        interruptBell.expect();
        try {
            attend(isOver, untilNanos, null);
        } finally {
            interruptBell.forget();
            leave();
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return true;
    }

    /// Waits until the engine's thread has left its place; not for another guest.
    private boolean takeOver(Thread me, BooleanSupplier isOver, long untilNanos) {
        while (isAlive() && parked.get() == 0) {
            Thread now = attendant.get();
            if (now == null && attendant.compareAndSet(null, me)) {
                long before = visits;
                visits = before + 1; // only the attendant writes
                heir.compareAndSet(me, null);
                return true;
            }
            if ((now != null && now != thread) || (heir.get() != me && !heir.compareAndSet(null, me))) {
                break;
            }
            if (sleeping) {
                link.wakeup();
            }
            if (away) {
                LockSupport.unpark(thread);
            }
            if (attendant.get() != null) {
                LockSupport.parkNanos(this, HEIR_NANOS);
            }
            if (isOver.getAsBoolean() || me.isInterrupted() || clock.getAsLong() >= untilNanos) {
                break;
            }
        }
        heir.compareAndSet(me, null);
        return false;
    }

    private void leave() {
        attendant.set(null);
        boolean othersWait = parked.get() > 0;
        if (othersWait) {
            handedOver = true;
        }
        if (othersWait || offDuty) {
            LockSupport.unpark(thread);
        }
    }

    /// What a thread waits for in [#attend] may have come, by another thread's doing.
    public void wakeGuest() {
        Thread now = attendant.get();
        if (now == thread) {
            LockSupport.unpark(heir.get());
            return;
        }
        if (now == null || now == Thread.currentThread()) {
            return;
        }
        if (sleeping) {
            link.wakeup();
        }
        LockSupport.unpark(now);
    }

    /// The owner, not the engine's thread: works until there is nothing left or `pieces` are done, and gives the
    /// ownership back.
    private boolean work(int pieces, boolean polling) {
        boolean any = false;
        for (int left = pieces; ; ) {
            boolean more = false;
            try {
                countTurn();
                long now = clock.getAsLong();
                any |= doWork(now, polling) > 0;
                long due = dueNanos(now);
                // Few answers wait for the poller's next step: it is about to post, or polls again. If it does not, the
                // engine's thread, which is away and not asleep, comes within STAY_AWAY_NANOS_OFTEN.
                more = due <= now && !(polling && away && arrived <= FEW);
                if (sleeping && due < wakeNanos && (!more || left <= 1)) {
                    link.wakeup(); // the engine's thread would sleep past what is new
                }
            } catch (RuntimeException | Error e) {
                fail(e);
                return any;
            } finally {
                disown();
            }
            left--;
            if (left <= 0 && more && !polling) {
                handOver(); // a poller comes again; a poster perhaps not
            }
            if (!(hasWork() || (more && left > 0)) || !tryOwn()) {
                return any;
            }
        }
    }

    /// Runs `command` as the owner and gives back its result; what it throws is thrown here. Takes no longer than
    /// the present piece of work.
    public <T> T call(Supplier<T> command) {
        return call(command, () -> {});
    }

    /// The same.
    ///
    /// @param meanwhile called again and again while this thread waits for the owner, who may be waiting for it
    public <T> T call(Supplier<T> command, Runnable meanwhile) {
        if (isMine()) {
            return command.get();
        }
        var task = new Task<>(command, Thread.currentThread());
        commands.add(task);
        boolean interrupted = false;
        while (!task.done) {
            if (tryOwn()) {
                runCommands();
            } else if (OWNER.getVolatile(this) == NOBODY) {
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
        return OWNER.getOpaque(this) == Thread.currentThread();
    }

    /// For an owner that has called the program back, and now waits for another thread there: carries out the
    /// commands that wait, one of which may be that thread's. False when this thread is not the owner.
    public boolean help() {
        if (!isMine()) {
            return false;
        }
        for (Task<?> command = commands.poll(); command != null; command = commands.poll()) {
            carryOut(command);
        }
        return true;
    }

    /// The engine is closed: a caller carries its command out itself, one caller at a time, unless the last owner is
    /// still at it.
    private void runAfterTheEnd(Task<?> task) {
        synchronized (arena) {
            if (commands.remove(task)) {
                carryOut(task);
            }
        }
    }

    /// The owner: commands only, and gives the ownership back.
    private void runCommands() {
        boolean more;
        try {
            countTurn();
            drainCommands();
            long due = dueNanos(clock.getAsLong());
            more = due == Long.MIN_VALUE;
            if (sleeping && due < wakeNanos) {
                link.wakeup();
            }
        } finally {
            disown();
        }
        if (more || hasWork()) {
            workNow();
        }
    }

    /// Runs `command` as the owner, later. Not on the caller's thread, which may own another engine and be in the
    /// middle of something there, unless it owns this one.
    public void later(Runnable command) {
        commands.add(new Task<>(
                () -> {
                    command.run();
                    return true;
                },
                null));
        if (OWNER.getOpaque(this) == Thread.currentThread()) {
            return;
        }
        if (sleeping) {
            link.wakeup();
        } else {
            handOver();
        }
    }

    /// Runs `command` as the owner: now when the caller is that, else later.
    public void execute(Runnable command) {
        if (OWNER.getOpaque(this) == Thread.currentThread()) {
            command.run();
        } else {
            later(command);
        }
    }

    private static final class Task<T> {
        private final Supplier<T> command;
        private final @Nullable Thread caller;
        private @Nullable T value;
        private @Nullable Throwable thrown;
        volatile boolean done;

        Task(Supplier<T> command, @Nullable Thread caller) {
            this.command = command;
            this.caller = caller;
        }

        void run() {
            try {
                value = command.get();
            } catch (RuntimeException | Error e) {
                if (caller == null) {
                    throw e;
                }
                thrown = e;
            }
            done = true; // publishes the result
            if (caller != null && !caller.equals(Thread.currentThread())) {
                LockSupport.unpark(caller);
            }
        }

        @SuppressWarnings("NullAway") // null only when the command gave null
        T result() {
            return switch (thrown) {
                case null -> value;
                case RuntimeException e -> throw e;
                case Error e -> throw e;
                case Throwable e -> throw new AssertionError("a command throws nothing checked", e);
            };
        }
    }

    private void countTurn() {
        long before = turns;
        turns = before + 1; // only owners write
    }

    /// It is impossible to go on. What cannot be repaired in one engine ends the others of its device by this.
    public void fail(Throwable cause) {
        synchronized (commands) {
            if (failure != null) {
                return;
            }
            failure = cause;
        }
        listener.onFailure(cause);
    }

    // ---- the owner's

    /// How many queue pairs there are. Any thread.
    public int size() {
        return stations.size();
    }

    /// Makes a queue pair under a fresh number; -1 when there are too many. Any thread.
    public int add(IntFunction<Station> make) {
        return stations.add(make);
    }

    /// Takes a queue pair out; as a command.
    public void remove(int qpn, Station station) {
        groups.of(station).forEach(group -> detach(station, group));
        stations.remove(qpn);
        station.isGone = true;
        deadlines.remove(station);
    }

    /// Hands what comes to queue pair 1 to `station` from now on; null: drops it, which it does at first. As a
    /// command.
    public void generalServices(@Nullable Station station) {
        generalServices = station;
    }

    /// Hands what is sent to a multicast group to a queue pair too; as a command. Nothing changes when it is
    /// attached already.
    ///
    /// @throws ResourceLimitException when there are too many
    /// @throws verbena.nic.link.LinkException when the link cannot become a member
    public void attach(Station station, Gid gid) {
        MulticastGroups.Group group = groups.find(gid.high(), gid.low());
        if (group == null) {
            if (!groups.hasRoom()) {
                throw new ResourceLimitException(
                        "attachMulticast", "maxMulticastGroups", MulticastGroups.GROUPS_MAX, "leave some");
            }
            link.join(gid);
            group = groups.add(gid);
        }
        if (group.stations.contains(station)) {
            return;
        }
        if (group.stations.size() == MulticastGroups.ATTACHED_MAX) {
            throw new ResourceLimitException(
                    "attachMulticast",
                    "maxMulticastQpAttach",
                    MulticastGroups.ATTACHED_MAX,
                    "so many are attached to " + gid);
        }
        group.stations.add(station);
    }

    /// Ends that; false when it was not so. As a command.
    public boolean detach(Station station, Gid gid) {
        MulticastGroups.Group group = groups.find(gid.high(), gid.low());
        return group != null && detach(station, group);
    }

    private boolean detach(Station station, MulticastGroups.Group group) {
        boolean was = group.stations.remove(station);
        if (group.stations.isEmpty()) {
            groups.remove(group);
            link.leave(group.gid);
        }
        return was;
    }

    /// Sees to it that the queue pair is asked for packets; as a command.
    public void makeReady(Station station) {
        if (!station.isReady && !station.isGone && !station.isLost) {
            station.isReady = true;
            ready.add(station);
        }
    }

    /// Does a bounded piece of work; returns how much was done, 0 when there was nothing to do.
    ///
    /// Departures come before arrivals: whoever has posted waits for nothing, and what answers an arrival leaves
    /// with the next piece, together with what the arrival makes the application post.
    public int doWork(long now) {
        return doWork(now, true);
    }

    /// @param receiving whether to receive in any case. Otherwise, whoever has sent something leaves that to the
    ///     next piece, for a while: to ask for arrivals costs as much as much of a batch
    private int doWork(long now, boolean receiving) {
        if (arrived >= MANY && receivesOnly < RECEIVES_ONLY_MAX && commands.isEmpty()) {
            // One acknowledgement for all of them, not one for each batch.
            receivesOnly++;
            arrived = receive(now);
            return Math.max(1, arrived);
        }
        receivesOnly = 0;
        int done = drainCommands();
        boolean isDue = deadlines.earliestNanos() <= now;
        if (isDue) {
            done += moveArrivals(now);
            if ((arrived < BATCH && !link.mayHaveMore()) || ++deadlinesLater == DEADLINES_LATER_MAX) {
                deadlinesLater = 0;
                done += drainDeadlines(now);
            }
        }
        int sent = depart(now);
        done += sent;
        if (!isDue && (receiving || sent == 0 || ++sendsOnly == SENDS_ONLY_MAX)) {
            done += moveArrivals(now);
        }
        return done;
    }

    /// What was posted leaves.
    private int depart(long now) {
        drainDoorbells();
        return send(now);
    }

    private int moveArrivals(long now) {
        sendsOnly = 0;
        arrived = receive(now) + link.moveStreams(now);
        return arrived;
    }

    /// When there will be something to do though nothing arrives: [Protocol#NEVER], or [Long#MIN_VALUE] for now.
    public long deadlineNanos() {
        return hasWork() ? Long.MIN_VALUE : dueNanos(clock.getAsLong());
    }

    /// What was posted, and what answers arrivals, leaves before anything is changed: a queue pair that is closed as
    /// soon as a message has come, for example, has still acknowledged it.
    private int drainCommands() {
        if (commands.isEmpty()) {
            return 0;
        }
        drainDoorbells();
        if (!ready.isEmpty() && failure == null) {
            try {
                int _ = send(clock.getAsLong());
            } catch (RuntimeException e) {
                fail(e);
            }
        }
        int n = 0;
        while (n < COMMANDS) {
            Task<?> command = commands.poll();
            if (command == null) {
                break;
            }
            carryOut(command);
            n++;
        }
        return n;
    }

    private void carryOut(Task<?> command) {
        try {
            command.run();
        } catch (RuntimeException | Error e) {
            contained(e); // nobody waits for it: a caller would have been told
        }
    }

    private int receive(long now) {
        int n = link.receive(arrivals, 0, BATCH);
        for (int i = 0; i < n; i++) {
            if (i + 1 < n && isBeforeItsAcknowledgement(arrivals[i], arrivals[i + 1])) {
                exchange(arrivals, i);
            }
            Frame frame = arrivals[i];
            counters.count(Counter.RECEIVED_PACKETS);
            counters.add(Counter.RECEIVED_BYTES, frame.length);
            PacketFate fate = dispatch(frame, now);
            frame.fate = fate.ordinal();
            counters.count(fate);
            if (fate.isGuess() && searchAlarm.isSearch(now)) {
                counters.count(Counter.SEARCHES);
                listener.onSearch(fate, frame.sourceHigh, frame.sourceLow);
            }
        }
        return n;
    }

    /// Whether the peer has let a request and an acknowledgement leave in this order although it came to them in
    /// the other: see [#acknowledgeLast(int)].
    private static boolean isBeforeItsAcknowledgement(Frame request, Frame acknowledgement) {
        if (acknowledgement.length != ACKNOWLEDGEMENT_BYTES || request.length <= ACKNOWLEDGEMENT_BYTES) {
            return false;
        }
        Opcode opcode = Opcode.of(Bth.opcode(request.slot, request.start));
        return opcode != null
                && !opcode.isResponse()
                && Opcode.of(Bth.opcode(acknowledgement.slot, acknowledgement.start)) == Opcode.RC_ACKNOWLEDGE
                && Bth.destinationQp(request.slot, request.start)
                        == Bth.destinationQp(acknowledgement.slot, acknowledgement.start);
    }

    private static void exchange(Frame[] frames, int i) {
        Frame first = frames[i];
        frames[i] = frames[i + 1];
        frames[i + 1] = first;
    }

    private PacketFate dispatch(Frame frame, long now) {
        if (Packet.check(frame) != Malformed.OK) {
            return PacketFate.DROPPED_MALFORMED;
        }
        if (!frame.icrcValid) {
            return PacketFate.DROPPED_ICRC;
        }
        Opcode opcode = Packet.opcode(frame);
        int qpn = Bth.destinationQp(frame.slot, frame.start);
        if (qpn == MULTICAST_QPN) {
            return dispatchToGroup(frame, opcode, now);
        }
        Station station = qpn == GENERAL_SERVICES_QPN ? generalServices : stations.get(qpn);
        if (station == null) {
            return stations.isResting(qpn) ? PacketFate.DROPPED_CLOSED_QP : PacketFate.DROPPED_UNKNOWN_QP;
        }
        return hand(station, frame, opcode, now);
    }

    /// Every queue pair of the group gets the datagram; the packet is accepted when one of them accepts it.
    private PacketFate dispatchToGroup(Frame frame, Opcode opcode, long now) {
        MulticastGroups.Group group = groups.find(frame.destinationHigh, frame.destinationLow);
        if (group == null) {
            return PacketFate.DROPPED_UNKNOWN_QP;
        }
        PacketFate fate = hand(group.stations.getFirst(), frame, opcode, now);
        for (int i = 1; i < group.stations.size(); i++) {
            PacketFate another = hand(group.stations.get(i), frame, opcode, now);
            fate = fate == PacketFate.ACCEPTED ? fate : another;
        }
        return fate;
    }

    private PacketFate hand(Station station, Frame frame, Opcode opcode, long now) {
        if (opcode.transport() != station.transport) {
            return PacketFate.DROPPED_WRONG_SERVICE;
        }
        if (station.isLost) {
            return PacketFate.DROPPED_STATE;
        }
        PacketFate fate;
        try {
            fate = station.protocol.onPacket(frame, opcode, now);
        } catch (RuntimeException | Error e) {
            contain(station, e);
            fate = PacketFate.DROPPED_STATE;
        }
        station.counters.received(frame.length, fate);
        makeReady(station);
        return fate;
    }

    /// The code of this queue pair has failed: it ends, and nothing else does. When even that fails, it is never
    /// called again.
    private void contain(Station station, Throwable cause) {
        contained(cause);
        Station.Owner whose = station.owner;
        if (whose == null) {
            return;
        }
        if (station.isBroken) {
            station.isLost = true;
            return;
        }
        station.isBroken = true;
        try {
            whose.onBroken("internal error, please report it: " + cause);
        } catch (RuntimeException | Error e) {
            contained(e);
            station.isLost = true;
        }
    }

    /// Something has failed in the code of one queue pair, one stream or one command, which ends alone. By the owner.
    public void contained(Throwable cause) {
        counters.count(Counter.CONTAINED_FAILURES);
        listener.onContained(cause);
    }

    private int drainDeadlines(long now) {
        int n = 0;
        for (Station station = deadlines.pollDue(now); station != null; station = deadlines.pollDue(now)) {
            try {
                station.protocol.onDeadline(now);
            } catch (RuntimeException | Error e) {
                contain(station, e);
            }
            schedule(station);
            makeReady(station);
            if (++n == BATCH) {
                break;
            }
        }
        return n;
    }

    private void schedule(Station station) {
        if (station.isLost) {
            deadlines.remove(station);
        } else {
            deadlines.schedule(station);
        }
    }

    private void drainDoorbells() {
        Station station = (Station) RUNG.getVolatile(this);
        if (station == null) {
            return;
        }
        // The list has the newest first; turns are given in the order of the doorbells.
        station = (Station) RUNG.getAndSet(this, null);
        Station oldest = null;
        while (station != null) {
            Station next = station.nextRung;
            station.nextRung = oldest;
            oldest = station;
            station = next;
        }
        while (oldest != null) {
            Station next = oldest.nextRung;
            oldest.answer();
            makeReady(oldest);
            oldest = next;
        }
    }

    private int send(long now) {
        if (departuresFrom == departuresTo) {
            departuresFrom = departuresTo = 0;
            fill(now);
        }
        int n = departuresTo - departuresFrom;
        if (n == 0) {
            return 0;
        }
        int taken = link.transmit(departures, departuresFrom, n);
        for (int i = 0; i < taken; i++) {
            counters.add(Counter.SENT_BYTES, departures[departuresFrom + i].length);
        }
        counters.add(Counter.SENT_PACKETS, taken);
        departuresFrom += taken;
        return taken;
    }

    private void fill(long now) {
        while (departuresTo < BATCH) {
            Station station = ready.poll();
            if (station == null) {
                return;
            }
            int turn = Math.min(TURN, BATCH - departuresTo);
            int first = departuresTo;
            boolean more = true;
            while (turn-- > 0 && more && !station.isGone && !station.isLost) {
                Frame frame = departures[departuresTo];
                try {
                    more = station.protocol.poll(frame, now);
                } catch (RuntimeException | Error e) {
                    contain(station, e);
                    more = false;
                }
                frame.stamp = station.stamp;
                if (more) {
                    departuresTo++;
                    station.counters.sent(frame.length);
                }
            }
            if (station.isGone) {
                station.isReady = false;
                continue;
            }
            acknowledgeLast(first);
            schedule(station);
            station.isReady = more;
            if (more) {
                ready.add(station);
            }
        }
    }

    /// A request and the acknowledgement before it, as in every exchange of small messages, leave in the other
    /// order where they can be one message of the operating system, in which only the last packet may be the
    /// shorter one. The peer turns them around again: a request may break its queue pair, and what it acknowledges
    /// has arrived.
    private void acknowledgeLast(int first) {
        if (departuresTo - first == 2
                && isBeforeItsAcknowledgement(departures[first + 1], departures[first])
                && link.keepsTogether(departures[first + 1], departures[first])) {
            exchange(departures, first);
        }
    }

    private boolean hasWork() {
        return !commands.isEmpty() || RUNG.getVolatile(this) != null;
    }

    // ---- ownership

    private boolean tryOwn() {
        return OWNER.getVolatile(this) == null && OWNER.compareAndSet(this, null, Thread.currentThread());
    }

    private void disown() {
        OWNER.setVolatile(this, null);
    }

    // ---- the attendant

    private boolean isAlive() {
        return !closed && failure == null;
    }

    /// The engine's own thread: attends when no guest does.
    private void run() {
        Thread me = Thread.currentThread();
        var policy = new SpinPolicy();
        while (isAlive()) {
            if (attendant.compareAndSet(null, me)) {
                attend(() -> heir.get() != null, Protocol.NEVER, policy);
                attendant.set(null);
                LockSupport.unpark(heir.get());
            }
            awaitPlace();
        }
    }

    /// The engine's thread, while threads of the application do its work: returns when the place is empty and stays
    /// so, and no thread polls.
    private void awaitPlace() {
        away = true; // before handedOver is read: whoever hands over writes that first and then reads this
        long nanos = STAY_AWAY_NANOS_MIN;
        long visitsBefore = visits;
        long pollsBefore = (long) POLLS.getOpaque(this);
        long findsBefore = (long) FINDS.getOpaque(this);
        while (isAlive() && !handedOver) {
            LockSupport.parkNanos(this, nanos);
            long came = visits - visitsBefore;
            long polled = (long) POLLS.getOpaque(this) - pollsBefore;
            long found = (long) FINDS.getOpaque(this) - findsBefore;
            visitsBefore += came;
            pollsBefore += polled;
            findsBefore += found;
            if (attendant.get() == null && isForgotten()) {
                break;
            }
            if (came > 0 || isPolling(polled, nanos)) {
                nanos = longer(nanos, came + found);
            } else if (attendant.get() == null) {
                break;
            } else {
                offDuty = true; // before the place is looked at: the guest leaves it first and then reads this
                while (attendant.get() != null && isAlive()) {
                    LockSupport.park(this);
                }
                offDuty = false;
                visitsBefore = visits;
                pollsBefore = (long) POLLS.getOpaque(this);
                findsBefore = (long) FINDS.getOpaque(this);
                nanos = STAY_AWAY_NANOS_MIN;
            }
        }
        away = false;
        handedOver = false;
    }

    /// How long to stay away next. Threads that are parked would wait as long.
    ///
    /// @param times how often guests have come, and pollers have found something, in the last `nanos`: when that is
    ///     often, the application works on each message for a short time only
    private long longer(long nanos, long times) {
        boolean isOften = times * OFTEN_NANOS >= nanos && parked.get() == 0;
        return Math.min(2 * nanos, isOften ? STAY_AWAY_NANOS_OFTEN : STAY_AWAY_NANOS_MAX);
    }

    /// The attendant, until `isOver`, the engine has ended, or the time has come. What is ready leaves first.
    ///
    /// @param policy whether to look again and again before sleeping; null: the caller has done that
    private void attend(BooleanSupplier isOver, long untilNanos, @Nullable SpinPolicy policy) {
        long idleSince = 0;
        long pollsBefore = 0;
        boolean idle = false;
        boolean receiving = policy != null;
        boolean isGuest = policy == null;
        boolean looking = false;
        int inVain = 0;
        while (isAlive() && !isOver.getAsBoolean()) {
            if (!tryOwn()) {
                // Whoever it is looks for work when it has finished; but its deadlines may be for us.
                LockSupport.parkNanos(this, FULL_NANOS << Math.min(inVain++, IN_VAIN_MAX));
                if (isGuest && Thread.currentThread().isInterrupted()) {
                    return;
                }
                continue;
            }
            inVain = 0;
            long now;
            long seen;
            boolean isQuiet;
            long until;
            try {
                countTurn();
                now = clock.getAsLong();
                if (receiving) {
                    int _ = doWork(now);
                } else {
                    int _ = depart(now);
                }
                deadlines.settle();
                until = dueNanos(now);
                isQuiet = (arrived == 0 || !receiving) && until > now;
                seen = turns;
            } catch (RuntimeException | Error e) {
                fail(e);
                return;
            } finally {
                disown();
            }
            receiving = true;
            if (isQuiet && !idle) {
                idleSince = now;
                pollsBefore = (long) POLLS.getOpaque(this);
                handedOver = false;
                if (policy != null) {
                    policy.begin(now);
                    looking = policy.looks();
                }
            } else if (!isQuiet && idle && policy != null) {
                policy.end(now);
            }
            idle = isQuiet;
            if (!isQuiet) {
                continue;
            }
            if (now >= untilNanos || (isGuest && Thread.currentThread().isInterrupted())) {
                return;
            }
            looking = looking && policy != null && policy.looksAgain(now);
            if (looking) {
                Thread.onSpinWait();
            } else {
                sleep(now, Math.min(until, untilNanos), seen, isOver);
            }
            long polled = (long) POLLS.getOpaque(this) - pollsBefore;
            if (polled >= POLLS_MIN && isPolling(polled, clock.getAsLong() - idleSince)) {
                if (!isGuest) {
                    return; // leaves the place
                }
                stayAway(isOver);
                idle = false;
            }
        }
    }

    private static boolean isPolling(long polls, long nanos) {
        return polls >= POLLS_MIN && polls * POLL_INTERVAL_NANOS >= nanos;
    }

    /// When there will be something to do that nobody else says; the past when there is something now.
    private long dueNanos(long now) {
        if (link.hasArrivals()) {
            return Long.MIN_VALUE;
        }
        if (departuresFrom < departuresTo) {
            return Math.min(now + FULL_NANOS, deadlines.earliestNanos());
        }
        return ready.isEmpty() ? deadlines.earliestNanos() : Long.MIN_VALUE;
    }

    private void sleep(long now, long until, long seen, BooleanSupplier isOver) {
        wakeNanos = until;
        sleeping = true;
        // Now nobody leaves work without seeing that; what was left before, and deadlines that `until` does not
        // know, are seen here.
        if (!hasWork() && turns == seen && !closed && !isOver.getAsBoolean()) {
            link.await(until == Protocol.NEVER ? -1 : Math.max(0, until - now));
        }
        sleeping = false;
        wakeNanos = Protocol.NEVER;
    }

    /// A guest, while another thread polls without pause and so does the engine's work.
    private void stayAway(BooleanSupplier isOver) {
        long nanos = STAY_AWAY_NANOS_MIN;
        away = true; // before handedOver is read: whoever hands over writes that first and then reads this
        while (!handedOver && !closed && !isOver.getAsBoolean()) {
            long before = (long) POLLS.getOpaque(this);
            LockSupport.parkNanos(this, nanos);
            if (!isPolling((long) POLLS.getOpaque(this) - before, nanos) || isForgotten()) {
                break;
            }
            nanos = Math.min(2 * nanos, STAY_AWAY_NANOS_MAX);
        }
        away = false;
    }

    /// Whether a thread has posted and does not come back.
    private boolean isForgotten() {
        return RUNG.getVolatile(this) != null && burst.isForgotten(clock.getAsLong());
    }

    /// What is ready to leave leaves, as far as there is room at once: that a connection is over, for example.
    private void sayLastWords() {
        if (failure != null || lastWordsSaid) {
            return;
        }
        lastWordsSaid = true;
        try {
            for (int i = 0; i < LAST_BATCHES && send(clock.getAsLong()) > 0; i++) {
                // until nothing is left
            }
        } catch (RuntimeException e) {
            fail(e);
        }
    }

    /// Ends the thread and closes the link, when what is ready has left. Waits for the owner's piece of work to
    /// end.
    @Override
    public void close() {
        closed = true;
        link.wakeup();
        boolean interrupted = false;
        Thread own = thread;
        if (own != null && !own.equals(Thread.currentThread())) {
            LockSupport.unpark(own);
            while (own.isAlive()) {
                try {
                    own.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        while (!OWNER.compareAndSet(this, null, NOBODY)) {
            if (OWNER.getVolatile(this) == NOBODY) {
                break;
            }
            LockSupport.parkNanos(this, COMMAND_NANOS);
            interrupted |= Thread.interrupted();
        }
        synchronized (arena) { // see runAfterTheEnd
            sayLastWords();
        }
        link.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
