package verbena.sim.ethernet;

import java.util.Objects;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/// A switch. Its ports share one buffer: a packet takes place from its arrival until it begins to leave. Among
/// equal ways it chooses by a hash of the flow (ECMP), or of each packet when it sprays. A packet has arrived when
/// the whole of it is there, or, with cut-through, when its headers are, if the way out is no faster than the way
/// in.
///
/// With pauses, each way in counts what it holds. Above its share of what is free it asks for a pause, and takes
/// what still comes into its headroom. Without pauses, each way out has such a share, and what is more is dropped.
public final class Switch extends Node {
    /// A way in asks to go on when it holds so much less than its share.
    private static final long RESUME_BYTES = 3_000;
    /// The bytes of a packet that a switch reads before it sends the packet on, when it cuts through.
    private static final int CUT_BYTES = 64;

    private final SwitchOptions options;
    private final Calendar calendar;
    private final PacketPool pool;
    private final RandomGenerator chance;
    private final int hashSeed;
    /// The ways out to each host, by the host's number.
    private Port[][] ways = new Port[0][];

    private long sharedBytes;
    private long sharedUsed;
    /// The bytes held, by port and priority.
    private long[] held = new long[0];

    private long[] headroom = new long[0];
    private boolean[] hasAsked = new boolean[0];

    private long dropped;
    private long marked;
    private long mostUsed;
    private long rescued;

    Switch(String name, SwitchOptions options, Calendar calendar, PacketPool pool, RandomGenerator chance) {
        super(name);
        this.options = options;
        this.calendar = calendar;
        this.pool = pool;
        this.chance = chance;
        this.hashSeed = chance.nextInt();
    }

    /// Begins: all ports are there, and packets come from now on.
    void begin(Port[][] waysToHosts) {
        ways = waysToHosts;
        int n = ports.size() * Port.PRIORITIES;
        held = new long[n];
        headroom = new long[n];
        hasAsked = new boolean[n];
        sharedBytes = options.bufferBytes() - options.headroomBytes() * ports.size();
        if (sharedBytes <= 0) {
            throw new IllegalArgumentException("headroomBytes: " + options.headroomBytes() + " for each of the "
                    + ports.size() + " ports of " + name + " leave nothing of " + options.bufferBytes() + " bytes");
        }
        if (options.watchdogNanos() > 0) {
            calendar.set(new Watchdog(), calendar.now() + options.watchdogNanos() * Calendar.NANO);
        }
    }

    /// Returns the ports towards the host with a number.
    Port[] waysTo(int host) {
        return ways[host];
    }

    // ---- packets

    @Override
    void arrived(LightPacket packet, Port in, long now) {
        Port port = wayOut(packet);
        packet.ingress = in.index;
        boolean isToMark = !(packet.isMarkable && options.marksLeaving()) && meetsCongestion(packet, port);
        if ((isToMark && !packet.isMarkable) || !admit(packet, port)) {
            dropped++;
            pool.give(packet);
            return;
        }
        if (isToMark) {
            mark(packet);
        }
        if (options.pauses()) {
            askToPause(in, packet.priority, now);
        }
        port.add(packet, now);
    }

    @Override
    int neededBytes(LightPacket packet, Port in) {
        return options.cutsThrough() && packet.kind != LightPacket.Kind.PAUSE
                ? neededBytes(packet.bytes, in, wayOut(packet))
                : packet.bytes;
    }

    /// Returns the same as [#neededBytes], for a packet of so many bytes whose port is known.
    int neededBytes(int bytes, Port in, Port out) {
        return options.cutsThrough() && out.picosPerByte >= in.picosPerByte ? Math.min(bytes, CUT_BYTES) : bytes;
    }

    private Port wayOut(LightPacket packet) {
        Port[] out = ways[packet.to];
        return out.length == 1
                ? out[0]
                : out[choice(options.sprays() ? packet.hash ^ packet.serial : packet.hash, out.length)];
    }

    private int choice(int hash, int n) {
        int mixed = (hash ^ hashSeed) * 0x9E3779B1;
        mixed = (mixed ^ mixed >>> 15) * 0x85EBCA77;
        return Math.floorMod(mixed ^ mixed >>> 13, n);
    }

