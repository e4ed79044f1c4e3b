package verbena.nic.engine;

import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.Link;
import verbena.transport.Counter;
import verbena.transport.Counters;
import verbena.transport.PacketFate;
import verbena.transport.Protocol;
import verbena.transport.memory.KeyTable;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;

/// Owns the state of all queue pairs of a device and drives them: packets from the link to their queue pair, packets
/// of queue pairs to the link, deadlines, commands of the application.
///
/// One [#doWork(long)] does a bounded piece of all that. Whoever holds the ownership, one flag, may call it: the
/// engine's own thread, a thread of the application that finds its completion queue empty ([#drive()]) or has just
/// posted, or the simulator. There is no other code path.
///
/// The engine's thread sleeps in the link while there is nothing to do. Nothing is lost between it and the others,
/// because each side first says what it has (a doorbell, a command; `sleeping`) and then looks at what the other said,
/// all with volatile accesses.
public final class Engine implements AutoCloseable {
    /// Frames received, and frames sent, in one piece of work at most.
    private static final int BATCH = 64;
    /// Frames that one queue pair may fill before the next has its turn.
    private static final int TURN = 16;
    /// While an application drives, the engine's thread stays away for this long at a time.
    private static final long STAY_AWAY_NANOS = 500_000;
    /// When the way out is full, try again after this.
    private static final long FULL_NANOS = 50_000;

    private static final VarHandle OWNED;
    private static final VarHandle RUNG;

