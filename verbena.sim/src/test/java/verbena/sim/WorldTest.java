package verbena.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import verbena.verbs.Access;
import verbena.verbs.AsyncEvent;
import verbena.verbs.CompletionQueue;
import verbena.verbs.EndpointOptions;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;
import verbena.verbs.WorkCompletion;

class WorldTest {
    private static final int BYTES = 1 << 20;

    /// A device with a connected queue pair.
    private static final class End {
        final SimDevice device;
        final CompletionQueue cq;
        final QueuePair qp;
        final MemoryRegion memory;

        End(World world) {
            device = world.addDevice();
            var domain = device.context().allocateProtectionDomain();
            cq = device.context().createCompletionQueue(256);
            qp = domain.createQueuePair(QueuePairOptions.rc(cq));
            memory = device.register(domain, BYTES, Access.remoteAll());
        }
    }

    private static final class Two {
        final World world;
        final End a;
        final End b;

        Two(long seed) {
            world = new World(seed);
            a = new End(world);
            b = new End(world);
            world.connect(a.qp, b.qp, EndpointOptions.defaults());
        }

        /// Writes all of a's memory to b.
        void transfer() {
            for (int i = 0; i < BYTES; i += 8) {
                a.memory.segment().set(ValueLayout.JAVA_LONG, i, world.random().nextLong());
            }
            a.qp.postWrite(1, a.memory.slice(0, BYTES), b.memory.remote());
            var wc = new WorkCompletion();
            assertThat(world.runUntil(() -> a.device.poll(a.cq, wc), 60_000_000_000L))
                    .isTrue();
            assertThat(wc.ok()).as(wc.toString()).isTrue();
            assertThat(a.memory.segment().mismatch(b.memory.segment())).isEqualTo(-1);
        }
    }

    @Test
    void aMegabyteCrossesABadNetwork() {
        var two = new Two(1);
        two.world.faults(NetworkFaults.of(0.01, 0.01, 0.01).withReorder(0.01, 8).withJitter(10_000));
        two.transfer();
        Network network = two.world.network();
        assertThat(network.lost()).isPositive();
        assertThat(network.corrupted()).isPositive();
        assertThat(network.duplicated()).isPositive();
        assertThat(network.overtaken()).isPositive();
        assertThat(two.b.device.context().counters().get("dropped.icrc")
                        + two.a.device.context().counters().get("dropped.icrc")
                        + two.b.device.context().counters().get("dropped.malformed")
                        + two.a.device.context().counters().get("dropped.malformed"))
                .isPositive();
    }

    @Test
    void theSameSeedGivesTheSameWorld() {
        var digests = new ArrayList<String>();
        for (long seed : List.of(3L, 3L, 4L)) {
            var two = new Two(seed);
            two.world.faults(NetworkFaults.of(0.02, 0.02, 0.02).withReorder(0.02, 64));
            two.transfer();
            digests.add(two.world.trace().digest());
        }
        assertThat(digests.get(0)).isEqualTo(digests.get(1)).isNotEqualTo(digests.get(2));
    }

    /// What depends on the addresses of objects would be another world each time.
    @Test
    void queuePairsBreakInTheOrderInWhichTheyWereMade() {
        var world = new World(5);
        var context = world.addDevice().context();
        var domain = context.allocateProtectionDomain();
        var cq = context.createCompletionQueue(1);
        var srq = domain.createSharedReceiveQueue(4, 1);
        var made = new ArrayList<QueuePair>();
        for (int i = 0; i < 64; i++) {
            made.add(domain.createQueuePair(QueuePairOptions.rc(cq).withSharedReceiveQueue(srq)));
        }
        for (int i = 0; i < 64; i += 2) {
            world.connect(made.get(i), made.get(i + 1), EndpointOptions.defaults());
        }
        try (var batch = made.getFirst().sendBatch()) {
            batch.send(1).send(2).submit();
        }
        made.getFirst().modify(new Transition.ToError()); // two are flushed, and there is room for one
        assertThat(world.runUntil(() -> made.getLast().state() == QpState.ERR, 1))
                .isTrue();

        var broken = new ArrayList<QueuePair>();
        for (var event = context.pollAsyncEvent(); event.isPresent(); event = context.pollAsyncEvent()) {
            if (event.get() instanceof AsyncEvent.QueuePairEvent(AsyncEvent.Type type, QueuePair qp)
                    && type == AsyncEvent.Type.QP_LAST_WQE_REACHED) {
                broken.add(qp);
            }
        }
        assertThat(broken).isEqualTo(made);
    }
}
