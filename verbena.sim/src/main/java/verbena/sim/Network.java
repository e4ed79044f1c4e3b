package verbena.sim;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import verbena.transport.Protocol;
import verbena.transport.congestion.CongestionRule;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.verbs.Preview;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Transport;
import verbena.wire.roce.RoceV2;

/// A network in virtual time: every device sends at [#NANOS_PER_BYTE], every packet takes [#LATENCY_NANOS], and
/// [NetworkFaults] strike. Packets are kept in a pool; sending one allocates nothing.
///
/// The world's seed decides a packet's fate when it is sent, so that the [Trace] of sent packets determines the run.
/// It belongs to its [World], whose thread uses it.
///
/// @since 0.1
@Preview
public final class Network {
    /// 8 Gbit/s.
    static final long NANOS_PER_BYTE = 1;
    static final double BITS_PER_SECOND = Byte.SIZE * 1e9 / NANOS_PER_BYTE;
    /// The shortest way from one device to another.
    static final long LATENCY_NANOS = 5_000;
    /// Arrivals are told together once in this time, as a card with interrupt moderation does.
    static final long TICK_NANOS = 1_000;
    /// A device's way out is full when what waits there would take this long to leave.
    static final long QUEUE_NANOS = 100_000;
    /// A packet that is to be overtaken does not wait longer for others to do so.
    static final long OVERTAKE_NANOS = 1_000_000;

    /// Packets under way at once; more are lost.
    private static final int FLIGHTS_MAX = 32_768;
    private static final int SLAB_FRAMES = 32;

    private final LongSupplier clock;
    private final SplittableRandom random;
    private final Trace trace;
    private final Wire wire = new Wire();
    private final List<SimLink> links = new ArrayList<>();
    private final FlightHeap flights = new FlightHeap();
    private final ArrayList<Flight> pool = new ArrayList<>();
    private int poolSize;
    private long number;

    private long latencyNanos = LATENCY_NANOS;
    private NetworkFaults faults = NetworkFaults.NONE;
    // Thresholds for 32 random bits.
    private long lossBelow;
    private long duplicateBelow;
    private long corruptBelow;
    private long markBelow;
    private long reorderBelow;

    // What has happened.
    private long sent;
    private long lost;
    private long duplicated;
    private long corrupted;
    private long marked;
    private long overtaken;
    private long overrun;

    Network(LongSupplier clock, SplittableRandom random, Trace trace) {
        this.clock = clock;
        this.random = random;
        this.trace = trace;
    }

    /// Returns the addresses of the device with this number, counted from 0.
    static List<Gid> addresses(int number) {
        int n = number + 1;
        return List.of(Gid.parse("10.0.0." + n), Gid.parse("fd00::" + n));
    }

    /// Attaches a link of the device with this number, counted from 0.
    ///
    /// @param slot which of the device's links, or [verbena.nic.link.Link#NO_SLOT] for its only one
    SimLink attach(String name, int number, List<Gid> addresses, int packetMax, int slot) {
        List<GidEntry> gids = IntStream.range(0, addresses.size())
                .mapToObj(i -> new GidEntry(i, addresses.get(i), GidType.ROCE_V2, "sim0", 1))
                .toList();
        var link = new SimLink(wire, name, number, gids, packetMax, slot);
        links.add(link);
        return link;
    }

    // ---- faults

    /// Sets the time that a packet takes without jitter, in nanoseconds; [#LATENCY_NANOS] at first.
    public void latency(long nanos) {
        latencyNanos = nanos;
    }

    /// Sets the faults from now on.
    public void faults(NetworkFaults faults) {
        this.faults = faults;
        lossBelow = threshold(faults.loss());
        duplicateBelow = threshold(faults.duplicate());
        corruptBelow = threshold(faults.corrupt());
        markBelow = threshold(faults.mark());
        reorderBelow = threshold(faults.reorder());
    }

    /// Returns the present faults.
    public NetworkFaults faults() {
        return faults;
    }

    /// Loses everything that `link` sends for so long.
    void blackHole(SimLink link, long nanos) {
        link.blackHoleUntil = clock.getAsLong() + nanos;
    }

    /// Loses every answer that `link` sends for so long; its requests pass.
    void mute(SimLink link, long nanos) {
        link.muteUntil = clock.getAsLong() + nanos;
    }

    private static long threshold(double share) {
        return (long) (share * 0x1p32);
    }

    private boolean strikes(long below) {
        return below != 0 && Integer.toUnsignedLong(random.nextInt()) < below;
    }

    // ---- sending

    private final class Wire implements SimLink.Wire {
        @Override
        public long nowNanos() {
            return clock.getAsLong();
        }

        @Override
        public boolean hasRoom(SimLink from) {
            return from.freeNanos - nowNanos() < QUEUE_NANOS;
        }

        @Override
        public void send(SimLink from, Frame frame) {
            Network.this.send(from, frame);
        }

        @Override
        public void free(Flight flight) {
            Network.this.free(flight);
        }
    }

    /// Takes a sealed packet over, by copying it, for all links at its destination.
    private void send(SimLink from, Frame frame) {
        long now = clock.getAsLong();
        from.freeNanos = Math.max(from.freeNanos, now) + frame.length * NANOS_PER_BYTE;
        sent++;
        boolean heard = false;
        for (int i = 0; i < links.size(); i++) {
            SimLink to = links.get(i);
            if (to.hears(frame)) {
                heard = true;
                send(from, to, frame, now);
            }
        }
        if (!heard) {
            lost++;
            trace.lost(now, from, null, frame);
        }
        letPass(from);
    }

