package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.nic.device.DeviceContext;
import verbena.nic.link.Interfaces;
import verbena.nic.link.Link;
import verbena.nic.link.LoopbackAddress;
import verbena.nic.link.udp.UdpLinks;
import verbena.nic.link.udp.UdpOptions;
import verbena.nic.roce.LinkDevice;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.VerbsObject;
import verbena.verbs.WorkCompletion;
import verbena.wire.roce.RoceV2;

/// Doorbells of several queue pairs leave together when a thread rings them in a burst, and none is forgotten
/// (decision 14). The device's clock does not move, so that a slow machine does not end a burst.
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DoorbellTest {
    private static final int QUEUE_PAIRS = 10;
    private static final long SOON_NANOS = 20_000_000_000L;
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    /// The number of packets in each batch that `here` has given to its link.
    private final ConcurrentLinkedQueue<Integer> batches = new ConcurrentLinkedQueue<>();
    private final List<VerbsObject> made = new ArrayList<>();
    private final DeviceContext here = made(open(this::counting));
    private final DeviceContext there = made(open(link -> link));
    private final ProtectionDomain domain = made(here.allocateProtectionDomain());
    private final ProtectionDomain remoteDomain = made(there.allocateProtectionDomain());
    private final CompletionQueue cq = made(here.createCompletionQueue(1_024));
    private final CompletionQueue remoteCq = made(there.createCompletionQueue(1_024));
    private final MemoryRegion memory = made(domain.allocate(8, Access.local()));
    private final MemoryRegion remote = made(remoteDomain.allocate(8L * QUEUE_PAIRS, Access.remoteAll()));
    private final List<QueuePair> queuePairs = new ArrayList<>();
    private final WorkCompletion wc = new WorkCompletion();
    private long rounds;

    DoorbellTest() {
        for (int i = 0; i < QUEUE_PAIRS; i++) {
            QueuePair one = made(domain.createQueuePair(QueuePairOptions.rc(cq)));
            QueuePair other = made(remoteDomain.createQueuePair(QueuePairOptions.rc(remoteCq)));
            one.connect(other.endpoint());
            other.connect(one.endpoint());
            queuePairs.add(one);
        }
    }

    @AfterEach
    void close() {
        made.reversed().forEach(VerbsObject::close);
    }

    private <T extends VerbsObject> T made(T object) {
        made.add(object);
        return object;
    }

    private interface Around {
        Link link(Link inner);
    }

    private static DeviceContext open(Around around) {
        Link link = LoopbackAddress.claim(address ->
                UdpLinks.open(Interfaces.loopback().withOnly(address).gids(), RoceV2.UDP_PORT, UdpOptions.DEFAULT));
        return (DeviceContext)
                LinkDevice.open("doorbells", around.link(link), () -> 1_000_000_000, new Random(1), true);
    }

    private Link counting(Link inner) {
        return (Link) Proxy.newProxyInstance(
                Link.class.getClassLoader(), new Class<?>[] {Link.class}, (_, method, arguments) -> {
                    if (method.getName().equals("transmit")) {
                        batches.add((Integer) arguments[2]);
                    }
                    return method.invoke(inner, arguments);
                });
    }

    /// One WRITE of each queue pair, a doorbell each.
    private void burst() {
        memory.segment().set(ValueLayout.JAVA_LONG, 0, ++rounds);
        for (int i = 0; i < QUEUE_PAIRS; i++) {
            queuePairs.get(i).postWrite(i, memory.slice(0, 8), remote.remote().slice(8L * i, 8));
        }
    }

    private boolean hasArrived() {
        for (int i = 0; i < QUEUE_PAIRS; i++) {
            if ((long) LONG.getAcquire(remote.segment(), 8L * i) != rounds) {
                return false;
            }
        }
        return true;
    }

    /// Polls, which makes the engine's thread stay away.
    private void complete() {
        for (int left = QUEUE_PAIRS; left > 0; ) {
            left -= cq.poll(wc) ? 1 : 0;
        }
    }

    private static void until(BooleanSupplier holds) {
        long end = System.nanoTime() + SOON_NANOS;
        while (!holds.getAsBoolean()) {
            assertThat(System.nanoTime() - end).as("nanoseconds late").isNegative();
            Thread.onSpinWait();
        }
    }

    @Test
    void theFirstLeavesAtOnceAndTheOthersTogetherWithTheNextPoll() {
        // Only while no thread sleeps in the link, as when a thread polls without pause.
        until(() -> {
            batches.clear();
            burst();
            List<Integer> atOnce = List.copyOf(batches);
            complete();
            List<Integer> all = List.copyOf(batches);
            return atOnce.equals(List.of(1)) && all.equals(List.of(1, QUEUE_PAIRS - 1));
        });
    }

    @Test
    void aBurstArrivesAlsoWhenItsThreadNeverPollsAgain() {
        for (int i = 0; i < 200; i++) {
            burst();
            complete();
            batches.clear();
            burst();
            until(this::hasArrived);
            complete();
        }
    }

    @Test
    void whatWaitsLeavesBeforeItsQueuePairIsClosed() {
        burst();
        complete();
        burst();
        queuePairs.forEach(QueuePair::close);
        until(this::hasArrived);
    }
}
