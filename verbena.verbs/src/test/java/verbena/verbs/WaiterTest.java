package verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A waiter over sources that the test fills: what ends a wait, and that no wake-up is lost.
@Timeout(120)
class WaiterTest {
    /// A source with a device that a thread may attend to, or without.
    private static final class Source implements Waitable, WaitSource, WaitSource.Place {
        private final AtomicInteger events = new AtomicInteger();
        private final AtomicInteger looks = new AtomicInteger();
        private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
        private final boolean hasDevice;
        private final Place place;
        private final AtomicInteger visits = new AtomicInteger();
        private volatile Thread attendant;
        private volatile boolean isAttended;
        private volatile boolean hasEnded;
        /// Whether the device brings an event when a thread attends.
        private boolean bringsByItself;

        Source(boolean hasDevice) {
            this.hasDevice = hasDevice;
            this.place = this;
        }

        /// A source at the place of another.
        Source(Source at) {
            this.hasDevice = at.hasDevice;
            this.place = at;
        }

        void offer() {
            events.incrementAndGet();
            listeners.forEach(Runnable::run);
        }

        boolean take() {
            return events.getAndUpdate(count -> Math.max(0, count - 1)) > 0;
        }

        @Override
        public boolean isReady() {
            looks.incrementAndGet();
            return events.get() > 0;
        }

        @Override
        public boolean hasEnded() {
            return hasEnded;
        }

        @Override
        public Optional<Place> place() {
            return Optional.of(place);
        }

        @Override
        public WaitSource waitSource() {
            return this;
        }

        @Override
        public void addListener(Runnable listener) {
            listeners.add(listener);
        }

        @Override
        public void removeListener(Runnable listener) {
            listeners.remove(listener);
        }

        @Override
        public boolean attend(BooleanSupplier isOver, long nanos) throws InterruptedException {
            visits.incrementAndGet();
            if (!hasDevice) {
                return false;
            }
            if (bringsByItself) {
                offer();
                return true;
            }
            long start = System.nanoTime();
            attendant = Thread.currentThread();
            isAttended = true;
            while (!isOver.getAsBoolean() && System.nanoTime() - start < nanos) {
                LockSupport.parkNanos(this, nanos - (System.nanoTime() - start));
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
            }
            return true;
        }

        @Override
        public void wakeAttendant() {
            LockSupport.unpark(attendant);
        }
    }

    private final Waiter<Object> waiter = new Waiter<>();

    @AfterEach
    void close() {
        waiter.close();
    }

    private CompletableFuture<Void> waits(boolean isVirtual) {
        var ended = new CompletableFuture<Void>();
        Thread.Builder builder = isVirtual ? Thread.ofVirtual() : Thread.ofPlatform();
        Thread thread = builder.start(() -> {
            try {
                waiter.await();
                ended.complete(null);
            } catch (Throwable e) {
                ended.completeExceptionally(e);
            }
        });
        interrupts.add(thread);
        return ended;
    }

    private final List<Thread> interrupts = new ArrayList<>();

