package verbena.sim.goal;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import verbena.sim.SimDevice;
import verbena.sim.World;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.EndpointOptions;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Mtu;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;
import verbena.wire.ib.Psn;

/// Goal N5: PSNs go round under loss, sixteen times in the deep run, and every message is as sent. By default they
/// pass the two places where a comparison may go wrong: from the last PSN to 0, and the middle.
abstract class Wraps {
    static final int PSNS = 1 << 24;
    static final long PSNS_USED = Goal.size(PSNS / 16, 16L * PSNS);
    static final double LOSS = 0.05;
    static final int MTU = 256;
    static final int PACKETS = 8;
    static final int LENGTH = PACKETS * MTU;
    static final int SLOTS = 16;
    static final int TAPE = 1 << 16;

    final World world = new World(Goal.seed());
    final WorkCompletion wc = new WorkCompletion();
    final End a = new End();
    final End b = new End();
    long posted;
    long done;

    /// A device with what messages are sent from, and slots that they come to.
    final class End {
        final SimDevice device = world.addDevice();
        final ProtectionDomain domain = device.context().allocateProtectionDomain();
        final CompletionQueue cq = device.context().createCompletionQueue(2 * SLOTS);
        final CompletionQueue receiveCq = device.context().createCompletionQueue(SLOTS);
        final MemoryRegion tape = device.register(domain, TAPE, Access.remoteAll());
        final MemoryRegion slots = device.register(domain, SLOTS * LENGTH, Access.remoteAll());

        End() {
            var random = new SplittableRandom(Goal.seed());
            for (int i = 0; i < TAPE; i += Long.BYTES) {
                tape.segment().set(ValueLayout.JAVA_LONG, i, random.nextLong());
            }
        }

        QueuePair queuePair(QpType type) {
            return domain.createQueuePair(
                    QueuePairOptions.of(type, cq).withReceiveCq(receiveCq).withDepth(SLOTS, SLOTS));
        }

        void check(long number) {
            int slot = slot(number);
            int place = place(number);
            long mismatch =
                    MemorySegment.mismatch(slots.segment(), slot, slot + LENGTH, tape.segment(), place, place + LENGTH);
            assertThat(mismatch).as("message %d differs", number).isEqualTo(-1);
        }
    }

    /// Where PSNs begin: by default half of them come before that place.
    static IntStream firstPsns() {
        int half = PSNS / 32;
        return Goal.DEEP ? IntStream.of(0) : IntStream.of(PSNS - half, PSNS / 2 - half);
    }

    /// The first PSN of a message.
    static int psn(int first, long number) {
        return (int) (first + number * PACKETS) & Psn.MASK;
    }

    static int slot(long number) {
        return (int) (number % SLOTS) * LENGTH;
    }

    static int place(long number) {
        return (int) (number * 40_503 % ((TAPE - LENGTH) / 8)) * 8;
    }

    static EndpointOptions options() {
        return EndpointOptions.defaults().withMtu(Mtu.ofBytes(MTU));
    }
}