    static {
        try {
            var lookup = MethodHandles.lookup();
            OWNED = lookup.findVarHandle(Engine.class, "owned", boolean.class);
            RUNG = lookup.findVarHandle(Engine.class, "rung", Station.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Link link;
    private final LongSupplier clock;
    private final KeyTable<Station> stations;
    private final Counters counters = new Counters();
    private final Arena arena = Arena.ofAuto();
    private final Frame[] arrivals;
    private final Frame[] departures;
    private int departuresFrom;
    private int departuresTo;

    private final ArrayDeque<Station> ready = new ArrayDeque<>();
    private final DeadlineHeap deadlines = new DeadlineHeap();
    private final ConcurrentLinkedQueue<Runnable> commands = new ConcurrentLinkedQueue<>();

    private @Nullable Thread thread;
    private volatile boolean closed;
    /// The engine's thread is in the link, or about to be.
    private volatile boolean sleeping;
    /// When it means to wake by itself.
    private volatile long wakeNanos = Protocol.NEVER;
    /// When an application last drove.
    private volatile long drivenNanos;

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private boolean owned;

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private @Nullable Station rung;

    /// An engine without a thread: the caller drives.
    ///
    /// @param clock nanoseconds, monotonic; read once per piece of work
    /// @param stations queue pairs by number
    public Engine(Link link, LongSupplier clock, KeyTable<Station> stations) {
        this.link = link;
        this.clock = clock;
        this.stations = stations;
        this.arrivals = Frame.allocate(arena.allocate((long) BATCH * Frame.SLOT_BYTES, 64));
        this.departures = Frame.allocate(arena.allocate((long) BATCH * Frame.SLOT_BYTES, 64));
        this.drivenNanos = clock.getAsLong() - STAY_AWAY_NANOS;
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

    // ---- any thread

    /// Something was posted on this queue pair. Sends it at once on the caller's thread when nobody drives.
    public void ring(Station station) {
        if (station.ring()) {
            Station head;
            do {
                head = (Station) RUNG.getVolatile(this);
                station.nextRung = head;
            } while (!RUNG.compareAndSet(this, head, station));
        }
        if (!drive() && sleeping) {
            link.wakeup();
        }
    }

    /// Does a piece of work on the caller's thread when nobody else is at it; true when something was done.
    public boolean drive() {
        if (!tryOwn()) {
            return false;
        }
        try {
            long now = clock.getAsLong();
            drivenNanos = now;
            int done = doWork(now);
            if (sleeping && dueNanos(now) < wakeNanos) {
                link.wakeup(); // the engine's thread would sleep past what is new
            }
            return done > 0;
        } finally {
            disown();
        }
    }

    /// The caller will not drive any more for now: the engine's thread takes over at once.
    public void handOver() {
        drivenNanos = clock.getAsLong() - STAY_AWAY_NANOS;
        Thread own = thread;
        if (own != null) {
            LockSupport.unpark(own);
        }
    }

    /// Runs `command` as the owner and gives back its result; what it throws is thrown here. Not to be called by a
    /// command.
    public <T> T call(Supplier<T> command) {
        if (closed) {
            return command.get(); // nothing runs any more that it could disturb
        }
        var task = new Task<>(command);
        commands.add(task);
        while (!task.done) {
            if (tryOwn()) {
                try {
                    drainCommands();
                } finally {
                    disown();
                }
            } else {
                LockSupport.parkNanos(this, 10_000);
            }
        }
        if (sleeping) {
            link.wakeup(); // deadlines may have changed
        }
        return task.result();
    }

    /// Runs `command` as the owner, later.
    public void later(Runnable command) {
        commands.add(command);
        if (sleeping) {
            link.wakeup();
        }
    }

    private static final class Task<T> implements Runnable {
        private final Supplier<T> command;
        private @Nullable T value;
        private @Nullable RuntimeException failure;
        volatile boolean done;

        Task(Supplier<T> command) {
            this.command = command;
        }

        @Override
        public void run() {
            try {
                value = command.get();
            } catch (RuntimeException e) {
                failure = e;
            }
            done = true;
        }

        @SuppressWarnings("NullAway") // null only when the command gave null
        T result() {
            if (failure != null) {
                throw failure;
            }
            return value;
        }
    }

    // ---- the owner's

    /// Makes a queue pair under a fresh number; -1 when there are too many. Any thread.
    public int add(IntFunction<Station> make) {
        return stations.add(make);
    }

    /// Takes a queue pair out; as a command.
    public void remove(int qpn, Station station) {
        stations.remove(qpn);
        station.isGone = true;
        deadlines.remove(station);
    }

    /// Sees to it that the queue pair is asked for packets; as a command.
    public void makeReady(Station station) {
        if (!station.isReady && !station.isGone) {
            station.isReady = true;
            ready.add(station);
        }
    }

    /// Does a bounded piece of work; returns how much was done, 0 when there was nothing to do.
    public int doWork(long now) {
        int done = drainCommands();
        done += receive(now);
        done += drainDeadlines(now);
        drainDoorbells();
        done += send(now);
        return done;
    }

    /// The earliest deadline of any queue pair, or [Protocol#NEVER].
    public long deadlineNanos() {
        return deadlines.earliestNanos();
    }

    private int drainCommands() {
        int n = 0;
        for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
            command.run();
            n++;
        }
        return n;
    }

    private int receive(long now) {
        int n = link.receive(arrivals, 0, BATCH);
        for (int i = 0; i < n; i++) {
            Frame frame = arrivals[i];
            counters.count(Counter.RECEIVED_PACKETS);
            counters.add(Counter.RECEIVED_BYTES, frame.length);
            counters.count(dispatch(frame, now));
        }
        return n;
    }

    private PacketFate dispatch(Frame frame, long now) {
        if (Packet.check(frame) != Malformed.OK) {
            return PacketFate.DROPPED_MALFORMED;
        }
        if (!frame.icrcValid) {
            return PacketFate.DROPPED_ICRC;
        }
        Station station = stations.get(Bth.destinationQp(frame.slot, Packet.BTH));
        if (station == null) {
            return PacketFate.DROPPED_UNKNOWN_QP;
        }
        Opcode opcode = Packet.opcode(frame);
        if (opcode.transport() != station.transport) {
            return PacketFate.DROPPED_WRONG_SERVICE;
        }
        PacketFate fate = station.protocol.onPacket(frame, opcode, now);
        makeReady(station);
        return fate;
    }

    private int drainDeadlines(long now) {
        int n = 0;
        for (Station station = deadlines.pollDue(now); station != null; station = deadlines.pollDue(now)) {
            station.protocol.onDeadline(now);
            deadlines.schedule(station);
            makeReady(station);
            if (++n == BATCH) {
                break;
            }
        }
        return n;
    }

    private void drainDoorbells() {
        Station station = (Station) RUNG.getVolatile(this);
        if (station == null) {
            return;
        }
        station = (Station) RUNG.getAndSet(this, null);
        while (station != null) {
            Station next = station.nextRung;
            station.answer();
            makeReady(station);
            station = next;
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
            boolean more = true;
            while (turn-- > 0 && more && !station.isGone) {
                more = station.protocol.poll(departures[departuresTo], now);
                departuresTo += more ? 1 : 0;
            }
            if (station.isGone) {
                station.isReady = false;
                continue;
            }
            deadlines.schedule(station);
            station.isReady = more;
            if (more) {
                ready.add(station);
            }
        }
    }

    private boolean hasWork() {
        return !commands.isEmpty() || RUNG.getVolatile(this) != null;
    }

    // ---- ownership

    private boolean tryOwn() {
        return !(boolean) OWNED.getVolatile(this) && OWNED.compareAndSet(this, false, true);
    }

    private void disown() {
        OWNED.setVolatile(this, false);
    }

    // ---- the engine's own thread

    private void run() {
        while (!closed) {
            long now = clock.getAsLong();
            if (now - drivenNanos < STAY_AWAY_NANOS) {
                // Somebody drives. Whoever stops without saying so ([#handOver]) costs one such time.
                LockSupport.parkNanos(this, STAY_AWAY_NANOS);
                continue;
            }
            if (!tryOwn()) {
                LockSupport.parkNanos(this, FULL_NANOS);
                continue;
            }
            int done;
            long until;
            try {
                done = doWork(now);
                until = dueNanos(now);
            } finally {
                disown();
            }
            if (done == 0 && until > now) {
                sleep(now, until);
            }
        }
    }

    /// When there will be something to do that nobody else says.
    private long dueNanos(long now) {
        if (departuresFrom < departuresTo) {
            return now + FULL_NANOS;
        }
        return ready.isEmpty() ? deadlines.earliestNanos() : now;
    }

    private void sleep(long now, long until) {
        wakeNanos = until;
        sleeping = true;
        // Whoever has driven since `now` may have left deadlines that `until` does not know.
        if (!hasWork() && !closed && drivenNanos - now < 0) {
            link.await(until == Protocol.NEVER ? -1 : Math.max(0, until - clock.getAsLong()));
        }
        sleeping = false;
        wakeNanos = Protocol.NEVER;
    }

    /// Ends the thread and closes the link. Waits for the owner's piece of work to end.
    @Override
    public void close() {
        closed = true;
        link.wakeup();
        Thread own = thread;
        if (own != null && !own.equals(Thread.currentThread())) {
            LockSupport.unpark(own);
            boolean interrupted = false;
            while (own.isAlive()) {
                try {
                    own.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        while (!tryOwn()) {
            Thread.onSpinWait();
        }
        link.close(); // and never disowned again: nobody touches the link any more
    }
}
