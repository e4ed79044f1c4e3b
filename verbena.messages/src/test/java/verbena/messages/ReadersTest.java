package verbena.messages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Which thread reads. The source is a queue of this test. A wake-up that is lost makes a test wait for ever.
@Timeout(120)
class ReadersTest {
    /// What comes out of the queue: something to do, a ring, or the end.
    private final LinkedBlockingQueue<Runnable> arrivals = new LinkedBlockingQueue<>();

    private final ConcurrentLinkedQueue<Thread> inside = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Thread> found = new ConcurrentLinkedQueue<>();
    private final LinkedBlockingQueue<Thread> begun = new LinkedBlockingQueue<>();
    private final AtomicInteger crowds = new AtomicInteger();
    private final AtomicInteger rings = new AtomicInteger();
    private volatile boolean isOver;
    private final List<Thread> threads = new ArrayList<>();

    private final Readers readers = new Readers(new Readers.Source() {
        @Override
        public Readers.Outcome read(long nanos) throws InterruptedException {
            inside.add(Thread.currentThread());
            if (inside.size() != 1) {
                crowds.incrementAndGet();
            }
            begun.add(Thread.currentThread());
            try {
                Runnable next = nanos == 0 ? arrivals.poll() : arrivals.poll(nanos, TimeUnit.NANOSECONDS);
                if (next == null) {
                    return Readers.Outcome.NONE;
                }
                found.add(Thread.currentThread());
                next.run();
                return isOver ? Readers.Outcome.OVER : Readers.Outcome.SOME;
            } finally {
                inside.remove(Thread.currentThread());
            }
        }

        @Override
        public void ring() {
            rings.incrementAndGet();
            arrivals.add(readers()::heard);
        }
    });

    private Readers readers() {
        return readers;
    }

    private Thread start(Thread.Builder kind, Wait body) {
        Thread thread = kind.start(() -> {
            try {
                body.run();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        threads.add(thread);
        return thread;
    }

    private interface Wait {
        void run() throws InterruptedException;
    }

    private void keep() {
        start(Thread.ofVirtual(), readers::keep);
    }

    @AfterEach
    void allThreadsEnd() throws InterruptedException {
        arrivals.add(() -> isOver = true);
        for (Thread each : threads) {
            each.join();
        }
        assertThat(crowds).hasValue(0); // one reads at a time
    }

    @Test
    void aSingleThreadThatWaitsReadsByItself() throws InterruptedException {
        var answer = new PendingOperation<Integer>(readers);
        arrivals.add(() -> {});
        arrivals.add(() -> answer.complete(1));
        assertThat(answer.await()).isEqualTo(1);
        assertThat(found).containsExactly(Thread.currentThread(), Thread.currentThread());
        assertThat(rings).hasValue(0);
    }

    @Test
    void theReaderLeavesWhenAnotherThreadHasDoneWhatItWaitsFor() throws InterruptedException {
        var answer = new PendingOperation<Integer>(readers);
        Thread waits = start(Thread.ofPlatform(), answer::await);
        assertThat(begun.take()).isSameAs(waits); // it reads, or is about to
        answer.complete(1);
        waits.join();
        assertThat(rings).hasValue(1);
        assertThat(arrivals).isEmpty();
    }

    @Test
    void aThreadThatLeavesHandsTheReadingOn() throws InterruptedException {
        var first = new PendingOperation<Integer>(readers);
        var second = new PendingOperation<Integer>(readers);
        Thread one = start(Thread.ofPlatform(), first::await);
        assertThat(begun.take()).isSameAs(one);
        Thread two = start(Thread.ofPlatform(), second::await);
        arrivals.add(() -> first.complete(1));
        one.join();
        assertThat(begun.take()).isSameAs(two);
        arrivals.add(() -> second.complete(2));
        two.join();
    }

    @Test
    void aThreadThatIsInterruptedHandsTheReadingOn() throws InterruptedException {
        var never = new PendingOperation<Integer>(readers);
        var answer = new PendingOperation<Integer>(readers);
        Thread one = start(
                Thread.ofPlatform(),
                () -> assertThatExceptionOfType(InterruptedException.class).isThrownBy(never::await));
        assertThat(begun.take()).isSameAs(one);
        Thread two = start(Thread.ofPlatform(), answer::await);
        one.interrupt();
        one.join();
        assertThat(begun.take()).isSameAs(two);
        arrivals.add(() -> answer.complete(1));
        two.join();
    }

    @Test
    void theKeeperReadsWhileNoThreadWaits() throws InterruptedException {
        keep();
        var arrived = new CountDownLatch(2);
        arrivals.add(arrived::countDown);
        arrivals.add(arrived::countDown);
        arrived.await();
    }

    @Test
    void theKeeperComesBackWhenTheLastThreadHasLeft() throws InterruptedException {
        keep();
        for (int i = 0; i < 100; i++) {
            var answer = new PendingOperation<Integer>(readers);
            start(Thread.ofVirtual(), () -> arrivals.add(() -> answer.complete(1)));
            assertThat(answer.await()).isEqualTo(1);
            var arrived = new CountDownLatch(1);
            arrivals.add(arrived::countDown);
            arrived.await(); // no thread waits for it
        }
    }

    @Test
    void aThreadTakesThePlaceOfTheKeeperAfterTheNextArrival() throws InterruptedException {
        keep();
        begun.take();
        var answer = new PendingOperation<Integer>(readers);
        Thread waits = start(Thread.ofPlatform(), answer::await);
        Thread last = null;
        while (last != waits) {
            arrivals.add(() -> {});
            last = begun.take();
        }
        arrivals.add(() -> answer.complete(1));
        waits.join();
    }

    /// Threads that wait with and without limits, and things that are done by the reader and by others.
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void everyThreadIsWokenInACrowd(boolean isVirtual) throws InterruptedException {
        keep();
        int rounds = 2000;
        var done = new AtomicInteger();
        for (int t = 0; t < 6; t++) {
            int mine = t;
            start(isVirtual ? Thread.ofVirtual() : Thread.ofPlatform(), () -> {
                for (int i = 0; i < rounds; i++) {
                    var answer = new PendingOperation<Integer>(readers);
                    if ((i + mine) % 3 == 0) {
                        Thread.startVirtualThread(() -> answer.complete(1)); // not by the reader
                    } else {
                        arrivals.add(() -> answer.complete(1));
                    }
                    if (i % 5 == 0) {
                        boolean _ = answer.await(Duration.ofNanos(1 + i * 10L));
                    }
                    int _ = answer.await();
                    done.incrementAndGet();
                }
            });
        }
        for (Thread each : threads.subList(1, threads.size())) {
            each.join();
        }
        assertThat(done).hasValue(6 * rounds);
    }

    @ParameterizedTest
    @CsvSource({
        "250,    1,  500", // threads come now and then
        "1000,   9, 1000",
        "1000,  11, 4000", // more often than every tenth of a millisecond
        "4000,  41, 4000",
        "4000,  39, 1000", // not so often any more
    })
    void theKeeperLooksSeldomWhileThreadsComeOften(long lastMicros, long came, long nextMicros) {
        assertThat(Readers.nextPause(lastMicros * 1000, came)).isEqualTo(nextMicros * 1000);
    }
}
