package verbena.sim.goal;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.sim.NetworkFaults;
import verbena.sim.SimDevice;
import verbena.sim.World;
import verbena.transport.congestion.CongestionRule;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.CompletionQueue;
import verbena.verbs.EndpointOptions;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SendBatch;
import verbena.verbs.Transition;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.wire.Frame;

/// Goal N1: atomics are carried out exactly once, however bad the network. Two devices count up two words of a
/// third: one by FETCH_ADD, the other by CMP_SWAP of the value that they believe to be there and the next.
///
/// What a broken connection leaves open, whether a request that failed was carried out, is counted: the gaps among
/// the returned values are never more than the requests that failed.
class ExactlyOnceTest {
    private static final long OPERATIONS = Goal.size(150_000, 33_333_334);
    private static final NetworkFaults FAULTS = NetworkFaults.of(0.1, 0.1, 0.01).withReorder(0.1, 64);
    private static final EndpointOptions OPTIONS = EndpointOptions.defaults()
            .withRetries(AckTimeout.atLeast(Duration.ofMillis(4)), 7, 7)
            .withMaxReadAtomic(16);
    private static final long TIME_WAIT_NANOS = 500_000_000;
    private static final int SLOTS = 16;

    /// The counted words, and everything that was returned.
    private static final class Words {
        final SimDevice device;
        final ProtectionDomain domain;
        final CompletionQueue cq;
        final MemoryRegion memory;
        /// Values that a FETCH_ADD has returned, and that a successful CMP_SWAP has replaced.
        final BitSet fetched = new BitSet();
        final BitSet swapped = new BitSet();
        long failedAdds;
        long failedSwaps;
        long done;

        Words(World world, SimDevice.Options options) {
            device = world.addDevice(Frame.PACKET_MAX, link -> link, options);
            domain = device.context().allocateProtectionDomain();
            cq = device.context().createCompletionQueue(SLOTS);
            memory = device.register(domain, 2 * Long.BYTES, Access.remoteAll());
        }

        long value(int word) {
            return memory.segment().get(ValueLayout.JAVA_LONG, (long) word * Long.BYTES);
        }
    }

    /// Who counts: a device and its connection to the words.
    private static final class Counting {
        final World world;
        final Words words;
        final int outstandingMax;
        final SimDevice device;
        final CompletionQueue cq;
        final QueuePair qp;
        final QueuePair peer;
        final MemoryRegion results;
        final WorkCompletion wc = new WorkCompletion();
        final long[] compared = new long[SLOTS];
        long toPost;
        long posted;
        long ended;
        /// The word's value as this end knows it; it never goes back.
        long known;
        long connectAt = -1;
        int broke;

        Counting(World world, SimDevice.Options options, Words words, int outstandingMax, long toPost) {
            this.world = world;
            this.words = words;
            this.outstandingMax = outstandingMax;
            this.toPost = toPost;
            device = world.addDevice(Frame.PACKET_MAX, link -> link, options);
            var domain = device.context().allocateProtectionDomain();
            cq = device.context().createCompletionQueue(SLOTS);
            qp = domain.createQueuePair(QueuePairOptions.rc(cq).withDepth(SLOTS, 1));
            peer = words.domain.createQueuePair(QueuePairOptions.rc(words.cq).withDepth(1, 1));
            results = device.register(domain, SLOTS * Long.BYTES, Access.local());
            world.connect(qp, peer, OPTIONS);
        }

        boolean isDone() {
            return toPost == 0 && ended == posted && connectAt < 0;
        }

        void turn() {
            while (device.poll(cq, wc)) {
                assertThat(wc.wrId()).as("completions come in order").isEqualTo(ended);
                if (wc.ok()) {
                    onResult(wc.wrId());
                } else {
                    onFailure();
                }
                ended++;
            }
            if (connectAt >= 0 && ended == posted && world.nowNanos() >= connectAt) {
                connectAt = -1;
                qp.modify(new Transition.ToReset());
                peer.modify(new Transition.ToReset());
                world.connect(qp, peer, OPTIONS);
            }
            if (connectAt < 0 && toPost > 0 && posted - ended < outstandingMax) {
                post();
            }
        }

