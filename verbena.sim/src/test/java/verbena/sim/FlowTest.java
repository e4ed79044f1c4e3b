package verbena.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.nic.link.ForwardingLink;
import verbena.nic.link.Link;
import verbena.transport.congestion.PeerWindow;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.EndpointOptions;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SendBatch;
import verbena.verbs.WorkCompletion;
import verbena.wire.Frame;

/// How much is under way, and how fast a loss is repaired (decisions 05 and 06): figures in virtual time, on a
/// network of 8 Gbit/s where a full packet takes 4.13 µs.
class FlowTest {
    private static final int MTU = 4_096;
    private static final int WINDOW = PeerWindow.PACKETS_MAX;
    private static final int MESSAGE = 64 << 10;
    private static final int DEPTH = 16;
    private static final int REGION = DEPTH * MESSAGE;
    /// A WRITE packet on this network: payload, BTH, ICRC, and now and then a RETH.
    private static final long PACKET_NANOS = MTU + 16;
    private static final long SECOND = 1_000_000_000;

    private final World world = new World(1);
    private final WorkCompletion wc = new WorkCompletion();

    private final class End {
        final SimDevice device;
        final ProtectionDomain domain;
        final CompletionQueue cq;
        final MemoryRegion memory;
        final List<QueuePair> queuePairs = new ArrayList<>();
        IntPredicate loses = _ -> false;
        private int sent;

        End() {
            device = world.addDevice(Frame.PACKET_MAX, link -> new Losing(link, this));
            domain = device.context().allocateProtectionDomain();
            cq = device.context().createCompletionQueue(4_096);
            memory = device.register(domain, REGION, Access.remoteAll());
        }

        void connect(End other) {
            QueuePair mine = domain.createQueuePair(QueuePairOptions.rc(cq).withDepth(DEPTH, 1));
            QueuePair theirs =
                    other.domain.createQueuePair(QueuePairOptions.rc(other.cq).withDepth(DEPTH, 1));
            world.connect(mine, theirs, EndpointOptions.defaults());
            queuePairs.add(mine);
        }

        long count(String name) {
            return device.context().counters().get(name);
        }
    }

    /// Loses chosen packets of what a device sends, counted from 0.
    private static final class Losing extends ForwardingLink {
        private final End end;

        Losing(Link link, End end) {
            super(link);
            this.end = end;
        }

        @Override
        public int transmit(Frame[] frames, int from, int count) {
            for (int n = 0; n < count; n++) {
                if (end.loses.test(end.sent)) {
                    end.sent++;
                } else if (link.transmit(frames, from + n, 1) == 0) {
                    return n;
                } else {
                    end.sent++;
                }
            }
            return count;
        }
    }

    /// Keeps `depth` messages under way on each queue pair until each has had `messages`; how long it took.
    private long transfer(List<End> from, End to, boolean read, int bytes, int messages, int depth) {
        long start = world.nowNanos();
        long left = 0;
        var posts = new ArrayList<int[]>();
        for (End end : from) {
            for (int q = 0; q < end.queuePairs.size(); q++) {
                int[] posted = {0};
                posts.add(posted);
                for (int i = 0; i < Math.min(depth, messages); i++) {
                    post(end, q, to, read, bytes, posted[0]++, posts.size() - 1);
                }
                left += messages;
            }
        }
        while (left > 0) {
            assertThat(world.step()).isTrue();
            assertThat(world.nowNanos() - start).as("virtual time").isLessThan(10 * SECOND);
            for (End end : from) {
                while (end.cq.poll(wc)) {
                    assertThat(wc.ok()).as(wc.toString()).isTrue();
                    left--;
                    int place = (int) (wc.wrId() >>> 32);
                    if (posts.get(place)[0] < messages) {
                        post(end, (int) wc.wrId(), to, read, bytes, posts.get(place)[0]++, place);
                    }
                }
            }
        }
        return world.nowNanos() - start;
    }

    private static void post(End end, int q, End to, boolean read, int bytes, int number, int place) {
        long wrId = (long) place << 32 | q;
        long at = (long) number % DEPTH * MESSAGE;
        try (SendBatch batch = end.queuePairs.get(q).sendBatch()) {
            if (read) {
                batch.read(wrId, to.memory.address() + at, to.memory.rkey());
            } else {
                batch.write(wrId, to.memory.address() + at, to.memory.rkey());
            }
            batch.sge(end.memory, at, bytes).signaled().submit();
        }
    }

    private End[] pair(int queuePairs) {
        End a = new End();
        End b = new End();
        for (int i = 0; i < queuePairs; i++) {
            a.connect(b);
        }
        return new End[] {a, b};
    }

    private static void assertUsed(long nanos, long packets, long nanosPerPacket, double share) {
        assertThat((double) packets * nanosPerPacket / nanos).as("utilisation").isGreaterThan(share);
    }

