package verbena.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import verbena.nic.link.ForwardingLink;
import verbena.nic.link.Link;
import verbena.nic.link.psp.KeyLog;
import verbena.nic.link.psp.PspLink;
import verbena.nic.link.psp.PspPolicy;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.EndpointOptions;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;
import verbena.wire.Frame;
import verbena.wire.psp.PspVersion;

/// Worlds whose devices encrypt their packets, on a bad network, while keys are replaced.
class ProtectedWorldTest {
    private static final int WORLDS = 12;
    private static final int BYTES = 1 << 18;
    private static final int TRANSFERS = 4;
    private static final long MINUTE = 60_000_000_000L;
    private static final int ICRC_BYTES = 4;

    /// A link of a world for use inside another link. It takes the ICRC of the world's link off again, and lets
    /// damaged packets through.
    private static final class Unsealed extends ForwardingLink {
        Unsealed(Link link) {
            super(link);
        }

        @Override
        public int packetMax() {
            return link.packetMax() - ICRC_BYTES;
        }

        @Override
        public int receive(Frame[] frames, int from, int count) {
            int arrived = link.receive(frames, from, count);
            resize(frames, from, arrived, -ICRC_BYTES);
            return arrived;
        }

        @Override
        public int transmit(Frame[] frames, int from, int count) {
            resize(frames, from, count, ICRC_BYTES);
            int taken = link.transmit(frames, from, count);
            resize(frames, from, count, -ICRC_BYTES);
            return taken;
        }

        private static void resize(Frame[] frames, int from, int count, int by) {
            for (int i = from; i < from + count; i++) {
                frames[i].length += by;
            }
        }
    }

    private static final class End {
        final SimDevice device;
        final CompletionQueue queue;
        final QueuePair queuePair;
        final MemoryRegion memory;

        End(World world, PspVersion version) {
            var random = new Random(world.seed());
            device = world.addDevice(
                    Frame.PACKET_MAX,
                    link -> new PspLink(
                            new Unsealed(link),
                            new byte[32],
                            version,
                            PspPolicy.REQUIRED,
                            KeyLog.NONE,
                            world::nowNanos,
                            random));
            var domain = device.context().allocateProtectionDomain();
            queue = device.context().createCompletionQueue(256);
            queuePair = domain.createQueuePair(QueuePairOptions.rc(queue));
            memory = device.register(domain, BYTES, Access.remoteAll());
        }
    }

    /// Each world moves memory four times, with eleven minutes in between: the keys of each time are others.
    @Test
    void bytesArriveWhileKeysAreReplaced() {
        var sums = new TreeMap<String, Long>();
        for (int seed = 1; seed <= WORLDS; seed++) {
            var world = new World(seed);
            PspVersion version = seed % 2 == 0 ? PspVersion.AES_GCM_128 : PspVersion.AES_GCM_256;
            var a = new End(world, version);
            var b = new End(world, version);
            world.connect(a.queuePair, b.queuePair, EndpointOptions.defaults());
            world.faults(NetworkFaults.of(0.01, 0.01, 0.01).withReorder(0.01, 8).withJitter(10_000));
            for (int i = 0; i < TRANSFERS; i++) {
                transfer(world, a, b);
                pass(world, 11 * MINUTE);
            }
            for (End end : new End[] {a, b}) {
                Map<String, Long> counters = end.device.context().counters();
                counters.forEach((name, count) -> sums.merge(name, count, Long::sum));
                assertThat(counters).containsEntry("dropped.icrc", 0L).containsEntry("psp.dropped.unexpected", 0L);
            }
        }
        assertThat(sums.get("psp.keys.begun")).isGreaterThanOrEqualTo(WORLDS * (TRANSFERS - 1L));
        assertThat(sums.get("psp.dropped.forged")).isPositive();
        assertThat(sums.get("psp.dropped.repeated")).isPositive();
    }

    private static void pass(World world, long nanos) {
        var isOver = new boolean[1];
        world.after(nanos, () -> isOver[0] = true);
        assertThat(world.runUntil(() -> isOver[0], nanos + 1)).isTrue();
    }

    /// Writes all of one memory to the other.
    private static void transfer(World world, End from, End to) {
        for (int i = 0; i < BYTES; i += 8) {
            from.memory.segment().set(ValueLayout.JAVA_LONG, i, world.random().nextLong());
        }
        from.queuePair.postWrite(1, from.memory.slice(0, BYTES), to.memory.remote());
        var completion = new WorkCompletion();
        assertThat(world.runUntil(() -> from.device.poll(from.queue, completion), MINUTE))
                .as("world %d", world.seed())
                .isTrue();
        assertThat(completion.ok()).as(completion.toString()).isTrue();
        assertThat(from.memory.segment().mismatch(to.memory.segment())).isEqualTo(-1);
    }
}