    private boolean admit(LightPacket packet, Port out) {
        int bytes = packet.bytes;
        if (!options.pauses()) {
            if (sharedUsed + bytes > sharedBytes
                    || out.queuedBytes(packet.priority) + bytes > options.alpha() * (sharedBytes - sharedUsed)) {
                return false;
            }
        } else {
            int at = packet.ingress * Port.PRIORITIES + packet.priority;
            if (held[at] + bytes > share() || sharedUsed + bytes > sharedBytes) {
                if (headroom[at] + bytes > options.headroomBytes()) {
                    return false;
                }
                headroom[at] += bytes;
                return true;
            }
            held[at] += bytes;
        }
        sharedUsed += bytes;
        mostUsed = Math.max(mostUsed, sharedUsed);
        return true;
    }

    private double share() {
        return options.alpha() * (sharedBytes - sharedUsed);
    }

    /// Returns whether a packet is to be marked, by the queue of its port (random early detection).
    private boolean meetsCongestion(LightPacket packet, Port out) {
        if (!options.marks() || packet.kind != LightPacket.Kind.DATA) {
            return false;
        }
        long queued = out.queuedBytes(packet.priority);
        if (queued <= options.markFrom()) {
            return false;
        }
        double p = queued >= options.markAll()
                ? 1
                : options.markChance() * (queued - options.markFrom()) / (options.markAll() - options.markFrom());
        return p >= 1 || chance.nextDouble() < p;
    }

    private void mark(LightPacket packet) {
        packet.marked = true;
        marked++;
    }

    private void askToPause(Port in, int priority, long now) {
        int at = in.index * Port.PRIORITIES + priority;
        if (!hasAsked[at] && headroom[at] > 0) {
            hasAsked[at] = true;
            in.tell(priority, true, now);
        }
    }

    @Override
    void leaves(LightPacket packet, Port out, long now) {
        if (options.marksLeaving() && packet.isMarkable && meetsCongestion(packet, out)) {
            mark(packet);
        }
        if (packet.isMeasuring && packet.kind == LightPacket.Kind.DATA) { // an answer only carries it back
            Objects.requireNonNull(packet.telemetry)
                    .add(out.queuedBytes(packet.priority), out.sentBytes(), out.picosPerByte, now);
        }
        if (!options.pauses()) {
            sharedUsed -= packet.bytes;
            return;
        }
        int at = packet.ingress * Port.PRIORITIES + packet.priority;
        long fromHeadroom = Math.min(headroom[at], packet.bytes); // counters know no packets: headroom empties first
        headroom[at] -= fromHeadroom;
        held[at] -= packet.bytes - fromHeadroom;
        sharedUsed -= packet.bytes - fromHeadroom;
        if (hasAsked[at] && headroom[at] == 0 && (held[at] == 0 || held[at] + RESUME_BYTES <= share())) {
            hasAsked[at] = false;
            ports.get(packet.ingress).tell(packet.priority, false, now);
        }
    }

    @Override
    @Nullable
    LightPacket supply(Port port, long now) {
        return null; // what it has is in the port's queues
    }

    @Override
    boolean mayHaveMore() {
        return false;
    }

    // ---- the watchdog

    /// A watchdog that empties queues which have been paused for too long, as switches do against a deadlock of
    /// pauses. For as long again such a port obeys no pause.
    private final class Watchdog extends Alarm {
        @Override
        void ring(long now) {
            long period = options.watchdogNanos() * Calendar.NANO;
            for (Port port : ports) {
                for (int priority = 0; priority < Port.PRIORITIES; priority++) {
                    if (port.stuckSince(priority) <= now - period) {
                        empty(port, priority, now);
                    }
                }
            }
            calendar.set(this, now + period);
        }
    }

    private void empty(Port port, int priority, long now) {
        rescued++;
        PacketQueue lost = port.abandon(priority, now, options.watchdogNanos() * Calendar.NANO);
        for (LightPacket packet = lost.poll(); packet != null; packet = lost.poll()) {
            leaves(packet, port, now);
            dropped++;
            pool.give(packet);
        }
    }

    // ---- figures

    /// Returns the number of packets that it had no room for, or that its watchdog took.
    public long dropped() {
        return dropped;
    }

    /// Returns the number of packets that it has marked.
    public long marked() {
        return marked;
    }

    /// Returns the most bytes that its buffer held, without headroom.
    public long mostUsed() {
        return mostUsed;
    }

    /// Returns the number of queues that its watchdog has emptied.
    public long rescued() {
        return rescued;
    }

    /// Returns the number of pauses that it has asked for.
    public long pausesSent() {
        return ports.stream().mapToLong(Port::pausesSent).sum();
    }

    /// Returns the bytes that wait for the link to a neighbour.
    long queuedTo(Node neighbour) {
        long bytes = 0;
        for (Port port : ports) {
            bytes += port.peer().owner == neighbour ? port.queuedBytes() : 0;
        }
        return bytes;
    }
}
