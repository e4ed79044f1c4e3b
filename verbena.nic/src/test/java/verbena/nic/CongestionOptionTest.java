package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;

/// Devices with `congestion=…` and `ecn=…` in their names, over sockets.
@Timeout(120)
class CongestionOptionTest {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final int LENGTH = 2 << 20;

    private static final class End implements AutoCloseable {
        final Context context;
        final ProtectionDomain domain;
        final CompletionQueue cq;
        final QueuePair queuePair;
        final MemoryRegion memory;

        End(String device) {
            context = Device.named(device).open();
            domain = context.allocateProtectionDomain();
            cq = context.createCompletionQueue(256);
            queuePair = domain.createQueuePair(QueuePairOptions.rc(cq));
            memory = domain.allocate(2L * LENGTH, Access.remoteAll());
        }

        long count(String counter) {
            return context.counters().get(counter);
        }

        @Override
        public void close() {
            queuePair.close();
            memory.close();
            cq.close();
            domain.close();
            context.close();
        }
    }

    /// Writes to `b` and reads it back; returns how long the WRITE took.
    private static long writeAndRead(End a, End b) throws InterruptedException {
        a.queuePair.connect(b.queuePair.endpoint());
        b.queuePair.connect(a.queuePair.endpoint());
        for (long i = 0; i < LENGTH; i++) {
            a.memory.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 / 5));
        }
        var wc = new WorkCompletion();
        long begin = System.nanoTime();
        a.queuePair.postWrite(1, a.memory.slice(0, LENGTH), b.memory.remote());
        assertThat(a.cq.await(wc, SOON)).isTrue();
        long took = System.nanoTime() - begin;
        assertThat(wc.ok()).as(wc.toString()).isTrue();
        a.queuePair.postRead(2, b.memory.remote().slice(0, LENGTH), a.memory.slice(LENGTH, LENGTH));
        assertThat(a.cq.await(wc, SOON)).isTrue();
        assertThat(wc.ok()).as(wc.toString()).isTrue();
        assertThat(a.memory
                        .segment()
                        .asSlice(LENGTH)
                        .mismatch(a.memory.segment().asSlice(0, LENGTH)))
                .isEqualTo(-1);
        return took;
    }

    /// The mark is in the packet of the sender, so that it goes through the sockets and what they coalesce.
    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "rocev2@::1"})
    void whatIsMarkedOnItsWayLowersTheRate(String device) throws InterruptedException {
        // For a second no rate rises again, however late threads run.
        String rule =
                ",congestion=dcqcn,rpg_max_rate:200,rpg_min_rate:100,rpg_time_reset:1000000,rpg_byte_reset:1000000000";
        boolean ipv6 = device.contains("::");
        try (End a = new End(device + rule + ",faults=mark:100%,on:sent");
                End b = new End((ipv6 ? "rocev2@::1" : "rocev2") + rule)) {
            long took = writeAndRead(a, b);

            // All but the first 128 packets leave at 200 Mbit/s at most.
            assertThat(took).isGreaterThan(8L * (LENGTH - 128 * 4096) * 1_000 / 200);
            assertThat(a.count("faults.sent.marked")).isGreaterThanOrEqualTo(LENGTH / 4096);
            assertThat(b.count("np_ecn_marked_roce_packets")).isGreaterThanOrEqualTo(LENGTH / 4096);
            assertThat(b.count("np_cnp_sent")).isBetween(1L, b.count("np_ecn_marked_roce_packets"));
            assertThat(a.count("rp_cnp_handled")).isBetween(1L, b.count("np_cnp_sent"));
            assertThat(a.count("np_cnp_sent"))
                    .as("nothing that b sends is marked")
                    .isZero();
        }
    }

    @Test
    void halfOfTheArrivalsMarkedAndSomeLost() throws InterruptedException {
        String rule = ",congestion=dcqcn,rpg_min_rate:1000";
        try (End a = new End("rocev2" + rule);
                End b = new End("rocev2" + rule + ",faults=mark:50%,loss:2%,on:received,seed:7")) {
            writeAndRead(a, b);

            assertThat(b.count("faults.received.marked")).isPositive();
            assertThat(b.count("np_cnp_sent")).isPositive();
            assertThat(a.count("rp_cnp_handled")).isPositive();
        }
    }

    @Test
    void onlyMarksAreAnsweredWhereNoRuleHeedsNotifications() throws InterruptedException {
        try (End a = new End("rocev2,ecn=on");
                End b = new End("rocev2,ecn=on,faults=mark:100%,on:received")) {
            writeAndRead(a, b);

            assertThat(b.count("np_cnp_sent")).isPositive();
            assertThat(a.count("rp_cnp_ignored")).isPositive();
            assertThat(a.count("rp_cnp_handled")).isZero();
        }
    }

    @Test
    void withoutTheOptionNothingCanBeMarked() throws InterruptedException {
        try (End a = new End("rocev2");
                End b = new End("rocev2,faults=mark:100%")) {
            writeAndRead(a, b);

            assertThat(b.count("faults.received.marked") + b.count("faults.sent.marked"))
                    .isZero();
            assertThat(b.count("np_ecn_marked_roce_packets")).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rocev2,congestion=swift",
                "rocev2,congestion=swift,target:50",
                "rocev2,congestion=swift,link=portable"
            })
    void bytesMoveByDelay(String device) throws InterruptedException {
        try (End a = new End(device);
                End b = new End(device)) {
            writeAndRead(a, b);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            rocev2,congestion=cubic         | option "congestion=cubic": window, dcqcn or swift, got "cubic"
            rocev2,congestion=window,beta:1 | window has no parameter "beta"; it has none
            rocev2,congestion=swift,beta:2  | beta: 0.01 to 1, got 2
            rocev2,congestion=swift,beta    | beta: a number, got ""
            rocev2,congestion=dcqcn,g:2     | dcqcn has no parameter "g"; it has clamp_tgt_rate, cnp_dscp, dce_tcp_g
            rocev2,congestion=dcqcn,rpg_threshold:0 | rpg_threshold: 1 to 1000, got 0
            rocev2,congestion=dcqcn,ecn=off | option "ecn=off": congestion=dcqcn needs marks
            rocev2,ecn=maybe                | option "ecn=maybe": on or off, got "maybe"
            """)
    void mistakesAreNamed(String name, String message) {
        assertThatThrownBy(() -> Device.named(name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    @Test
    void marksNeedSocketsThatReadThem() {
        Device device = Device.named("rocev2,congestion=dcqcn,link=portable");

        assertThatThrownBy(device::open)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("congestion=dcqcn")
                .hasMessageContaining("link=portable");
    }
}