    // ---- windows

    @Test
    void writesAndReadsFillTheLink() {
        End[] two = pair(1);
        for (boolean read : new boolean[] {false, true}) {
            long nanos = transfer(List.of(two[0]), two[1], read, MESSAGE, 1_000, DEPTH);
            assertUsed(nanos, 16_000, PACKET_NANOS, 0.97);
        }
        assertThat(two[0].count("retransmitted.packets")).isZero();
        assertThat(two[0].count("probes")).isZero();
    }

    @Test
    void aSlowReceiverWithRoomForAWindowLosesNothing() {
        End[] two = pair(1);
        two[1].device.slow(WINDOW, 8_000);
        long nanos = transfer(List.of(two[0]), two[1], false, MESSAGE, 1_000, DEPTH);
        assertThat(world.network().overrun()).isZero();
        assertUsed(nanos, 16_000, 8_000, 0.97);
    }

    @Test
    void aSlowReceiverWithASmallerBufferLosesHardlyMoreThanAtFirst() {
        End[] two = pair(1);
        two[1].device.slow(48, 8_000);
        long nanos = transfer(List.of(two[0]), two[1], false, MESSAGE, 300, DEPTH);
        long atFirst = world.network().overrun();
        assertThat(atFirst).isPositive();
        assertUsed(nanos, 4_800, 8_000, 0.9);
        nanos = transfer(List.of(two[0]), two[1], false, MESSAGE, 300, DEPTH);
        assertThat(world.network().overrun() - atFirst).isLessThan(4_800 / 500);
        assertUsed(nanos, 4_800, 8_000, 0.97);
        assertThat(two[0].count("ack.timeouts")).isZero();
    }

    @Test
    void aSlowReaderIsNotDrownedByWhatItHasAskedFor() {
        End[] two = pair(1);
        two[0].device.slow(WINDOW, 8_000);
        long nanos = transfer(List.of(two[0]), two[1], true, MESSAGE, 1_000, DEPTH);
        assertThat(world.network().overrun()).isZero();
        assertUsed(nanos, 16_000, 8_000, 0.97);
    }

    @Test
    void queuePairsToOnePeerShareOneWindow() {
        End[] two = pair(64);
        // The peer has two addresses; until it is known how slow it is, there are some probes.
        two[1].device.slow(2 * WINDOW + 2 * 64, 8_000);
        for (boolean read : new boolean[] {false, true}) {
            long nanos = transfer(List.of(two[0]), two[1], read, MESSAGE, 20, 4);
            assertUsed(nanos, 64 * 20 * 16, read ? PACKET_NANOS : 8_000, 0.95);
        }
        assertThat(world.network().overrun()).isZero();
        assertThat(two[0].count("ack.timeouts")).isZero();
        assertThat(two[0].count("probes")).isLessThanOrEqualTo(64);
        assertThat(two[0].count("retransmitted.packets")).isLessThanOrEqualTo(2 * 64);
    }

    @Test
    void smallMessagesOfManyQueuePairsShareItToo() {
        End[] two = pair(200);
        two[1].device.slow(2 * WINDOW, 500);
        long nanos = transfer(List.of(two[0]), two[1], false, 8, 200, DEPTH);
        assertThat(world.network().overrun()).isZero();
        assertThat(two[0].count("probes")).isZero();
        assertUsed(nanos, 200 * 200, 500, 0.9);
        // Acknowledged together, as they arrive.
        assertThat(two[1].count("sent.acks")).isLessThan(200 * 200 / 4);
    }

    @Test
    void eightSendersAtOnceNeedNoAckTimeout() {
        End to = new End();
        var from = new ArrayList<End>();
        for (int i = 0; i < 8; i++) {
            End end = new End();
            end.connect(to);
            from.add(end);
        }
        to.device.slow(96, 4_000);
        long nanos = transfer(from, to, false, MESSAGE, 100, DEPTH);
        long again = 0;
        for (End end : from) {
            assertThat(end.count("ack.timeouts")).isZero();
            again += end.count("retransmitted.packets");
        }
        assertUsed(nanos, 8 * 100 * 16, 4_000, 0.8);
        assertThat(again).as("sent again").isLessThan(8 * 100 * 16 / 4);
    }

    /// What a peer without a receive throws away takes no room from others.
    @Test
    void aQueuePairThatWaitsForAReceiverHoldsNobodyUp() {
        End[] two = pair(2);
        QueuePair waiting = two[0].queuePairs.removeFirst();
        for (int i = 0; i < DEPTH; i++) {
            waiting.postSend(i, two[0].memory.slice(0, MESSAGE));
        }
        long nanos = transfer(List.of(two[0]), two[1], false, MESSAGE, 500, DEPTH);
        assertThat(two[0].count("received.nak.rnr")).isPositive();
        assertUsed(nanos, 500 * 16, PACKET_NANOS, 0.8);
    }