    /// Waits until the thread sleeps.
    private void untilAsleep() {
        Thread.State state = interrupts.getLast().getState();
        while (state != Thread.State.WAITING && state != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
            state = interrupts.getLast().getState();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void eachEventOfManySourcesIsSeen(boolean isVirtual) throws Exception {
        var sources = List.of(new Source(false), new Source(true), new Source(false));
        for (int i = 0; i < sources.size(); i++) {
            waiter.add(sources.get(i), i);
        }
        var ended = new CompletableFuture<Void>();
        Thread.Builder builder = isVirtual ? Thread.ofVirtual() : Thread.ofPlatform();
        int rounds = 30_000;
        builder.start(() -> {
            try {
                int taken = 0;
                while (taken < rounds * sources.size()) {
                    int which = (int) waiter.await().orElseThrow();
                    taken += sources.get(which).take() ? 1 : 0;
                }
                ended.complete(null);
            } catch (Throwable e) {
                ended.completeExceptionally(e);
            }
        });
        var offers = new ArrayList<Thread>();
        for (Source each : sources) {
            offers.add(Thread.ofPlatform().start(() -> {
                for (int i = 0; i < rounds; i++) {
                    each.offer();
                    while (i % 3 == 0 && each.isReady()) {
                        Thread.onSpinWait(); // so that the other thread goes to sleep now and then
                    }
                }
            }));
        }
        ended.get(100, TimeUnit.SECONDS);
        for (Thread each : offers) {
            each.join();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aWakeUpEndsAWaitAtADeviceOrElsewhere(boolean hasDevice) throws Exception {
        var source = new Source(hasDevice);
        waiter.add(source, source);
        for (int i = 0; i < 10_000; i++) {
            var waiting = waits(i % 2 == 0);
            if (i % 100 == 0) {
                untilAsleep();
            }
            waiter.wakeup();
            waiting.get(60, TimeUnit.SECONDS);
        }
        assertThat(source.isAttended).isEqualTo(hasDevice);
    }

    @Test
    void aWakeUpThatCameBeforeEndsOneWait() throws Exception {
        waiter.wakeup();
        waiter.wakeup();
        waiter.await();
        assertThat(waiter.await(Duration.ZERO)).isEmpty();
        assertThat(waiter.await(Duration.ofMillis(2))).isEmpty();
    }

    @Test
    void aSourceThatIsReadyStaysReadyUntilItsEventIsTaken() throws Exception {
        var source = new Source(false);
        source.offer();
        waiter.add(source, "before");
        waiter.add(source, source);
        assertThat(source.listeners).hasSize(1);
        assertThat(waiter.await(Duration.ZERO)).contains(source);
        waiter.await();
        assertThat(source.take()).isTrue();
        assertThat(waiter.await(Duration.ZERO)).isEmpty();
        waiter.remove(source);
        source.offer();
        assertThat(waiter.await(Duration.ZERO)).isEmpty();
    }

    @Test
    void aSourceThatHasEndedIsReturnedOnce() throws Exception {
        var source = new Source(false);
        waiter.add(source, "the end");
        source.hasEnded = true;
        source.offer();
        assertThat(waiter.await()).contains("the end");
        assertThat(waiter.await(Duration.ZERO)).isEmpty();
        assertThat(source.listeners).isEmpty();
        waiter.remove(source);
        waiter.add(source, source);
        assertThat(waiter.await()).contains(source);
    }

    /// The time of a wait grows with what is ready, and not with what there is.
    @Test
    void aWaitLooksOnlyAtSourcesThatMayBeReady() throws Exception {
        var sources = new ArrayList<Source>();
        for (int i = 0; i < 10_000; i++) {
            sources.add(new Source(i % 2 == 0));
            waiter.add(sources.getLast(), sources.getLast());
        }
        assertThat(waiter.await(Duration.ZERO)).isEmpty();
        assertThat(looks(sources)).isEqualTo(10_000);
        for (int i = 0; i < 100; i++) {
            Source one = sources.get(i * 97);
            one.offer();
            assertThat(waiter.await()).contains(one);
            assertThat(one.take()).isTrue();
            assertThat(waiter.await(Duration.ZERO)).isEmpty();
        }
        assertThat(looks(sources)).isEqualTo(10_000 + 100 * 2);
    }

    private static int looks(List<Source> sources) {
        return sources.stream().mapToInt(source -> source.looks.get()).sum();
    }

    @Test
    void aDeviceIsAskedOnceForAllItsSources() throws Exception {
        var first = new Source(false);
        var others = List.of(new Source(first), new Source(first));
        var last = new Source(true);
        last.bringsByItself = true;
        waiter.add(first, first);
        others.forEach(other -> waiter.add(other, other));
        waiter.add(last, last);
        takes(last);
        assertThat(first.visits.get()).isEqualTo(1);
        waiter.remove(first);
        takes(last);
        assertThat(first.visits.get()).as("the others are there too").isEqualTo(2);
        others.forEach(waiter::remove);
        takes(last);
        assertThat(first.visits.get()).isEqualTo(2);
    }

    private void takes(Source source) throws InterruptedException {
        assertThat(waiter.await()).contains(source);
        assertThat(source.take()).isTrue();
    }

    @Test
    void sourcesThatAreReadyTakeTurns() throws Exception {
        var busy = new Source(false);
        var other = new Source(false);
        busy.offer();
        other.offer();
        waiter.add(busy, busy);
        waiter.add(other, "other");
        assertThat(waiter.await()).contains(busy);
        assertThat(waiter.await()).contains("other");
        assertThat(waiter.await()).contains(busy);
        waiter.remove(busy);
        assertThat(waiter.await()).contains("other");
        waiter.wakeup();
        assertThat(waiter.await()).isEmpty();
    }

    @Test
    void aSourceThatIsAddedWhileAThreadWaitsIsSeen() throws Exception {
        var waiting = waits(false);
        untilAsleep();
        var source = new Source(false);
        source.offer();
        waiter.add(source, source);
        waiting.get(60, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anInterruptEndsAWaitAndLosesNothing(boolean hasDevice) throws Exception {
        var source = new Source(hasDevice);
        waiter.add(source, source);
        var waiting = waits(false);
        interrupts.getLast().interrupt();
        assertThat(waiting.handle((_, e) -> e).get(60, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
        source.offer();
        Thread.currentThread().interrupt();
        waiter.await(); // what is there is told first
        assertThat(Thread.interrupted()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void closingEndsAWait(boolean hasDevice) throws Exception {
        var source = new Source(hasDevice);
        waiter.add(source, source);
        var waiting = waits(true);
        untilAsleep();
        waiter.close();
        assertThat(waiting.handle((_, e) -> e).get(60, TimeUnit.SECONDS))
                .isInstanceOf(InvalidStateException.class)
                .hasMessage("await: the waiter is closed");
        assertThat(source.listeners).isEmpty();
        assertThatExceptionOfType(InvalidStateException.class)
                .isThrownBy(() -> waiter.add(source, source))
                .withMessage("add: the waiter is closed");
    }

    /// The source that the comment of [WaitSource] shows.
    private static final class Inbox implements Waitable {
        private final Queue<String> letters = new ConcurrentLinkedQueue<>();
        private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

        void put(String letter) {
            letters.add(letter);
            listeners.forEach(Runnable::run);
        }

        @Override
        public boolean isReady() {
            return !letters.isEmpty();
        }

        @Override
        public WaitSource waitSource() {
            return WaitSource.of(listeners, () -> false);
        }
    }

    @Test
    void aProgramMakesASourceOfItsOwn() throws Exception {
        var inbox = new Inbox();
        waiter.add(inbox, inbox.letters);
        var waiting = waits(true);
        untilAsleep();
        inbox.put("letter");
        waiting.get(60, TimeUnit.SECONDS);
        assertThat(waiter.await()).contains(inbox.letters);
        assertThat(inbox.letters.poll()).isEqualTo("letter");
        assertThat(waiter.await(Duration.ZERO)).isEmpty();
    }

    @Test
    void aSecondThreadMayNotWait() throws Exception {
        var waiting = waits(false);
        untilAsleep();
        assertThatExceptionOfType(InvalidStateException.class)
                .isThrownBy(waiter::await)
                .withMessageContaining("another thread waits");
        waiter.wakeup();
        waiting.get(60, TimeUnit.SECONDS);
    }
}
