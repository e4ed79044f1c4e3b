package verbena.nic.link;

import java.lang.foreign.Arena;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import verbena.transport.congestion.CongestionRule;
import verbena.wire.Frame;

/// A link around another that loses, duplicates, holds back, damages, marks and delays packets, by chance or by
/// seed. It tests a program, or this library, under a bad network without needing one.
///
/// Damage is what a wire does to bits. For departures, [Seal] inverts the bit when the ICRC is in place
/// ([Frame#marks]). For arrivals, the ICRC has been judged already, so the packet is marked as one with a wrong
/// ICRC. The exception are the bits that the ICRC does not cover (FECN, BECN and the reserved bits beside them, IBTA
/// 9.2): a packet with damage there arrives as valid, as it does from a wire.
///
/// Packets on their way are copies, at most [#HELD_MAX] in each direction. When there are that many, an arrival is
/// dropped and counted, as in a full queue of the network, and no departure is taken until there is room. Without
/// delay and reordering, packets leave and arrive within the call that brings them.
///
/// Threads as in [Link]. Allocates nothing for a packet.
public final class FaultyLink extends ForwardingLink {
    /// The number of packets that can be under way in each direction.
    public static final int HELD_MAX = 1_024;

    private static final int BATCH = 64;
    /// The most copies of one packet.
    private static final int COPIES_MAX = 2;
    /// The byte of the packet that the ICRC does not cover: FECN, BECN, six reserved bits.
    private static final int UNCOVERED_BYTE = 4;

    private final Faults faults;
    private final LongSupplier clock;
    private final long seed;
    private final Way received;
    private final Way sent;
    private final Frame[] arrivals = frames();
    // Packets that are due and that the link below has not taken, from `departuresFrom` to `departuresTo`.
    private final Frame[] departures = frames();
    private int departuresFrom;
    private int departuresTo;

    private volatile boolean closed;
    // When the next copy is due. The thread that receives and transmits writes it, then reads `sleeping`. The thread
    // that sleeps writes `sleeping`, then reads this field. So one of the two sees what the other has written.
    private volatile long nextDue = HeldFrames.NEVER;
    private volatile boolean sleeping;

    /// A direction: the packets on their way, its random numbers, and its counters.
    private final class Way {
        final HeldFrames held = new HeldFrames(HELD_MAX);
        final AtomicLong lost = new AtomicLong();
        final AtomicLong duplicated = new AtomicLong();
        final AtomicLong reordered = new AtomicLong();
        final AtomicLong corrupted = new AtomicLong();
        final AtomicLong marked = new AtomicLong();
        final AtomicLong overflowed = new AtomicLong();
        private final SplittableRandom random;

        Way(SplittableRandom random) {
            this.random = random;
        }

        // Draws the same number of random numbers for each packet, so that no decision depends on another. The one for
        // marks comes with the option, so that seeds of before decide as before.
        void judge(Frame frame, long now) {
            boolean lose = random.nextDouble() < faults.loss();
            boolean duplicate = random.nextDouble() < faults.duplicate();
            boolean reorder = random.nextDouble() < faults.reorder();
            boolean corrupt = random.nextDouble() < faults.corrupt();
            int bit = (int) (random.nextDouble() * frame.length * Byte.SIZE);
            boolean mark = faults.mark() > 0 && random.nextDouble() < faults.mark();
            if (lose) {
                lost.incrementAndGet();
                return;
            }
            if (held.room() < COPIES_MAX) {
                overflowed.incrementAndGet();
                return;
            }
            long due = now + faults.delayNanos();
            Frame copy = held.add(frame, reorder ? due + Faults.REORDER_NANOS : due);
            if (reorder) {
                reordered.incrementAndGet();
            }
            if (corrupt) {
                corrupted.incrementAndGet();
                damage(copy, bit);
            }
            if (mark && (copy.trafficClass & CongestionRule.MARKED) != 0) {
                marked.incrementAndGet();
                copy.trafficClass |= CongestionRule.MARKED;
            }
            if (duplicate) {
                duplicated.incrementAndGet();
                held.add(copy, due);
            }
        }

        private void damage(Frame copy, int bit) {
            if (this == sent) {
                copy.marks.damagedBit = bit;
                return;
            }
            copy.flip(bit);
            copy.icrcValid &= bit >>> 3 == UNCOVERED_BYTE;
        }