    // ---- recovery

    /// The k-th packet, and nothing else, gets lost: the whole costs no more than two loaded round trips beyond.
    @Test
    void aSingleLossIsRepairedWithinTwoRoundTrips() {
        End[] lossless = pair(1);
        long before = transfer(List.of(lossless[0]), lossless[1], false, MESSAGE, 200, DEPTH);
        End[] two = pair(1);
        two[0].loses = n -> n == 1_600;
        long nanos = transfer(List.of(two[0]), two[1], false, MESSAGE, 200, DEPTH);
        assertThat(nanos - before).isLessThan(2 * WINDOW * PACKET_NANOS);
        assertThat(two[0].count("retransmitted.packets")).isBetween(1L, (long) WINDOW);
        assertThat(two[0].count("ack.timeouts") + two[0].count("probes")).isZero();
    }

    @Test
    void aLostTailIsRepairedByAProbe() {
        End[] two = pair(1);
        transfer(List.of(two[0]), two[1], false, MESSAGE, 4, 1);
        for (int tail : new int[] {1, 5, 16}) {
            int last = two[0].sent + 16;
            two[0].loses = n -> n >= last - tail && n < last;
            long nanos = transfer(List.of(two[0]), two[1], false, MESSAGE, 1, 1);
            assertThat(nanos).as("last %d lost", tail).isLessThan(2 * PeerWindow.PROBE_NANOS_MIN);
        }
        assertThat(two[0].count("probes")).isEqualTo(3);
        assertThat(two[0].count("ack.timeouts")).isZero();
    }

    @Test
    void aLostAnswerIsAskedForByAProbe() {
        End[] two = pair(1);
        for (boolean read : new boolean[] {false, true}) {
            transfer(List.of(two[0]), two[1], read, MESSAGE, 4, 1);
            int last = two[1].sent + (read ? 15 : 0);
            two[1].loses = n -> n == last;
            long nanos = transfer(List.of(two[0]), two[1], read, MESSAGE, 1, 1);
            assertThat(nanos).isLessThan(2 * PeerWindow.PROBE_NANOS_MIN);
        }
        assertThat(two[0].count("probes")).isEqualTo(2);
        assertThat(two[0].count("retransmitted.packets")).isLessThanOrEqualTo(3);
        assertThat(two[0].count("ack.timeouts")).isZero();
    }

    /// The probe asks for what is just being answered: that begins again, and what is behind it stays behind it.
    @Test
    void aProbeOfAReadThatIsOnlyLateChangesNoOrder() {
        End[] two = pair(1);
        two[1].loses = n -> {
            if (n % 1_700 == 1_699) {
                two[1].device.pause(3 * PeerWindow.PROBE_NANOS_MIN);
            }
            return false;
        };
        transfer(List.of(two[0]), two[1], true, MESSAGE, 1_000, DEPTH);
        assertThat(two[0].count("probes")).isPositive();
        assertThat(two[0].count("implied.naks")).isZero();
        assertThat(two[0].count("dropped.early-response")).isZero();
    }

    @Test
    void aLostNakIsMadeUpForByAProbe() {
        End[] two = pair(1);
        transfer(List.of(two[0]), two[1], false, MESSAGE, 4, 1);
        int gap = two[0].sent + 3;
        int nak = two[1].sent;
        two[0].loses = n -> n == gap;
        two[1].loses = n -> n == nak;
        long nanos = transfer(List.of(two[0]), two[1], false, MESSAGE, 1, 1);
        assertThat(nanos).isLessThan(2 * PeerWindow.PROBE_NANOS_MIN);
        assertThat(two[0].count("probes")).isEqualTo(1);
        assertThat(two[0].count("ack.timeouts")).isZero();
        assertThat(two[0].count("retransmitted.packets")).isLessThan(16 + 4);
    }

    @ParameterizedTest
    @CsvSource({"0.0001, 0.98, 0.98", "0.001, 0.95, 0.95", "0.01, 0.75, 0.65"})
    void lossAtRandomCostsNoAckTimeouts(double loss, double writes, double reads) {
        for (boolean read : new boolean[] {false, true}) {
            End[] two = pair(1);
            world.faults(NetworkFaults.of(loss, 0, 0));
            long nanos = transfer(List.of(two[0]), two[1], read, MESSAGE, 2_000, DEPTH);
            assertThat(two[0].count("retransmitted.packets")).isPositive();
            assertThat(two[0].count("ack.timeouts")).isZero();
            assertUsed(nanos, 2_000 * 16, PACKET_NANOS, read ? reads : writes);
            world.faults(NetworkFaults.NONE);
        }
    }
}
