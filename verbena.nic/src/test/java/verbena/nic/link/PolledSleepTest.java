package verbena.nic.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.foreign.linux.EventCounter;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.Timespec;
import verbena.foreign.linux.LinuxSockets;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.Frame;

/// Sleeps of threads in links that carry nothing.
@EnabledOnOs(value = OS.LINUX, disabledReason = "eventfd and timerfd are Linux's")
@Timeout(120)
class PolledSleepTest {
    private static final int FOR_EVER = -1;
    private static final int MOVES = Boolean.getBoolean("verbena.deep") ? 2_000_000 : 20_000;
    private static final int DAWDLE_MAX = 300;

    /// A link that watches one descriptor, and looks as a test says.
    private static final class Quiet extends PolledLink {
        int watched = -1;
        LongUnaryOperator look = nanos -> nanos;
        boolean wasReadable;

        Quiet() {
            super(1);
        }

        @Override
        protected long lastLook(long timeoutNanos) {
            sleep.watch(watched, LinuxAbi.POLLIN);
            return look.applyAsLong(timeoutNanos);
        }

        @Override
        protected void afterSleep() {
            wasReadable = sleep.isReadable(0);
        }

        @Override
        protected void release() {}

        @Override
        public List<GidEntry> gids() {
            return List.of();
        }

        @Override
        public int packetMax() {
            return 0;
        }

        @Override
        public int receive(Frame[] frames, int from, int count) {
            return 0;
        }

        @Override
        public int transmit(Frame[] frames, int from, int count) {
            return count;
        }

        @Override
        public void join(Gid group) {}

        @Override
        public void leave(Gid group) {}

        @Override
        public long malformed() {
            return 0;
        }

        @Override
        public long unsendable() {
            return 0;
        }
    }

    private final Arena arena = Arena.ofShared();
    private Quiet link;

    @BeforeEach
    void open() {
        assumeTrue(NativeAccess.whyPortable() == null, "native access");
        link = new Quiet();
    }

    @AfterEach
    void close() {
        if (link != null) {
            link.close();
        }
        arena.close();
    }

    /// Ends a sleep that has begun; returns whether it would have ended by itself.
    private boolean isOver(int count) {
        int ready = LinuxSockets.poll(link.pollfds(), count, arena.allocate(Timespec.BYTES, 8));
        link.awake();
        return ready > 0;
    }

    /// Two threads play with a ball: each sleeps until it has the ball, plays it back and wakes the other. A
    /// wake-up that is lost would leave both asleep.
    @Test
    void noWakeUpOfTwoThreadsIsLost() throws Exception {
        var other = new Quiet();
        var ball = new AtomicInteger();
        var first = play(link, other, ball, 0);
        var second = play(other, link, ball, 1);
        CompletableFuture.allOf(first, second).join();
        assertThat(ball).hasValue(MOVES);
        other.close();
    }

    private static CompletableFuture<Void> play(Quiet own, Quiet others, AtomicInteger ball, int side) {
        var result = new CompletableFuture<Void>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                var random = new SplittableRandom(side);
                for (int move = side; move < MOVES; move += 2) {
                    while (ball.get() != move) {
                        dawdle(random);
                        own.await(FOR_EVER);
                    }
                    dawdle(random);
                    ball.set(move + 1);
                    others.wakeup();
                }
                result.complete(null);
            } catch (RuntimeException | Error e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    private static void dawdle(SplittableRandom random) {
        for (int i = random.nextInt(DAWDLE_MAX); i > 0; i--) {
            Thread.onSpinWait();
        }
    }

    /// The wakers come at any moment of a sleep; after the last of them, the sleeper has seen what each has left.
    @Test
    void whatManyThreadsLeaveIsSeenByTheLast() throws Exception {
        int wakers = 4;
        int each = MOVES / wakers;
        var left = new AtomicLong();
        var threads = new Thread[wakers];
        for (int i = 0; i < wakers; i++) {
            var random = new SplittableRandom(i);
            threads[i] = Thread.ofPlatform().daemon().start(() -> {
                for (int j = 0; j < each; j++) {
                    dawdle(random);
                    left.incrementAndGet();
                    link.wakeup();
                }
            });
        }
        long seen = 0;
        while (seen < (long) each * wakers) {
            link.await(FOR_EVER);
            seen = left.get();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    @Test
    void aWakeUpBeforeASleepKeepsItFromBeginningOnce() {
        link.wakeup();
        link.wakeup();
        assertThat(link.fallAsleep(FOR_EVER)).isZero();
        int count = link.fallAsleep(FOR_EVER);
        assertThat(count).isPositive();
        assertThat(isOver(count)).isFalse();
    }

    @Test
    void aWakeUpDuringASleepEndsItAndNotTheNext() {
        int count = link.fallAsleep(FOR_EVER);
        link.wakeup();
        assertThat(isOver(count)).isTrue();
        count = link.fallAsleep(FOR_EVER);
        assertThat(isOver(count)).isFalse();
    }

    /// The sleeper has left for another reason, and no one has looked at the bell.
    @Test
    void aWakeUpThatTheSleeperDidNotHearStays() {
        assertThat(link.fallAsleep(FOR_EVER)).isPositive();
        link.wakeup();
        link.awake();
        int count = link.fallAsleep(FOR_EVER);
        assertThat(count == 0 || isOver(count)).isTrue();
    }

    @Test
    void aDescriptorThatIsWatchedEndsASleepAndIsTold() {
        var event = new EventCounter(new LinuxSockets(arena), arena);
        link.watched = event.fd();
        link.await(1);
        assertThat(link.wasReadable).isFalse();
        event.ring();
        link.await(FOR_EVER);
        assertThat(link.wasReadable).isTrue();
        event.close();
    }

    @Test
    void aSleepEndsWithItsTimeAndNeverBeginsWithoutTime() {
        long start = System.nanoTime();
        link.await(5_000_000);
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(5_000_000 / 2);
        assertThat(link.fallAsleep(0)).isZero();
    }

    @Test
    void theLastLookShortensASleepOrForbidsIt() {
        link.look = _ -> 0;
        link.await(FOR_EVER);
        assertThat(link.fallAsleep(FOR_EVER)).isZero();
        link.look = _ -> 1_000_000;
        link.await(FOR_EVER);
    }

    @Test
    void aLookThatFailsLeavesNoSleepBehind() {
        link.look = _ -> {
            throw new IllegalStateException("look");
        };
        assertThatThrownBy(() -> link.fallAsleep(FOR_EVER)).hasMessage("look");
        link.look = nanos -> nanos;
        int count = link.fallAsleep(FOR_EVER);
        assertThat(count).isPositive();
        link.wakeup();
        assertThat(isOver(count)).isTrue();
    }

    @Test
    void theEndOfTheLinkEndsASleep() throws Exception {
        Thread sleeper = Thread.ofPlatform().start(() -> link.await(FOR_EVER));
        link.close();
        sleeper.join();
        link.wakeup(); // of no effect
        assertThat(link.fallAsleep(FOR_EVER)).isZero();
    }
}