    private void send(SimLink from, SimLink to, Frame frame, long now) {
        boolean vanishes = now < from.blackHoleUntil || (now < from.muteUntil && isAnswer(frame));
        if (vanishes || strikes(lossBelow) || poolSize - pool.size() >= FLIGHTS_MAX) {
            lost++;
            trace.lost(now, from, to, frame);
            return;
        }
        Flight flight = take(from, to, frame);
        if (strikes(corruptBelow)) {
            corrupted++;
            flip(flight.frame);
        }
        if ((frame.trafficClass & CongestionRule.MARKED) != 0 && strikes(markBelow)) {
            marked++;
            flight.frame.trafficClass |= CongestionRule.MARKED;
        }
        flight.arrivalNanos = arrival(from);
        boolean isOvertaken = strikes(reorderBelow) && hold(from, flight, now);
        boolean twice = strikes(duplicateBelow);
        trace.sent(now, from, to, flight.frame, isOvertaken, twice);
        flights.add(flight);
        if (twice) {
            duplicated++;
            Flight second = take(from, to, frame);
            second.arrivalNanos = arrival(from) + random.nextInt((int) LATENCY_NANOS);
            flights.add(second);
        }
    }

    private static boolean isAnswer(Frame frame) {
        Opcode opcode = Opcode.of(Bth.opcode(frame.slot, frame.start));
        return opcode != null && opcode.isResponse();
    }

    private long arrival(SimLink from) {
        long jitter = faults.jitterNanos() == 0 ? 0 : random.nextLong(faults.jitterNanos());
        return from.freeNanos + latencyNanos + jitter;
    }

    private void flip(Frame frame) {
        int bit;
        do {
            bit = random.nextInt(frame.length * Byte.SIZE);
        } while (isBeyondJudgement(frame, bit));
        frame.flip(bit);
        frame.icrcValid = false;
    }

    /// Returns whether a bit belongs to the two that no socket can judge in datagrams over IPv4: see "What a socket
    /// hides" in [RoceV2].
    private static boolean isBeyondJudgement(Frame frame, int bit) {
        return (bit == 173 * Byte.SIZE + 3 || bit == 1_834 * Byte.SIZE + 6)
                && RoceV2.isIpv4(frame.destinationHigh, frame.destinationLow)
                && (Bth.opcode(frame.slot, frame.start) & 0xE0) == Transport.UD.prefix();
    }

    /// Lets the packet wait until some later ones of its sender have passed it, or for [#OVERTAKE_NANOS].
    private boolean hold(SimLink from, Flight flight, long now) {
        int place = (int) ((from.sent + 1 + random.nextInt(faults.reorderPackets())) % from.overtaken.length);
        if (from.overtaken[place] != null) {
            return false;
        }
        overtaken++;
        from.overtaken[place] = flight;
        flight.waitingPlace = place;
        flight.arrivalNanos = Math.max(flight.arrivalNanos, now + OVERTAKE_NANOS);
        return true;
    }

    /// Lets the packet just sent pass the packets that were waiting for it.
    private void letPass(SimLink from) {
        int place = (int) (from.sent++ % from.overtaken.length);
        Flight waiting = from.overtaken[place];
        if (waiting != null) {
            from.overtaken[place] = null;
            waiting.waitingPlace = -1;
            flights.advance(waiting, from.freeNanos + latencyNanos + 1);
        }
    }

    // ---- arriving

    /// Returns the time when the next packet arrives; [Protocol#NEVER] when none is under way.
    long nextNanos() {
        if (flights.isEmpty()) {
            return Protocol.NEVER;
        }
        return (flights.first().arrivalNanos + TICK_NANOS - 1) / TICK_NANOS * TICK_NANOS;
    }

    /// Hands over what has arrived.
    void deliver(long now) {
        while (!flights.isEmpty() && flights.first().arrivalNanos <= now) {
            Flight flight = flights.removeFirst();
            if (flight.waitingPlace >= 0) {
                flight.from.overtaken[flight.waitingPlace] = null;
                flight.waitingPlace = -1;
            }
            if (!flight.to.arrive(flight)) {
                overrun++;
                free(flight);
            }
        }
    }

    // ---- the pool

    private Flight take(SimLink from, SimLink to, Frame frame) {
        if (pool.isEmpty()) {
            MemorySegment slab = Arena.ofAuto().allocate((long) SLAB_FRAMES * Frame.SLOT_BYTES, 64);
            for (Frame fresh : Frame.allocate(slab)) {
                pool.add(new Flight(fresh, from, to));
            }
            poolSize += SLAB_FRAMES;
        }
        Flight flight = pool.removeLast();
        flight.from = from;
        flight.to = to;
        flight.number = number++;
        flight.frame.copyFrom(frame);
        flight.frame.icrcValid = true;
        return flight;
    }

    private void free(Flight flight) {
        pool.add(flight);
    }

    // ---- figures

    /// Returns the number of packets sent.
    public long sent() {
        return sent;
    }

    /// Returns the number of packets lost on the way.
    public long lost() {
        return lost;
    }

    /// Returns the number of packets that arrive twice.
    public long duplicated() {
        return duplicated;
    }

    /// Returns the number of packets damaged on the way.
    public long corrupted() {
        return corrupted;
    }

    /// Returns the number of packets marked on the way.
    public long marked() {
        return marked;
    }

    /// Returns the number of packets held back until later ones have passed.
    public long overtaken() {
        return overtaken;
    }

    /// Returns the number of packets that found a receive buffer full.
    public long overrun() {
        return overrun;
    }
}
