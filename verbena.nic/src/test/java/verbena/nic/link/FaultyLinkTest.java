package verbena.nic.link;

import static org.assertj.core.api.Assertions.assertThat;
import static verbena.nic.link.LinkBench.SECOND;
import static verbena.nic.link.LinkBench.TIMEOUT_NANOS;
import static verbena.nic.link.LinkBench.drain;
import static verbena.nic.link.LinkBench.fill;
import static verbena.nic.link.LinkBench.filled;
import static verbena.nic.link.LinkBench.frames;
import static verbena.nic.link.LinkBench.gidOf;
import static verbena.nic.link.LinkBench.number;
import static verbena.nic.link.LinkBench.receiveAll;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.link.udp.NearSockets;
import verbena.nic.link.udp.UdpLink;
import verbena.nic.link.udp.UdpOptions;
import verbena.verbs.Gid;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.roce.RoceV2;

/// Over real sockets, where packets have arrived when the sending call returns, with a clock that the test moves:
/// so every outcome is exact.
@Timeout(180)
class FaultyLinkTest {
    private static final int SMALL = 64;
    private static final int COUNT = 2_000;
    private static final long MILLISECOND = SECOND / 1_000;

    private long now = 1_000 * SECOND;
    private final UdpLink far = LinkBench.openAnywhere(UdpOptions.DEFAULT);
    private final List<Link> opened = new ArrayList<>(List.of(far));

    @AfterEach
    void close() {
        opened.forEach(Link::close);
    }

    private FaultyLink faulty(String faults) {
        UdpLink below = LinkBench.openAnywhere(UdpOptions.DEFAULT);
        var link = new FaultyLink(below, Faults.parse(faults), () -> now);
        opened.add(link);
        return link;
    }

    // Sends `count` packets in batches; returns which of them arrive, in order of arrival.
    private List<Integer> exchange(Link from, Link to, int count, int batch) {
        Frame[] sent = frames(batch);
        Frame[] received = frames(batch * 4);
        var arrived = new ArrayList<Integer>();
        for (int first = 0; first < count; first += batch) {
            for (int i = 0; i < batch; i++) {
                fill(sent[i], gidOf(from), gidOf(to), first + i, SMALL);
            }
            assertThat(from.transmit(sent, 0, batch)).isEqualTo(batch);
            int n = drain(to, received);
            for (int i = 0; i < n; i++) {
                arrived.add(received[i].icrcValid ? number(received[i]) : -1);
            }
        }
        return arrived;
    }

    // --- decisions

    @ParameterizedTest
    @ValueSource(strings = {"sent", "received"})
    void theSameSeedDecidesTheSameHoweverPacketsCome(String on) {
        String faults = "loss:10%,duplicate:5%,corrupt:3%,on:" + on + ",seed:";
        List<Integer> first = run(faults + 7, on, 50);

        assertThat(run(faults + 7, on, 50)).isEqualTo(first);
        assertThat(run(faults + 7, on, 1)).isEqualTo(first);
        assertThat(run(faults + 8, on, 50)).isNotEqualTo(first);
    }

    private List<Integer> run(String faults, String on, int batch) {
        FaultyLink link = faulty(faults);
        return on.equals("sent") ? exchange(link, far, COUNT, batch) : exchange(far, link, COUNT, batch);
    }

    @Test
    void withoutASeedOneIsDrawnAndTold() {
        FaultyLink drawn = faulty("loss:50%,on:sent");
        List<Integer> arrived = exchange(drawn, far, COUNT, 50);

        long seed = drawn.counters().get("faults.seed");
        assertThat(run("loss:50%,on:sent,seed:" + seed, "sent", 50)).isEqualTo(arrived);
    }

    @Test
    void eachFaultHappensAsOftenAsItIsAskedFor() {
        FaultyLink link = faulty("loss:10%,duplicate:5%,corrupt:20%,on:both,seed:1");
        exchange(link, far, COUNT, 50);
        exchange(far, link, COUNT, 50);

        for (String direction : List.of("sent", "received")) {
            assertThat(counter(link, direction, "lost")).isBetween(160L, 240L);
            assertThat(counter(link, direction, "duplicated")).isBetween(60L, 120L);
            assertThat(counter(link, direction, "corrupted")).isBetween(300L, 420L);
            assertThat(counter(link, direction, "reordered")).isZero();
            assertThat(counter(link, direction, "overflowed")).isZero();
        }
        // The two directions have random numbers of their own.
        assertThat(counter(link, "sent", "lost")).isNotEqualTo(counter(link, "received", "lost"));
    }

