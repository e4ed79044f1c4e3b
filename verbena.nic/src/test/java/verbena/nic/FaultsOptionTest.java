package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.nic.device.DeviceContext;
import verbena.nic.link.Faults;
import verbena.nic.link.FaultyLink;
import verbena.nic.roce.LinkDevice;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;

/// Devices with `faults=…` in their names.
@Timeout(120)
class FaultsOptionTest {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final int LENGTH = 100_000;

    private static final class End implements AutoCloseable {
        final Context context;
        final ProtectionDomain domain;
        final CompletionQueue cq;
        final QueuePair queuePair;
        final MemoryRegion memory;

        End(Context context) {
            this.context = context;
            domain = context.allocateProtectionDomain();
            cq = context.createCompletionQueue(256);
            queuePair = domain.createQueuePair(QueuePairOptions.rc(cq));
            memory = domain.allocate(3 * LENGTH, Access.remoteAll());
        }

        MemorySegment part(int number) {
            return memory.segment().asSlice((long) number * LENGTH, LENGTH);
        }

        void fill(int number) {
            for (long i = 0; i < LENGTH; i++) {
                part(number).set(ValueLayout.JAVA_BYTE, i, (byte) (number + i * 7 / 5));
            }
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

    private static void connect(End a, End b) {
        a.queuePair.connect(b.queuePair.endpoint());
        b.queuePair.connect(a.queuePair.endpoint());
    }

    // Posts a SEND, a WRITE and a READ of 25 packets each; checked by their effects.
    private static void post(End a, End b) {
        a.fill(0);
        a.fill(1);
        b.fill(2);
        b.queuePair.postReceive(1, b.memory.slice(0, LENGTH));
        a.queuePair.postSend(2, a.memory.slice(0, LENGTH));
        a.queuePair.postWrite(
                3, a.memory.slice(LENGTH, LENGTH), b.memory.remote().slice(LENGTH, LENGTH));
        a.queuePair.postRead(4, b.memory.remote().slice(2 * LENGTH, LENGTH), a.memory.slice(2 * LENGTH, LENGTH));
    }

    private static void expectMemory(End a, End b) {
        for (int part = 0; part < 3; part++) {
            assertThat(b.part(part).mismatch(a.part(part))).as("part " + part).isEqualTo(-1);
        }
    }

    @Test
    void oneFifthLostIsRepairedOverSockets() throws InterruptedException {
        try (End a = new End(Device.named("rocev2").open());
                End b = new End(Device.named("rocev2,faults=loss:20%,on:received,seed:7")
                        .open())) {
            connect(a, b);
            post(a, b);

            var wc = new WorkCompletion();
            for (long wrId = 2; wrId <= 4; wrId++) {
                assertThat(a.cq.await(wc, SOON)).isTrue();
                assertThat(wc.ok() && wc.wrId() == wrId).as(wc.toString()).isTrue();
            }
            assertThat(b.cq.await(wc, SOON)).isTrue();
            assertThat(wc.byteLength()).isEqualTo(LENGTH);
            expectMemory(a, b);

            SortedMap<String, Long> counters = b.context.counters();
            assertThat(counters.get("faults.received.lost")).isBetween(5L, counters.get("received.packets"));
            assertThat(counters)
                    .containsEntry("faults.seed", 7L)
                    .containsEntry("faults.sent.lost", 0L)
                    .containsEntry("faults.received.duplicated", 0L);
        }
    }

    @Test
    void everyFaultAtOnceIsRepairedOverSockets() throws InterruptedException {
        String faults = "loss:3%,duplicate:10%,reorder:5%,corrupt:3%,delay:100us,on:received,seed:7";
        try (End a = new End(Device.named("rocev2").open());
                End b = new End(Device.named("rocev2,link=portable,faults=" + faults + ",mtu=1024")
                        .open())) {
            connect(a, b);
            post(a, b);

            var wc = new WorkCompletion();
            for (long wrId = 2; wrId <= 4; wrId++) {
                assertThat(a.cq.await(wc, SOON)).isTrue();
                assertThat(wc.ok() && wc.wrId() == wrId).as(wc.toString()).isTrue();
            }
            expectMemory(a, b);
            SortedMap<String, Long> counters = b.context.counters();
            assertThat(counters.get("faults.received.corrupted")).isPositive();
            assertThat(counters.get("faults.received.duplicated")).isPositive();
            assertThat(counters.get("faults.received.reordered")).isPositive();
            assertThat(counters.get("dropped.icrc")).isPositive();
        }
    }

    /// Two devices in virtual time: all counters and the time taken, from two runs.
    @Test
    void oneSeedIsOneRun() {
        List<Object> first = virtualRun(7);

        assertThat(virtualRun(7)).isEqualTo(first);
        assertThat(virtualRun(8)).isNotEqualTo(first);
    }

    private static List<Object> virtualRun(long seed) {
        var clock = new Wire.Clock();
        var one = new Wire("10.0.0.1", clock);
        var two = new Wire("10.0.0.2", clock);
        one.connect(two);
        Faults faults = Faults.parse("loss:20%,duplicate:5%,seed:" + seed);
        try (End a = new End(virtual(one, faults, clock));
                End b = new End(virtual(two, Faults.NONE, clock))) {
            var soft = List.of((DeviceContext) a.context, (DeviceContext) b.context);
            connect(a, b);
            post(a, b);
            var wc = new WorkCompletion();
            int done = 0;
            while (done < 3) {
                while (a.cq.poll(wc)) {
                    assertThat(wc.ok()).as(wc.toString()).isTrue();
                    done++;
                }
                if (!soft.get(0).drive() && !soft.get(1).drive()) {
                    long next =
                            Math.min(soft.get(0).deadlineNanos(), soft.get(1).deadlineNanos());
                    clock.nanos = Math.max(clock.nanos, next);
                }
            }
            expectMemory(a, b);
            var counters = new TreeMap<>(a.context.counters());
            counters.remove("faults.seed");
            return List.of(clock.nanos, counters, b.context.counters().get("received.packets"));
        }
    }

    private static Context virtual(Wire wire, Faults faults, Wire.Clock clock) {
        return (DeviceContext) LinkDevice.open(
                "faulty", new FaultyLink(wire, faults, clock::nanos), clock::nanos, new Random(1), false);
    }

    @Test
    void withoutTheOptionNothingIsCounted() {
        try (Context plain = Device.named("rocev2").open()) {
            assertThat(plain.counters().keySet()).noneMatch(name -> name.startsWith("faults"));
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            rocev2,faults=loss:5                | device rocev2,faults=loss:5: option "faults=loss:5": loss: a percentage
            rocev2,faults=loss:5%,seed:x,mtu=256 | option "faults=loss:5%,seed:x": seed: a whole number
            rocev2,faults=                      | option "faults=": there is no fault ""
            rocev2,loss:5%                      | option "loss:5%": there is no option "loss:5%"; there are busy-poll, capture, congestion, ecn, engines, faults, link, mtu, psp, queue, secret, seed, vlan and weak
            rocev2,icrc=optional                | option "icrc=optional": there is no option "icrc"
            rocev2,mtu=256,seed:7               | option "mtu=256,seed:7"
            """)
    void mistakesAreNamed(String name, String message) {
        assertThatThrownBy(() -> Device.named(name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }
}
