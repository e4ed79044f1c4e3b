package verbena.nic.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;

/// The spin policy in virtual time: the cost of a wait, and the time spent spinning, in several environments.
class SpinPolicyTest {
    private static final long US = 1_000;
    private static final long MS = 1_000_000;
    /// The duration of a look in vain.
    private static final long LOOK = 600;
    /// How much later a sleeping thread wakes.
    private static final long WAKE = 40 * US;

    /// A clock, and the time spent spinning.
    private static final class World {
        long now = -5 * MS; // a monotonic clock may begin anywhere
        long spent;
        long waits;
        long waited;

        /// Waits for an event after `answer` nanoseconds, as `SoftCompletionQueue` does.
        long await(SpinPolicy policy, long answer, LongSupplier stolen) {
            long start = now;
            long comes = now + answer;
            policy.begin(now);
            boolean looking = policy.looks();
            while (looking && now < comes) {
                long look = LOOK + stolen.getAsLong();
                now += look;
                spent += LOOK;
                looking = now >= comes || policy.looksAgain(now);
            }
            if (now < comes) {
                now = comes + WAKE;
            }
            policy.end(now);
            waits++;
            waited += now - start;
            return now - start;
        }
    }

    /// Two ends that answer each other at once: when one end takes longer, the other waits longer.
    private static final class Exchange {
        private static final long PATH = 8 * US;
        final World world = new World();
        final SpinPolicy[] ends;
        private final boolean[] slept = new boolean[2];

        Exchange(int processors) {
            ends = new SpinPolicy[] {new SpinPolicy(processors), new SpinPolicy(processors)};
        }

        /// One end waits: for both directions of the wire, and for the other end to wake if it sleeps.
        long turn(int end) {
            long start = world.now;
            long spentBefore = world.spent;
            long answer = PATH + (slept[1 - end] ? WAKE : 0);
            world.await(ends[end], answer, () -> 0);
            slept[end] = world.spent == spentBefore || world.now - start > answer + LOOK;
            return world.now - start;
        }

        long medianAfter(long nanos) {
            long end = world.now + nanos;
            while (world.now < end) {
                turn(0);
                turn(1);
            }
            long[] last = new long[101];
            for (int i = 0; i < last.length; i++) {
                last[i] = turn(i & 1);
            }
            java.util.Arrays.sort(last);
            return last[50];
        }
    }

    @Test
    void twoEndsThatSleepFindOutThatTheyNeedNot() {
        assertThat(new Exchange(2).medianAfter(20 * MS)).isLessThan(10 * US);
    }

    @Test
    void onOneProcessorNoThreadSpins() {
        var exchange = new Exchange(1);
        assertThat(exchange.medianAfter(100 * MS)).isEqualTo(Exchange.PATH + 2 * WAKE);
        assertThat(exchange.world.spent).isZero();
    }

    /// Messages every 5 ms.
    @Test
    void noThreadSpinsForRareMessages() {
        var world = new World();
        var policy = new SpinPolicy(2);
        for (int i = 0; i < 10_000; i++) {
            world.await(policy, 5 * MS, () -> 0);
        }
        assertThat(world.spent).isZero();
    }

    /// A peer that works for 300 µs at each request: a trial shows that spinning saves little.
    @Test
    void lookingThatDoesNotPayCostsLittle() {
        var world = new World();
        var policy = new SpinPolicy(2);
        for (int i = 0; i < 10_000; i++) {
            world.await(policy, 300 * US, () -> 0);
        }
        assertThat((double) world.spent / world.waited).isLessThan(0.1);
    }

    /// A neighbour on the host takes the processor for 3 ms whenever a thread has used it for 3 ms without
    /// sleeping.
    @Test
    void aNeighbourThatWantsTheProcessorGetsIt() {
        var world = new World();
        var policy = new SpinPolicy(2);
        long[] used = {0};
        for (int i = 0; i < 100_000; i++) {
            long before = world.spent;
            world.await(policy, 20 * US, () -> {
                used[0] += LOOK;
                if (used[0] < 3 * MS) {
                    return 0;
                }
                used[0] = 0;
                return 3 * MS;
            });
            if (world.spent == before) {
                used[0] = 0;
            }
        }
        assertThat((double) world.spent / world.waited).isLessThan(0.05);
        assertThat(world.waited / world.waits).isLessThan(20 * US + 2 * WAKE);
    }

    /// The processor is taken away for 1 ms each second, as on a shared host.
    @Test
    void aLossNowAndThenIsSoonForgotten() {
        var world = new World();
        var policy = new SpinPolicy(2);
        long[] next = {0};
        long asleep = 0;
        for (int i = 0; i < 500_000; i++) {
            long wait = world.await(policy, 10 * US, () -> {
                if (world.now < next[0]) {
                    return 0;
                }
                next[0] = world.now + 1_000 * MS;
                return MS;
            });
            asleep += wait > 10 * US + LOOK ? 1 : 0;
        }
        assertThat((double) asleep / world.waits).isLessThan(0.02);
    }

    /// Now and then a look brings so many packets that it takes 250 µs to copy them.
    @Test
    void timeInWhichALookWorksIsNotLost() {
        var world = new World();
        var policy = new SpinPolicy(2);
        int asleep = 0;
        for (int i = 0; i < 100_000; i++) {
            policy.begin(world.now);
            world.now += 20 * US;
            if (policy.looks() && policy.looksAgain(world.now)) {
                world.now += i % 50 == 0 ? 250 * US : LOOK;
                policy.worked(world.now);
                boolean _ = policy.looksAgain(world.now);
            } else {
                world.now += WAKE;
                asleep++;
            }
            policy.end(world.now);
        }
        assertThat(asleep).isLessThan(1_000);
    }

    @Test
    void whenMessagesStopSoDoesLooking() {
        var world = new World();
        var policy = new SpinPolicy(2);
        for (int i = 0; i < 10_000; i++) {
            world.await(policy, 10 * US, () -> 0);
        }
        long before = world.spent;
        for (int i = 0; i < 1_000; i++) {
            world.await(policy, 100 * MS, () -> 0);
        }
        assertThat(world.spent - before).isLessThan(20 * MS);
    }
}