    private static long counter(FaultyLink link, String direction, String what) {
        return link.counters().get("faults." + direction + "." + what);
    }

    // --- each fault

    @Test
    void withoutFaultsEverythingPasses() {
        FaultyLink link = faulty("loss:0%");
        assertThat(exchange(link, far, 200, 50)).hasSize(200).isSorted();
        assertThat(exchange(far, link, 200, 50)).hasSize(200).isSorted();
    }

    @Test
    void oneDirectionAloneIsConcerned() {
        FaultyLink deaf = faulty("loss:100%,on:received");
        assertThat(exchange(deaf, far, 100, 50)).hasSize(100);
        assertThat(exchange(far, deaf, 100, 50)).isEmpty();
        FaultyLink mute = faulty("loss:100%,on:sent");
        assertThat(exchange(mute, far, 100, 50)).isEmpty();
        assertThat(exchange(far, mute, 100, 50)).hasSize(100);
        assertThat(counter(mute, "sent", "lost")).isEqualTo(100);
    }

    @Test
    void aDuplicateFollowsItsOriginal() {
        assertThat(exchange(faulty("duplicate:100%,on:sent"), far, 3, 3)).containsExactly(0, 0, 1, 1, 2, 2);
        assertThat(exchange(far, faulty("duplicate:100%"), 3, 3)).containsExactly(0, 0, 1, 1, 2, 2);
    }

    /// Damage as on a wire: one bit is inverted, and the ICRC is that of the sent packet.
    @Test
    void damageOnTheWayOutIsOneBitThatTheReceiverNotices() {
        Link intact = faulty("loss:0%");
        FaultyLink link = new FaultyLink(intact, Faults.parse("corrupt:100%,on:sent,seed:5"), () -> now);
        Frame[] original = frames(1);
        Frame[] damaged = frames(1);
        int uncovered = 0;
        // From here on a connected socket counts identifications, which the ICRC covers, where the system tells them.
        exchange(intact, far, NearSockets.RUNS_UNTIL_CONNECTED, 1);
        int before = identification(intact, original);
        int step = (identification(intact, original) - before) & 0xFFFF;
        for (int i = 0; i < COUNT; i++) {
            int identification = identification(intact, original);
            link.transmit(filled(1, gidOf(intact), gidOf(far), SMALL), 0, 1);
            assertThat(receiveAll(far, damaged, 1)).isEqualTo(1);
            new RoceV2().seal(original[0], (identification + step) & 0xFFFF);

            int byteOfDifference = (int) original[0].packet().mismatch(damaged[0].packet());
            assertThat(differingBits(original[0], damaged[0])).isEqualTo(1);
            assertThat(damaged[0].icrcValid).as("byte " + byteOfDifference).isEqualTo(byteOfDifference == 4);
            uncovered += byteOfDifference == 4 ? 1 : 0;
        }
        assertThat(uncovered).isBetween(10, 60);
    }

    /// The IPv4 identification of a packet that is sent intact, and received into `original`.
    private int identification(Link intact, Frame[] original) {
        intact.transmit(filled(1, gidOf(intact), gidOf(far), SMALL), 0, 1);
        assertThat(receiveAll(far, original, 1)).isEqualTo(1);
        var roce = new RoceV2();
        assertThat(roce.verify(original[0])).isTrue();
        return roce.identification();
    }

    @Test
    void damageOnTheWayInIsOneBitAndCounts() {
        FaultyLink link = faulty("corrupt:100%,on:received,seed:5");
        Frame[] received = frames(1);
        int uncovered = 0;
        for (int i = 0; i < COUNT; i++) {
            Frame[] sent = filled(1, gidOf(far), gidOf(link), SMALL);
            far.transmit(sent, 0, 1);
            assertThat(receiveAll(link, received, 1)).isEqualTo(1);

            int byteOfDifference = (int) sent[0].packet().mismatch(received[0].packet());
            assertThat(differingBits(sent[0], received[0])).isEqualTo(1);
            assertThat(received[0].icrcValid).as("byte " + byteOfDifference).isEqualTo(byteOfDifference == 4);
            uncovered += received[0].icrcValid ? 1 : 0;
        }
        assertThat(uncovered).isBetween(10, 60);
    }

