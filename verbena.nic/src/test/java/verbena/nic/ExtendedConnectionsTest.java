package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.device.DeviceContext;
import verbena.verbs.Access;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Capability;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.UnsupportedException;
import verbena.verbs.VerbsObject;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.XrcDomain;

/// XRC with real threads and engines: queues that are closed while messages arrive, targets on several engines,
/// completion queues that overflow.
class ExtendedConnectionsTest {
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final int BYTES = 60_000;

    private final WorkCompletion wc = new WorkCompletion();

    /// A device with a domain, memory, and a completion queue for sends and one for receives.
    private static final class End implements AutoCloseable {
        final DeviceContext context;
        final ProtectionDomain domain;
        final CompletionQueue sent;
        final CompletionQueue received;
        final MemoryRegion memory;
        final XrcDomain xrc;
        final List<VerbsObject> made = new ArrayList<>();

        End(String device, int entries) {
            context = (DeviceContext) Device.named(device).open();
            domain = context.allocateProtectionDomain();
            sent = context.createCompletionQueue(64);
            received = context.createCompletionQueue(entries);
            memory = domain.allocate(BYTES, Access.remoteAll());
            xrc = context.openXrcDomain();
        }

        SharedReceiveQueue queue() {
            return xrc.createSharedReceiveQueue(domain, received, 16, 1);
        }

        /// An initiator here, connected to a fresh target there.
        QueuePair connect(End to) {
            QueuePair initiator = domain.createQueuePair(QueuePairOptions.xrcInitiator(sent));
            QueuePair target = to.xrc.createTarget();
            made.add(initiator);
            to.made.add(target);
            initiator.connect(target.endpoint());
            target.connect(initiator.endpoint());
            return initiator;
        }

        @Override
        public void close() {
            made.forEach(VerbsObject::close);
            xrc.close();
            memory.close();
            sent.close();
            received.close();
            domain.close();
            assertThat(context.containedFailure()).isEmpty();
            context.close();
        }
    }

    private static void send(QueuePair initiator, End from, long wrId, int number, int bytes) {
        try (var batch = initiator.sendBatch()) {
            batch.send(wrId).to(number).sge(from.memory, 0, bytes).signaled().submit();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2", "rocev2,engines=3"})
    void queuesAreClosedWhileMessagesComeIn(String device) throws Exception {
        try (var a = new End(device, 64);
                var b = new End(device, 64)) {
            QueuePair initiator = a.connect(b);
            for (int round = 0; round < 60; round++) {
                SharedReceiveQueue queue = b.queue();
                queue.postReceive(round, b.memory.slice(0, BYTES));
                send(initiator, a, round, queue.number().orElseThrow(), BYTES);
                for (int i = 0; i < round % 10 * 200; i++) {
                    Thread.onSpinWait();
                }
                queue.close();
                while (b.received.poll(wc)) {
                    assertThat(wc.ok()).as(wc.toString()).isTrue();
                }
                assertThat(a.sent.await(wc, LONG)).isTrue();
                if (wc.status() == WcStatus.REM_ACCESS_ERR) {
                    initiator = a.connect(b);
                } else {
                    assertThat(wc.ok()).as(wc.toString()).isTrue();
                }
                assertThat(b.received.poll(wc))
                        .as("a completion of a closed queue")
                        .isFalse();
            }
        }
    }

    @Test
    void targetsOfManyInitiatorsShareAQueueOnSeveralEngines() throws Exception {
        try (var a = new End("rocev2,engines=3", 64);
                var b = new End("rocev2,engines=3", 64);
                var queue = b.queue()) {
            var initiators = new ArrayList<QueuePair>();
            for (int i = 0; i < 6; i++) {
                initiators.add(a.connect(b));
            }
            for (int round = 0; round < 60; round++) {
                queue.postReceive(round, b.memory.slice(0, BYTES));
                send(initiators.get(round % 6), a, round, queue.number().orElseThrow(), 900 * round);
                assertThat(a.sent.await(wc, LONG)).isTrue();
                assertThat(wc.ok()).as(wc.toString()).isTrue();
                assertThat(b.received.await(wc, LONG)).isTrue();
                assertThat(wc.wrId()).isEqualTo(round);
                assertThat(wc.byteLength()).isEqualTo(900L * round);
            }
        }
    }

    @Test
    void aTargetBreaksWhenTheQueuesCompletionQueueOverflows() throws Exception {
        try (var a = new End("rocev2", 64);
                var b = new End("rocev2", 1);
                var queue = b.queue()) {
            QueuePair initiator = a.connect(b);
            var target = (QueuePair) b.made.getLast();
            int messages = b.received.capacity() + 1;
            for (int i = 0; i < messages; i++) {
                queue.postReceive(i, b.memory.slice(0, 100));
                send(initiator, a, i, queue.number().orElseThrow(), 10);
            }
            var event = b.context.awaitAsyncEvent(LONG).orElseThrow();
            while (event.type() != AsyncEvent.Type.QP_FATAL) {
                event = b.context.awaitAsyncEvent(LONG).orElseThrow();
            }
            assertThat(((AsyncEvent.QueuePairEvent) event).queuePair()).isSameAs(target);
            long end = System.nanoTime() + LONG.toNanos();
            while (target.state() != QpState.ERR) {
                assertThat(System.nanoTime() - end).as("nanoseconds late").isNegative();
                b.context.awaitAsyncEvent(Duration.ofMillis(1));
            }
        }
    }

    @Test
    void iwarpHasNone() {
        try (var context = Device.named("iwarp").open()) {
            assertThatThrownBy(context::openXrcDomain)
                    .isInstanceOfSatisfying(
                            UnsupportedException.class,
                            refused -> assertThat(refused.capability()).isEqualTo(Capability.XRC));
        }
    }
}
