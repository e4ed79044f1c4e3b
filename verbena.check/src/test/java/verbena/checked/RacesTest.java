package verbena.checked;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.check.CheckOptions;
import verbena.check.Checker;
import verbena.check.Finding;
import verbena.check.Rule;
import verbena.check.device.CheckProvider;
import verbena.check.rules.Watchers;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;

/// Races between threads that are ordered only by what can be seen, and what orders them.
@Timeout(180)
class RacesTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final Checker checker =
            new Checker(EnumSet.allOf(Rule.class), (on, of) -> Watchers.of(on, of, CheckOptions.of("threads")));
    private final ExecutorService first = Executors.newSingleThreadExecutor();
    private final ExecutorService second = Executors.newSingleThreadExecutor();
    private Context device;
    private ProtectionDomain domain;
    private CompletionQueue ofFirst;
    private CompletionQueue ofSecond;
    private CompletionQueue ofOwner;
    private MemoryRegion local;
    private MemoryRegion shared;
    private QueuePair one;
    private QueuePair two;
    private QueuePair ownerOfOne;
    private QueuePair ownerOfTwo;

    @BeforeEach
    void connect() throws Exception {
        device = CheckProvider.over("checked", Device.named("rocev2"), checker).open();
        domain = device.allocateProtectionDomain();
        ofFirst = device.createCompletionQueue(64);
        ofSecond = device.createCompletionQueue(64);
        ofOwner = device.createCompletionQueue(64);
        local = domain.allocate(4_096, Access.local());
        shared = domain.allocate(4_096, Access.remoteAll());
        one = domain.createQueuePair(QueuePairOptions.rc(ofFirst));
        ownerOfOne = domain.createQueuePair(QueuePairOptions.rc(ofOwner));
        two = domain.createQueuePair(QueuePairOptions.rc(ofSecond));
        ownerOfTwo = domain.createQueuePair(QueuePairOptions.rc(ofOwner));
        one.connect(ownerOfOne.endpoint());
        ownerOfOne.connect(one.endpoint());
        two.connect(ownerOfTwo.endpoint());
        ownerOfTwo.connect(two.endpoint());
        // Both threads live from now on.
        on(first, () -> null);
        on(second, () -> null);
    }

    @AfterEach
    void close() {
        first.shutdownNow();
        second.shutdownNow();
        List.of(one, two, ownerOfOne, ownerOfTwo).forEach(QueuePair::close);
        List.of(local, shared).forEach(MemoryRegion::close);
        List.of(ofFirst, ofSecond, ofOwner).forEach(CompletionQueue::close);
        domain.close();
        device.close();
    }

    private static <T> T on(ExecutorService thread, Callable<T> step) throws Exception {
        Future<T> done = thread.submit(step);
        return done.get();
    }

    private static Void take(CompletionQueue queue) throws InterruptedException {
        assertThat(queue.await(new WorkCompletion(), LIMIT)).isTrue();
        return null;
    }

    private Void write(QueuePair pair, CompletionQueue queue, long wrId) throws InterruptedException {
        pair.postWrite(wrId, local.slice(wrId * 64, 64), shared.remote());
        return take(queue);
    }

    private List<Rule> rules() {
        return checker.findings().all().stream()
                .map(Finding::rule)
                .filter(rule -> rule.name().startsWith("RACE"))
                .toList();
    }

    @Test
    void aCompletionOrdersItsOwnThreadOnly() throws Exception {
        on(first, () -> write(one, ofFirst, 1));
        on(second, () -> write(two, ofSecond, 2));

        assertThat(rules()).containsExactly(Rule.RACE_WRITE);
        assertThat(checker.findings().all())
                .filteredOn(finding -> finding.rule() == Rule.RACE_WRITE)
                .allSatisfy(finding -> assertThat(finding.detail()).contains("64 bytes from byte 0 of memory region"));
    }

    @Test
    void aHandOverOrdersTwoThreadsWhenTheProgramSaysSo() throws Exception {
        on(first, () -> {
            write(one, ofFirst, 1);
            device.noteRelease("done");
            return null;
        });
        on(second, () -> {
            device.noteAcquire("done");
            return write(two, ofSecond, 2);
        });

        assertThat(rules()).isEmpty();
    }

    @Test
    void aHandOverByAnotherObjectOrdersNothing() throws Exception {
        on(first, () -> {
            write(one, ofFirst, 1);
            device.noteRelease("done");
            return null;
        });
        on(second, () -> {
            device.noteAcquire("begun");
            return write(two, ofSecond, 2);
        });

        assertThat(rules()).containsExactly(Rule.RACE_WRITE);
    }

    @Test
    void aHandOverBeforeTheCompletionIsTooEarly() throws Exception {
        on(first, () -> {
            one.postWrite(1, local.slice(64, 64), shared.remote());
            device.noteRelease("done");
            return take(ofFirst);
        });
        on(second, () -> {
            device.noteAcquire("done");
            return write(two, ofSecond, 2);
        });

        assertThat(rules()).containsExactly(Rule.RACE_WRITE);
    }

    @Test
    void aThreadThatHasEndedIsOrderedBeforeTheOthers() throws Exception {
        var thread = new Thread(() -> {
            try {
                write(one, ofFirst, 1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        thread.start();
        thread.join();
        on(second, () -> write(two, ofSecond, 2));

        assertThat(rules()).isEmpty();
    }

    @Test
    void aThreadKnowsWhatItsParentKnew() throws Exception {
        write(one, ofFirst, 1);
        var done = new CountDownLatch(1);
        var thread = new Thread(() -> {
            try {
                write(two, ofSecond, 2);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            done.countDown();
        });
        thread.start();
        thread.join();

        assertThat(done.getCount()).isZero();
        assertThat(rules()).isEmpty();
    }

    @Test
    void aMessageTellsWhatItsSenderKnew() throws Exception {
        ownerOfTwo.postReceive(9, shared.slice(1_024, 64));
        on(first, () -> write(one, ofFirst, 1));
        on(first, () -> {
            device.noteRelease("done");
            return null;
        });
        on(second, () -> {
            device.noteAcquire("done");
            two.postSend(2, local.slice(256, 8));
            return take(ofSecond);
        });
        take(ofOwner);
        shared.noteLoad(0, 64);

        assertThat(rules()).isEmpty();
    }

    @Test
    void aMessageOfAnotherQueuePairTellsNothing() throws Exception {
        ownerOfTwo.postReceive(9, shared.slice(1_024, 64));
        on(first, () -> write(one, ofFirst, 1));
        on(second, () -> {
            two.postSend(2, local.slice(256, 8));
            return take(ofSecond);
        });
        take(ofOwner);
        shared.noteLoad(0, 64);

        assertThat(rules()).containsExactly(Rule.RACE_PROCESSOR);
    }

    @Test
    void anAtomicOnAWordOrdersThoseWhoUseIt() throws Exception {
        on(first, () -> {
            write(one, ofFirst, 1);
            one.postFetchAdd(3, shared.remote().slice(512), 1, local.slice(512, 8));
            return take(ofFirst);
        });
        on(second, () -> {
            two.postFetchAdd(4, shared.remote().slice(512), 1, local.slice(520, 8));
            take(ofSecond);
            return write(two, ofSecond, 2);
        });

        assertThat(rules()).isEmpty();
    }

    @Test
    void aReadOfAFlagShowsWhatWasWrittenBeforeIt() throws Exception {
        on(first, () -> {
            write(one, ofFirst, 1);
            one.postWrite(3, local.slice(512, 8), shared.remote().slice(512, 8));
            return take(ofFirst);
        });
        on(second, () -> {
            two.postRead(4, shared.remote().slice(512, 8), local.slice(520, 8));
            take(ofSecond);
            two.postRead(5, shared.remote().slice(0, 64), local.slice(640, 64));
            return take(ofSecond);
        });

        assertThat(rules()).isEmpty();
    }

    @Test
    void twoThreadsThatPollOneQueueTakeTurns() throws Exception {
        on(first, () -> write(one, ofFirst, 1));
        one.postWrite(3, local.slice(1_024, 64), shared.remote().slice(1_024, 64));
        on(second, () -> {
            take(ofFirst);
            return write(two, ofSecond, 2);
        });

        assertThat(rules()).isEmpty();
    }

    @Test
    void aReaderThatLooksAtTheVersionAfterwardsTakesTheRaceBack() throws Exception {
        on(first, () -> write(one, ofFirst, 1));
        on(second, () -> {
            two.postRead(4, shared.remote().slice(0, 64), local.slice(640, 64));
            assertThat(rules()).containsExactly(Rule.RACE_READ);
            two.postRead(5, shared.remote().slice(0, 8), local.slice(720, 8));
            take(ofSecond);
            return take(ofSecond);
        });

        assertThat(rules()).isEmpty();
    }
}