    private static int differingBits(Frame a, Frame b) {
        int bits = 0;
        for (int i = 0; i < SMALL; i++) {
            bits += Integer.bitCount((a.packet().get(java.lang.foreign.ValueLayout.JAVA_BYTE, i)
                            ^ b.packet().get(java.lang.foreign.ValueLayout.JAVA_BYTE, i))
                    & 0xFF);
        }
        return bits;
    }

    @Test
    void aSentFrameIsTheCallersAgainAndUntouched() {
        FaultyLink link = faulty("corrupt:100%,duplicate:50%,delay:1ms,on:sent,seed:5");
        Frame[] sent = filled(50, gidOf(link), gidOf(far), SMALL);
        Frame[] expected = filled(50, gidOf(link), gidOf(far), SMALL);
        link.transmit(sent, 0, 50);
        for (int i = 0; i < 50; i++) {
            assertThat(sent[i].packet().mismatch(expected[i].packet())).isEqualTo(-1);
            assertThat(sent[i].marks.damagedBit).isEqualTo(-1);
        }
    }

    @Test
    void aDelayIsExact() {
        FaultyLink link = faulty("delay:5ms");
        Frame[] received = frames(10);
        link.transmit(filled(3, gidOf(link), gidOf(far), SMALL), 0, 3);
        now += 5 * MILLISECOND - 1;
        assertThat(drain(link, received)).isZero(); // this call also sends packets that are due
        assertThat(drain(far, received)).isZero();
        now += 1;
        drain(link, received);
        assertThat(drain(far, received)).isEqualTo(3);

        far.transmit(filled(3, gidOf(far), gidOf(link), SMALL), 0, 3);
        assertThat(drain(link, received)).isZero(); // the packet sets out
        now += 5 * MILLISECOND - 1;
        assertThat(drain(link, received)).isZero();
        now += 1;
        assertThat(drain(link, received)).isEqualTo(3);
        assertThat(number(received[2])).isEqualTo(2);
    }

    @Test
    void aPacketHeldBackIsOvertaken() {
        FaultyLink link = faulty("reorder:20%,seed:3");
        Frame[] received = frames(100);
        link.transmit(filled(50, gidOf(link), gidOf(far), SMALL), 0, 50);
        int atOnce = drain(far, received);
        now += Faults.REORDER_NANOS;
        drain(link, frames(1));
        Frame[] late = frames(100);
        int later = drain(far, late);

        assertThat(atOnce + later).isEqualTo(50);
        assertThat((long) later).isEqualTo(counter(link, "sent", "reordered")).isBetween(5L, 15L);
        assertThat(number(late[0])).isLessThan(number(received[atOnce - 1]));
    }

    @Test
    void moreThanFitsOnTheWayInIsDroppedAndCountedOnTheWayOutItWaits() {
        FaultyLink link = faulty("delay:1s");
        int room = FaultyLink.HELD_MAX - 1;
        Frame[] sent = filled(FaultyLink.HELD_MAX + 50, gidOf(link), gidOf(far), SMALL);
        assertThat(link.transmit(sent, 0, sent.length)).isEqualTo(room);
        assertThat(link.transmit(sent, 0, 1)).isZero();
        now += SECOND;
        assertThat(link.transmit(sent, 0, 1)).isZero(); // this call makes room
        assertThat(link.transmit(sent, 0, 1)).isEqualTo(1);
        assertThat(drain(far, frames(2 * FaultyLink.HELD_MAX))).isEqualTo(room);

        for (Frame frame : sent) {
            fill(frame, gidOf(far), gidOf(link), 0, SMALL);
        }
        far.transmit(sent, 0, sent.length);
        for (int i = 0; i < 20; i++) {
            assertThat(link.receive(frames(1), 0, 1)).isZero();
        }
        assertThat(counter(link, "received", "overflowed")).isEqualTo(51);
        now += SECOND;
        assertThat(drain(link, frames(2 * FaultyLink.HELD_MAX))).isEqualTo(room);
    }

    // --- the contract of links

    @Test
    void theSleepEndsWhenSomethingHeldBackIsDue() {
        UdpLink below = LinkBench.openAnywhere(UdpOptions.DEFAULT);
        try (var link = new FaultyLink(below, Faults.parse("delay:20ms,on:sent"), System::nanoTime)) {
            long start = System.nanoTime();
            link.transmit(filled(1, gidOf(link), gidOf(far), SMALL), 0, 1);
            Frame[] received = frames(1);
            while (far.receive(received, 0, 1) == 0) {
                link.await(-1);
                link.receive(frames(1), 0, 1);
            }
            assertThat(System.nanoTime() - start).isBetween(20 * MILLISECOND, TIMEOUT_NANOS);
            // Now nothing is due, and the sleep lasts.
            start = System.nanoTime();
            link.await(SECOND / 50);
            assertThat(System.nanoTime() - start).isGreaterThan(SECOND / 100);
        }
    }