        void report(Map<String, Long> to, String direction) {
            to.put("faults." + direction + ".lost", lost.get());
            to.put("faults." + direction + ".duplicated", duplicated.get());
            to.put("faults." + direction + ".reordered", reordered.get());
            to.put("faults." + direction + ".corrupted", corrupted.get());
            to.put("faults." + direction + ".marked", marked.get());
            to.put("faults." + direction + ".overflowed", overflowed.get());
        }
    }

    /// @param link closed with this one
    /// @param clock nanoseconds, monotonic; measures delays
    public FaultyLink(Link link, Faults faults, LongSupplier clock) {
        super(link);
        this.faults = faults;
        this.clock = clock;
        this.seed = faults.seed().orElseGet(() -> ThreadLocalRandom.current().nextInt(Integer.MAX_VALUE));
        var random = new SplittableRandom(seed);
        this.received = new Way(random.split());
        this.sent = new Way(random.split());
    }

    private static Frame[] frames() {
        return Frame.allocate(Arena.ofAuto().allocate((long) BATCH * Frame.SLOT_BYTES, 64));
    }

    /// Receives as [Link#receive] does; also sends packets that were held back until now.
    @Override
    public int receive(Frame[] frames, int from, int count) {
        if (closed) {
            return 0;
        }
        long now = clock.getAsLong();
        depart(now);
        if (faults.on() == Faults.On.SENT) {
            publishDue();
            return link.receive(frames, from, count);
        }
        int judged = 0;
        int given = 0;
        do { // a delay begins when a packet has arrived, not when the link brings it
            int n = link.receive(arrivals, 0, BATCH - judged);
            for (int i = 0; i < n; i++) {
                received.judge(arrivals[i], now);
            }
            judged += n;
        } while (judged < BATCH && link.mayHaveMore());
        while (given < count && received.held.firstDue() <= now) {
            frames[from + given].copyFrom(received.held.first());
            received.held.removeFirst();
            given++;
        }
        publishDue();
        return given;
    }

    @Override
    public int transmit(Frame[] frames, int from, int count) {
        if (closed) {
            return 0;
        }
        if (faults.on() == Faults.On.RECEIVED) {
            return link.transmit(frames, from, count);
        }
        long now = clock.getAsLong();
        int taken = 0;
        while (taken < count && sent.held.room() >= COPIES_MAX) {
            sent.judge(frames[from + taken], now);
            taken++;
        }
        depart(now);
        publishDue();
        return taken;
    }

    // Hands packets that are due to the link below, until it takes no more.
    private void depart(long now) {
        while (true) {
            if (departuresFrom == departuresTo) {
                departuresFrom = 0;
                departuresTo = 0;
            }
            while (departuresTo < BATCH && sent.held.firstDue() <= now) {
                departures[departuresTo++].copyFrom(sent.held.first());
                sent.held.removeFirst();
            }
            assert departuresFrom <= departuresTo && departuresTo <= BATCH;
            int waiting = departuresTo - departuresFrom;
            if (waiting == 0) {
                return;
            }
            int taken = link.transmit(departures, departuresFrom, waiting);
            departuresFrom += taken;
            if (taken < waiting) {
                return; // the link below ends the sleep when there is room
            }
        }
    }

    private void publishDue() {
        // A packet that is due and has not left waits for room below, not for a time.
        long due = Math.min(
                received.held.firstDue(), departuresFrom < departuresTo ? HeldFrames.NEVER : sent.held.firstDue());
        boolean earlier = due < nextDue;
        nextDue = due;
        if (earlier && sleeping) {
            link.wakeup();
        }
    }

    /// Sleeps as [Link#await(long)] does; also returns when a held-back packet is due.
    @Override
    public void await(long timeoutNanos) {
        sleeping = true;
        try {
            long due = nextDue;
            long limit = timeoutNanos;
            if (due != HeldFrames.NEVER) {
                long untilDue = Math.max(0, due - clock.getAsLong());
                limit = timeoutNanos < 0 ? untilDue : Math.min(timeoutNanos, untilDue);
            }
            link.await(limit);
        } finally {
            sleeping = false;
        }
    }

    /// Returns false: a caller's poll(2) would not know when a held-back packet is due.
    @Override
    public boolean canBePolled() {
        return false;
    }

    /// Returns the faults made, as `faults.received.lost` and so on, and the seed that repeats them, as
    /// `faults.seed`.
    @Override
    public Map<String, Long> counters() {
        var counters = new TreeMap<>(link.counters());
        counters.put("faults.seed", seed);
        received.report(counters, "received");
        sent.report(counters, "sent");
        return counters;
    }

    @Override
    public void close() {
        closed = true;
        link.close();
    }
}