        private void post() {
            try (SendBatch batch = qp.sendBatch()) {
                while (toPost > 0 && posted - ended < outstandingMax) {
                    int slot = (int) (posted % SLOTS);
                    long address = words.memory.address();
                    int rkey = words.memory.rkey();
                    if (isAdd(posted)) {
                        batch.fetchAdd(posted, address, rkey, 1);
                    } else {
                        compared[slot] = known;
                        batch.compareSwap(posted, address + Long.BYTES, rkey, known, known + 1);
                    }
                    batch.sge(results, (long) slot * Long.BYTES, Long.BYTES).signaled();
                    posted++;
                    toPost--;
                }
                batch.submit();
            }
        }

        private static boolean isAdd(long number) {
            return number % 2 == 0;
        }

        private void onResult(long number) {
            int slot = (int) (number % SLOTS);
            long returned = results.segment().get(ValueLayout.JAVA_LONG, (long) slot * Long.BYTES);
            words.done++;
            if (isAdd(number)) {
                assertThat(words.fetched.get((int) returned))
                        .as("%d was returned before", returned)
                        .isFalse();
                words.fetched.set((int) returned);
                return;
            }
            assertThat(returned).as("the word never goes back").isGreaterThanOrEqualTo(known);
            known = returned;
            if (returned == compared[slot]) {
                assertThat(words.swapped.get((int) returned))
                        .as("%d was replaced before", returned)
                        .isFalse();
                words.swapped.set((int) returned);
                known = returned + 1;
            }
        }

        private void onFailure() {
            if (connectAt < 0) {
                assertThat(wc.status()).as(wc.toString()).isEqualTo(WcStatus.RETRY_EXC_ERR);
                broke++;
                connectAt = world.nowNanos() + TIME_WAIT_NANOS;
                world.stepAfter(TIME_WAIT_NANOS);
                if (peer.state() != QpState.ERR) {
                    peer.modify(new Transition.ToError());
                }
            } else {
                assertThat(wc.status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
            }
            if (isAdd(ended)) {
                words.failedAdds++;
            } else {
                words.failedSwaps++;
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"1, window, false", "4, window, false", "16, window, false", "16, swift, false", "16, window, true"})
    void everyAtomicIsCarriedOutOnce(int outstanding, String congestion, boolean repeatsSelectively) {
        long start = System.nanoTime();
        var world = new World(Goal.seed() * 31 + outstanding);
        var options = new SimDevice.Options(1, CongestionRule.parse(congestion), repeatsSelectively);
        var words = new Words(world, options);
        var counting = new ArrayList<Counting>();
        for (int i = 0; i < 2; i++) {
            counting.add(new Counting(world, options, words, outstanding, OPERATIONS / 2));
        }
        world.faults(FAULTS);
        try {
            drive(world, counting);
            check(words);
        } catch (AssertionError | RuntimeException e) {
            throw Goal.failure(world, e, getClass());
        }
        Goal.report(
                "N1",
                start,
                ("%,d atomics with %d outstanding (%s%s) returned unique values; the words are %,d and %,d; %d connections"
                                + " broke, of %d failed requests %d were carried out; %,d packets, %,d lost")
                        .formatted(
                                words.done,
                                outstanding,
                                congestion,
                                repeatsSelectively ? ", selective repeat" : "",
                                words.value(0),
                                words.value(1),
                                counting.stream().mapToInt(one -> one.broke).sum(),
                                words.failedAdds + words.failedSwaps,
                                words.value(0)
                                        - words.fetched.cardinality()
                                        + words.value(1)
                                        - words.swapped.cardinality(),
                                world.network().sent(),
                                world.network().lost()));
    }

    private static void drive(World world, List<Counting> counting) {
        boolean done = false;
        while (!done) {
            done = true;
            for (Counting one : counting) {
                one.turn();
                done &= one.isDone();
            }
            assertThat(done || world.step()).as("something happens").isTrue();
        }
    }

    private static void check(Words words) {
        gaps("FETCH_ADD", words.fetched, words.value(0), words.failedAdds);
        gaps("CMP_SWAP", words.swapped, words.value(1), words.failedSwaps);
    }

    /// All values below the word's have been returned, but those of requests that failed and were carried out.
    private static void gaps(String operation, BitSet returned, long value, long failed) {
        assertThat(returned.length())
                .as(operation + ": no value is returned that the word did not have")
                .isLessThanOrEqualTo((int) value);
        assertThat(value - returned.cardinality())
                .as(operation + ": values that no requester was given")
                .isBetween(0L, failed);
    }
}
