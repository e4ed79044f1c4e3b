package verbena.sim.ethernet;

import java.util.Objects;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// A node's end of a link: a queue for each priority, one packet on the wire at a time, and the packets that are on
/// their way to the other end. A higher priority goes first. A paused priority waits (IEEE 802.1Qbb), and no other.
final class Port {
    static final int PRIORITIES = 8;
    /// A pause frame with preamble and gap.
    private static final int PAUSE_BYTES = 84;

    final Node owner;
    final int index;
    final long picosPerByte;
    private final long delayPicos;
    /// The share of packets that get lost on the way here. Pauses do not: no sender repeats one.
    private final double loss;

    private final RandomGenerator chance;
    private final Calendar calendar;
    private final PacketPool pool;
    private @Nullable Port peer;

    /// The queues by priority; null until one is used.
    private final @Nullable PacketQueue[] queues = new @Nullable PacketQueue[PRIORITIES];
    private final PacketQueue pauses = new PacketQueue();
    private final PacketQueue underWay = new PacketQueue();
    /// A bit for each priority that has something queued, and for each that the other end has paused.
    private int filled;
    private int paused;
    private final long[] pausedSince = new long[PRIORITIES];
    /// Pauses that come before this time do not count.
    private long deafUntil;
    private long freeAt;

    private long pausesSent;
    private long sentBytes;

    private final Alarm free = new Alarm() {
        @Override
        void ring(long now) {
            ready(now); // it may have been asked for meanwhile
        }
    };
    private final Alarm arrival = new Alarm() {
        @Override
        void ring(long now) {
            deliver(now);
        }
    };

    Port(
            Node owner,
            long picosPerByte,
            long delayPicos,
            double loss,
            RandomGenerator chance,
            Calendar calendar,
            PacketPool pool) {
        this.owner = owner;
        this.index = owner.ports.size();
        this.picosPerByte = picosPerByte;
        this.delayPicos = delayPicos;
        this.loss = loss;
        this.chance = chance;
        this.calendar = calendar;
        this.pool = pool;
        owner.ports.add(this);
    }

    void connect(Port other) {
        peer = other;
    }

    Port peer() {
        return Objects.requireNonNull(peer, "not connected");
    }

    long delayPicos() {
        return delayPicos;
    }

    double bitsPerSecond() {
        return 8e12 / picosPerByte;
    }

    // ---- sending

    /// Adds a packet of the owner to a queue.
    void add(LightPacket packet, long now) {
        PacketQueue queue = queues[packet.priority];
        if (queue == null) {
            queue = new PacketQueue();
            queues[packet.priority] = queue;
        }
        queue.add(packet);
        filled |= 1 << packet.priority;
        ready(now);
    }

    /// Sends when the wire is free, or as soon as it is.
    void ready(long now) {
        if (freeAt <= now) {
            send(now);
        } else if (!free.isSet()) {
            calendar.set(free, freeAt);
        }
    }

    private void send(long now) {
        LightPacket packet = next(now);
        if (packet == null) {
            return; // whoever brings something calls again
        }
        freeAt = now + packet.bytes * picosPerByte;
        sentBytes += packet.bytes;
        Port other = peer();
        packet.arrivesAt = now + other.owner.neededBytes(packet, other) * picosPerByte + delayPicos;
        underWay.add(packet);
        if (!other.arrivalOfPeer().isSet()) {
            calendar.set(other.arrivalOfPeer(), packet.arrivesAt);
        }
        if (!pauses.isEmpty() || (filled & ~paused) != 0 || owner.mayHaveMore()) {
            calendar.set(free, freeAt);
        }
    }

    private @Nullable LightPacket next(long now) {
        LightPacket pause = pauses.poll();
        if (pause != null) {
            return pause;
        }
        int may = filled & ~paused;
        if (may == 0) {
            return owner.supply(this, now);
        }
        int priority = 31 - Integer.numberOfLeadingZeros(may);
        PacketQueue queue = Objects.requireNonNull(queues[priority]);
        LightPacket packet = Objects.requireNonNull(queue.poll());
        if (queue.isEmpty()) {
            filled &= ~(1 << priority);
        }
        owner.leaves(packet, this, now);
        return packet;
    }

    // ---- receiving

    /// Returns the alarm that rings at this end when a packet of the other end is here.
    private Alarm arrivalOfPeer() {
        return arrival;
    }

    private void deliver(long now) {
        Port other = peer();
        LightPacket packet = Objects.requireNonNull(other.underWay.poll());
        LightPacket following = other.underWay.first();
        if (following != null) {
            calendar.set(arrival, following.arrivesAt);
        }
        if (packet.kind == LightPacket.Kind.PAUSE) {
            pause((int) packet.psn, packet.marked, now);
            pool.give(packet);
        } else if (loss > 0 && chance.nextDouble() < loss) {
            pool.give(packet);
        } else {
            owner.arrived(packet, this, now);
        }
    }

    // ---- pausing

    /// Asks the other end to stop sending a priority, or to go on.
    void tell(int priority, boolean stop, long now) {
        LightPacket packet = pool.take(LightPacket.Kind.PAUSE, PAUSE_BYTES, 0, priority);
        packet.marked = stop;
        pausesSent += stop ? 1 : 0;
        pauses.add(packet);
        ready(now);
    }

    private void pause(int priority, boolean stop, long now) {
        int bit = 1 << priority;
        if (stop && now < deafUntil) {
            return;
        }
        if (stop == ((paused & bit) != 0)) {
            return;
        }
        paused ^= bit;
        if (stop) {
            pausedSince[priority] = now;
        } else {
            ready(now);
        }
    }

    boolean isPaused(int priority) {
        return (paused & 1 << priority) != 0;
    }

    /// Ends a pause that has lasted too long, and gives up what is queued for it; returns what. For some time no
    /// pause counts here, so that the circle that it was a part of empties.
    PacketQueue abandon(int priority, long now, long deafPicos) {
        deafUntil = now + deafPicos;
        PacketQueue lost = Objects.requireNonNull(queues[priority]);
        queues[priority] = null;
        filled &= ~(1 << priority);
        pause(priority, false, now);
        return lost;
    }

    /// Returns the time since which a priority that has something to send is paused; [Calendar#NEVER] when it is
    /// not.
    long stuckSince(int priority) {
        return isPaused(priority) && (filled & 1 << priority) != 0 ? pausedSince[priority] : Calendar.NEVER;
    }

    // ---- figures

    long queuedBytes(int priority) {
        PacketQueue queue = queues[priority];
        return queue == null ? 0 : queue.bytes();
    }

    long queuedBytes() {
        long bytes = 0;
        for (int priority = 0; priority < PRIORITIES; priority++) {
            bytes += queuedBytes(priority);
        }
        return bytes;
    }

    long sentBytes() {
        return sentBytes;
    }

    /// Returns the number of pauses that this end has asked for.
    long pausesSent() {
        return pausesSent;
    }
}