    @Test
    void aSleeperIsWokenForAnEarlierDeadline() throws InterruptedException {
        UdpLink below = LinkBench.openAnywhere(UdpOptions.DEFAULT);
        try (var link = new FaultyLink(below, Faults.parse("delay:10ms"), System::nanoTime)) {
            for (int i = 0; i < 20; i++) {
                Thread sleeper = Thread.ofPlatform().start(() -> {
                    Frame[] received = frames(1);
                    long deadline = System.nanoTime() + TIMEOUT_NANOS;
                    // Until the other thread's packet has left: only this thread drives after that.
                    while (far.receive(received, 0, 1) == 0 && System.nanoTime() < deadline) {
                        link.await(-1);
                        synchronized (link) {
                            link.receive(frames(1), 0, 1);
                        }
                    }
                });
                synchronized (link) {
                    link.transmit(filled(1, gidOf(link), gidOf(far), SMALL), 0, 1);
                }
                sleeper.join(TIMEOUT_NANOS / 1_000_000);
                assertThat(sleeper.isAlive()).isFalse();
            }
        }
    }

    @Test
    void wakeupsGroupsAndCountersAreThoseBelow() {
        FaultyLink link = faulty("loss:100%,on:sent");
        link.wakeup();
        link.await(-1);
        Gid group = LinkBench.anyGroup();
        link.join(group);
        far.transmit(filled(1, gidOf(far), group, SMALL), 0, 1);
        assertThat(receiveAll(link, frames(1), 1)).isEqualTo(1);
        link.leave(group);
        far.transmit(filled(1, gidOf(far), group, SMALL), 0, 1);
        assertThat(drain(link, frames(1))).isZero();

        FaultyLink open = faulty("on:sent");
        open.transmit(filled(1, Gid.parse("198.51.100.7"), gidOf(far), SMALL), 0, 1);
        assertThat(open.unsendable()).isEqualTo(1);
        assertThat(open.packetMax()).isEqualTo(far.packetMax());
    }

    @Test
    void afterCloseNothingArrives() {
        FaultyLink link = faulty("delay:1ms");
        far.transmit(filled(1, gidOf(far), gidOf(link), SMALL), 0, 1);
        assertThat(drain(link, frames(1))).isZero();
        link.close();
        now += SECOND;
        assertThat(link.receive(frames(1), 0, 1)).isZero();
        assertThat(link.transmit(filled(1, gidOf(far), gidOf(far), SMALL), 0, 1))
                .isZero();
        link.await(-1);
    }

    @Test
    void thePacketPathAllocatesNothing() {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        FaultyLink a = faulty("loss:5%,duplicate:5%,corrupt:5%,on:both");
        FaultyLink b = faulty("loss:5%,duplicate:5%,corrupt:5%,on:both");
        Frame[] sent = filled(64, gidOf(a), gidOf(b), 256);
        Frame[] received = frames(64);
        long least = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 200 && least > 0; attempt++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 100; i++) {
                a.transmit(sent, 0, 64);
                b.receive(received, 0, 64);
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertThat(least).isZero();
    }

    @Test
    void theHeapKeepsTimeThenOrder() {
        var held = new HeldFrames(300);
        var random = new java.util.Random(4);
        Frame frame = filled(1, gidOf(far), gidOf(far), Bth.BYTES + 4)[0];
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < 300; i++) {
                fill(frame, gidOf(far), gidOf(far), i, SMALL);
                held.add(frame, random.nextInt(40));
            }
            assertThat(held.room()).isZero();
            long due = -1;
            int last = -1;
            for (int i = 0; i < 300; i++) {
                assertThat(held.firstDue()).isGreaterThanOrEqualTo(due);
                last = held.firstDue() > due ? -1 : last;
                due = held.firstDue();
                assertThat(number(held.first())).isGreaterThan(last);
                last = number(held.first());
                held.removeFirst();
            }
            assertThat(held.firstDue()).isEqualTo(HeldFrames.NEVER);
        }
    }
}
