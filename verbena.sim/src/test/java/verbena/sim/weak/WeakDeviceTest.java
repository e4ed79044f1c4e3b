package verbena.sim.weak;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import verbena.transport.weak.Freedom;
import verbena.transport.weak.Weakness;
import verbena.verbs.Access;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.RemoteMemory;
import verbena.verbs.Transition;

/// Each freedom of a weak device: a program that leans on luck goes wrong, and its cure does not.
class WeakDeviceTest {
    private static final Set<Freedom> ALL = EnumSet.allOf(Freedom.class);
    /// The freedoms by which bytes of a WRITE become visible later than they come.
    private static final Set<Freedom> LATE = EnumSet.of(
            Freedom.LATE_VISIBILITY, Freedom.TORN, Freedom.TORN_WORDS, Freedom.FAILED_BYTES, Freedom.RELAXED_ORDERING);

    private static final int LENGTH = 256;
    private static final int INBOX = 32 << 10;

    // ---- late visibility

    private static void write(WeakPair pair, QueuePair by, long wrId) {
        by.postWrite(wrId, pair.a.memory.slice(0, 8), new RemoteMemory(pair.b.address(0), pair.b.memory.rkey(), 8));
    }

    private static void written(WeakPair pair) {
        pair.a.word(0, 7);
        write(pair, pair.a.qp, 1);
        pair.completed(1);
    }

    private static boolean hasTheCompleted(WeakPair pair) {
        written(pair);
        return pair.b.word(0) == 7;
    }

    @Test
    void aWriteHasCompletedAndThePeerSeesItLater() {
        WeakPair.check(Freedom.LATE_VISIBILITY, Set.of(), WeakDeviceTest::hasTheCompleted, pair -> {
            written(pair);
            pair.a.qp.postRead(
                    2, new RemoteMemory(pair.b.address(1), pair.b.memory.rkey(), 8), pair.a.memory.slice(8, 8));
            pair.completed(2);
            return pair.b.word(0) == 7;
        });
    }

    @Test
    void anAtomicOrAMessageBehindAWriteShowsIt() {
        assertThat(WeakPair.wrong(ALL, WeakPair.SEEDS, pair -> {
                    written(pair);
                    pair.a.qp.postFetchAdd(
                            2,
                            new RemoteMemory(pair.b.address(1), pair.b.memory.rkey(), Long.BYTES),
                            1,
                            pair.a.memory.slice(8, 8));
                    pair.completed(2);
                    return pair.b.word(0) == 7;
                }))
                .isZero();
        assertThat(WeakPair.wrong(ALL, WeakPair.SEEDS, pair -> {
                    pair.b.qp.postReceive(9, pair.b.memory.slice(INBOX, 64));
                    written(pair);
                    pair.a.qp.postSend(2, pair.a.memory.slice(8, 8));
                    pair.received(9);
                    return pair.b.word(0) == 7;
                }))
                .isZero();
    }

    @Test
    void whatIsLateIsVisibleInTheEnd() {
        assertThat(WeakPair.wrong(ALL, WeakPair.SEEDS, pair -> {
                    written(pair);
                    pair.await(() -> pair.b.word(0) == 7);
                    return true;
                }))
                .isZero();
    }

    @Test
    void whatIsLateIsThereBeforeItsRegionEnds() {
        assertThat(WeakPair.wrong(ALL, WeakPair.SEEDS, pair -> {
                    written(pair);
                    MemorySegment memory = pair.b.memory.segment();
                    pair.b.memory.close();
                    return memory.get(ValueLayout.JAVA_LONG, 0) == 7;
                }))
                .isZero();
    }

    // ---- torn

    private static MemorySegment record(WeakPair.End of) {
        return of.memory.segment().asSlice(0, LENGTH);
    }

    private static boolean isWhole(WeakPair pair) {
        return record(pair.a).mismatch(record(pair.b)) < 0;
    }

    private static boolean announced(WeakPair pair) {
        pair.b.qp.postReceive(9, pair.b.memory.slice(INBOX, 64));
        record(pair.a).fill((byte) 1);
        pair.a.qp.postWriteWithImmediate(
                1,
                pair.a.memory.slice(0, LENGTH),
                new RemoteMemory(pair.b.address(0), pair.b.memory.rkey(), LENGTH),
                0);
        pair.received(9);
        return isWhole(pair);
    }

    private static boolean hasAllWithTheLast(WeakPair pair) {
        record(pair.a).fill((byte) 1);
        pair.a.qp.postWrite(
                1, pair.a.memory.slice(0, LENGTH), new RemoteMemory(pair.b.address(0), pair.b.memory.rkey(), LENGTH));
        pair.await(() -> record(pair.b).get(ValueLayout.JAVA_BYTE, LENGTH - 1) == 1);
        return isWhole(pair);
    }

    @Test
    void theLastByteOfAWriteIsThereBeforeTheOthers() {
        WeakPair.check(
                Freedom.TORN, Set.of(Freedom.TORN_WORDS), WeakDeviceTest::hasAllWithTheLast, WeakDeviceTest::announced);
    }

    private static boolean isAWholeWord(WeakPair pair) {
        record(pair.a).fill((byte) 1);
        write(pair, pair.a.qp, 1);
        pair.await(() -> pair.b.word(0) != 0);
        return pair.b.word(0) == pair.a.word(0);
    }

    @Test
    void aWordIsSeenInParts() {
        WeakPair.check(Freedom.TORN_WORDS, Set.of(), WeakDeviceTest::isAWholeWord, WeakDeviceTest::announced);
    }

    // ---- unfenced

    private static boolean readsTheOldWord(WeakPair pair, boolean hasFence) {
        pair.a.word(0, 7);
        try (var batch = pair.a.qp.sendBatch()) {
            batch.read(1, pair.b.address(0), pair.b.memory.rkey())
                    .sge(pair.a.memory, 8, 8)
                    .signaled();
            batch.write(2, pair.b.address(0), pair.b.memory.rkey())
                    .sge(pair.a.memory, 0, 8)
                    .signaled();
            if (hasFence) {
                batch.fenced();
            }
            batch.submit();
        }
        pair.completed(2);
        return pair.a.word(1) == 0;
    }

    /// A strong device takes this freedom too: it reads when the answer leaves.
    @Test
    void aWriteBehindAReadTakesEffectFirst() {
        var others = EnumSet.complementOf(EnumSet.of(Freedom.UNFENCED));
        assertThat(WeakPair.wrong(EnumSet.of(Freedom.UNFENCED), 40, pair -> readsTheOldWord(pair, false)))
                .isBetween(1, 39);
        assertThat(WeakPair.wrong(ALL, 40, pair -> readsTheOldWord(pair, false)))
                .isBetween(1, 39);
        assertThat(WeakPair.wrong(others, WeakPair.SEEDS, pair -> readsTheOldWord(pair, false)))
                .isZero();
        assertThat(WeakPair.wrong(ALL, 2 * WeakPair.SEEDS, pair -> readsTheOldWord(pair, true)))
                .isZero();
    }

    // ---- local buffers

    private static boolean sendsThePosted(WeakPair pair, boolean waits) {
        pair.b.qp.postReceive(9, pair.b.memory.slice(INBOX, 64));
        pair.a.word(0, 7);
        pair.a.qp.postSend(1, pair.a.memory.slice(0, 8));
        if (waits) {
            pair.completed(1);
        } else {
            pair.world.step();
        }
        pair.a.word(0, 8);
        pair.received(9);
        return pair.b.word(INBOX / 8) == 7;
    }

    @Test
    void aBufferIsReadUntilItsRequestCompletes() {
        WeakPair.check(
                Freedom.LOCAL_BUFFERS,
                Set.of(),
                pair -> sendsThePosted(pair, false),
                pair -> sendsThePosted(pair, true));
    }

    @Test
    void theBufferOfAReadIsWrittenBeforeItCompletes() {
        WeakPair.check(
                Freedom.LOCAL_BUFFERS,
                Set.of(Freedom.LATE_COMPLETIONS),
                pair -> {
                    pair.b.word(0, 7);
                    pair.a.qp.postRead(
                            1, new RemoteMemory(pair.b.address(0), pair.b.memory.rkey(), 8), pair.a.memory.slice(0, 8));
                    pair.await(() -> pair.a.word(0) == 7);
                    return pair.a.completed.contains(1L);
                },
                pair -> {
                    pair.b.word(0, 7);
                    pair.a.qp.postRead(
                            1, new RemoteMemory(pair.b.address(0), pair.b.memory.rkey(), 8), pair.a.memory.slice(0, 8));
                    pair.completed(1);
                    return pair.a.word(0) == 7;
                });
    }

    // ---- READs

    /// Lets the owner change its record every 500 ns: a version, the same number in all words, and the version.
    private static void change(WeakPair pair, int changes) {
        if (changes > 0) {
            pair.world.after(500, () -> {
                for (int i = 0; i < LENGTH / 8; i++) {
                    pair.b.word(i, changes);
                }
                change(pair, changes - 1);
            });
        }
    }

    private static boolean isEqual(WeakPair.End of, int from, int to) {
        for (int i = from; i < to; i++) {
            if (of.word(i) != of.word(from)) {
                return false;
            }
        }
        return true;
    }

    private static boolean isOfOneMoment(WeakPair pair) {
        change(pair, 100);
        pair.a.qp.postRead(
                1, new RemoteMemory(pair.b.address(0), pair.b.memory.rkey(), LENGTH), pair.a.memory.slice(0, LENGTH));
        pair.completed(1);
        return isEqual(pair.a, 0, LENGTH / 8);
    }

    @Test
    void aReadHasBytesOfTwoMoments() {
        WeakPair.check(Freedom.RESAMPLED, Set.of(), WeakDeviceTest::isOfOneMoment, pair -> {
            change(pair, 400);
            int words = LENGTH / 8;
            do {
                pair.a.completed.clear();
                int rkey = pair.b.memory.rkey();
                pair.a.qp.postRead(1, new RemoteMemory(pair.b.address(0), rkey, 8), pair.a.memory.slice(0, 8));
                pair.a.qp.postRead(
                        2, new RemoteMemory(pair.b.address(0), rkey, LENGTH), pair.a.memory.slice(8, LENGTH));
                pair.a.qp.postRead(3, new RemoteMemory(pair.b.address(0), rkey, 8), pair.a.memory.slice(8 + LENGTH, 8));
                pair.completed(3);
            } while (pair.a.word(0) != pair.a.word(words + 1));
            return isEqual(pair.a, 1, words + 1);
        });
    }

    // ---- atomics

    private static void add(WeakPair pair, QueuePair by, long wrId) {
        by.postFetchAdd(
                wrId,
                new RemoteMemory(pair.b.address(0), pair.b.memory.rkey(), Long.BYTES),
                1,
                pair.a.memory.slice(8 * wrId, 8));
    }

    private static boolean keepsWhatTheOwnerAdds(WeakPair pair) {
        add(pair, pair.a.qp, 1);
        for (int i = 0; i < 40; i++) {
            pair.world.after(500L * i, () -> pair.b.word(0, pair.b.word(0) + 1));
        }
        pair.completed(1);
        pair.world.runUntil(() -> false, WeakPair.SECOND / 1_000);
        return pair.b.word(0) == 41;
    }

    @Test
    void anAtomicLosesWhatTheOwnerAdds() {
        WeakPair.check(Freedom.SPLIT_ATOMICS, Set.of(), WeakDeviceTest::keepsWhatTheOwnerAdds, pair -> {
            for (int i = 1; i <= 40; i += 2) {
                add(pair, pair.a.qp, i);
                add(pair, pair.a.other, i + 1);
            }
            pair.await(() -> pair.a.completed.size() == 40);
            pair.world.runUntil(() -> false, WeakPair.SECOND / 1_000);
            return pair.b.word(0) == 40;
        });
    }

    // ---- queue pairs

    @Test
    void oneQueuePairOvertakesAnother() {
        WeakPair.check(
                Freedom.QUEUE_PAIRS,
                with(LATE, Freedom.LOCAL_BUFFERS),
                pair -> isThereBefore(pair, pair.a.other, pair.b.other),
                pair -> isThereBefore(pair, pair.a.qp, pair.b.qp));
    }

    private static Set<Freedom> with(Set<Freedom> some, Freedom another) {
        var more = EnumSet.copyOf(some);
        more.add(another);
        return more;
    }

    private static boolean isThereBefore(WeakPair pair, QueuePair from, QueuePair to) {
        to.postReceive(9, pair.b.memory.slice(INBOX, 64));
        pair.a.word(0, 7);
        write(pair, pair.a.qp, 1);
        from.postSend(2, pair.a.memory.slice(8, 8));
        pair.received(9);
        return pair.b.word(0) == 7;
    }

    // ---- completions

    private static void ask(WeakPair pair) {
        pair.b.qp.postReceive(9, pair.b.memory.slice(INBOX, 64));
        pair.a.qp.postReceive(8, pair.a.memory.slice(INBOX, 64));
        pair.a.qp.postSend(1, pair.a.memory.slice(0, 8));
        pair.received(9);
        pair.b.qp.postSend(2, pair.b.memory.slice(0, 8));
        pair.await(() -> pair.a.received.contains(8L));
    }

    private static boolean completesBeforeItsAnswer(WeakPair pair) {
        ask(pair);
        return pair.a.completed.contains(1L);
    }

    @Test
    void theAnswerComesBeforeTheCompletion() {
        WeakPair.check(Freedom.LATE_COMPLETIONS, Set.of(), WeakDeviceTest::completesBeforeItsAnswer, pair -> {
            ask(pair);
            pair.completed(1);
            return true;
        });
    }

    // ---- events

    /// Takes a completion where it finds one, and believes that an event brings one.
    private static boolean hasAnEventACompletion(WeakPair pair, boolean isCured) {
        pair.b.qp.postReceive(9, pair.b.memory.slice(INBOX, 64));
        pair.a.qp.postSend(1, pair.a.memory.slice(0, 8));
        pair.b.receiveCq.arm();
        boolean[] seen = new boolean[2];
        pair.await(() -> {
            if (pair.b.channel.poll().isPresent()) {
                seen[0] = true;
                seen[1] = pair.b.received.isEmpty();
            }
            return seen[0];
        });
        return seen[1] || (isCured && pair.b.received.contains(9L));
    }

    @Test
    void anEventComesWhenTheQueueIsEmpty() {
        WeakPair.check(
                Freedom.LATE_EVENTS,
                Set.of(),
                pair -> hasAnEventACompletion(pair, false),
                pair -> hasAnEventACompletion(pair, true));
    }

    // ---- relaxed ordering

    private static boolean isAnnouncedByAWord(WeakPair pair) {
        pair.a.word(0, 7);
        pair.a.word(1, 1);
        write(pair, pair.a.qp, 1);
        pair.a.qp.postWrite(2, pair.a.memory.slice(8, 8), new RemoteMemory(pair.b.address(1), pair.b.memory.rkey(), 8));
        pair.await(() -> pair.b.word(1) == 1);
        return pair.b.word(0) == 7;
    }

    @Test
    void writesToRelaxedMemoryOvertakeEachOther() {
        var relaxed = EnumSet.copyOf(Access.remoteAll());
        relaxed.add(Access.RELAXED_ORDERING);
        int alone = 0;
        int strong = 0;
        int ordered = 0;
        for (long seed = 0; seed < WeakPair.SEEDS; seed++) {
            var weakness = new Weakness(EnumSet.of(Freedom.RELAXED_ORDERING), seed);
            var others = new Weakness(ALL, seed).without(Freedom.TORN_WORDS);
            alone += isAnnouncedByAWord(new WeakPair(seed, weakness, relaxed)) ? 0 : 1;
            strong += isAnnouncedByAWord(new WeakPair(seed, null, relaxed)) ? 0 : 1;
            ordered += isAnnouncedByAWord(new WeakPair(seed, others)) ? 0 : 1;
        }
        assertThat(alone).as("relaxed").isPositive();
        assertThat(strong).as("strong").isZero();
        assertThat(ordered).as("not relaxed").isZero();
    }

    // ---- failed bytes

    @Test
    void aFailedWriteLeavesHoles() {
        assertThat(WeakPair.wrong(EnumSet.of(Freedom.FAILED_BYTES), 40, WeakDeviceTest::leavesABeginning))
                .isPositive();
        assertThat(WeakPair.wrong(ALL, 40, WeakDeviceTest::leavesABeginning)).isPositive();
        assertThat(WeakPair.wrong(Set.of(), 40, WeakDeviceTest::leavesABeginning))
                .isZero();
    }

    private static boolean leavesABeginning(WeakPair pair) {
        MemorySegment memory = pair.b.memory.segment();
        pair.a.memory.segment().fill((byte) 1);
        pair.a.qp.postWrite(
                1,
                pair.a.memory.slice(0, WeakPair.BYTES),
                new RemoteMemory(pair.b.address(0), pair.b.memory.rkey(), WeakPair.BYTES));
        pair.world.runUntil(() -> false, 40_000);
        pair.b.qp.modify(new Transition.ToError());
        assertThat(pair.b.qp.state()).isEqualTo(QpState.ERR);
        int beginning = 0;
        while (beginning < WeakPair.BYTES && memory.get(ValueLayout.JAVA_BYTE, beginning) == 1) {
            beginning++;
        }
        for (int i = beginning; i < WeakPair.BYTES; i++) {
            if (memory.get(ValueLayout.JAVA_BYTE, i) != 0) {
                return false;
            }
        }
        return true;
    }

    // ---- all of them

    /// Returns a program that leans on the absence of a freedom. The compiler asks for one for each.
    private static Predicate<WeakPair> leaning(Freedom on) {
        return switch (on) {
            case LATE_VISIBILITY -> WeakDeviceTest::hasTheCompleted;
            case TORN -> WeakDeviceTest::hasAllWithTheLast;
            case TORN_WORDS -> WeakDeviceTest::isAWholeWord;
            case UNFENCED -> pair -> readsTheOldWord(pair, false);
            case LOCAL_BUFFERS -> pair -> sendsThePosted(pair, false);
            case RESAMPLED -> WeakDeviceTest::isOfOneMoment;
            case SPLIT_ATOMICS -> WeakDeviceTest::keepsWhatTheOwnerAdds;
            case QUEUE_PAIRS -> pair -> isThereBefore(pair, pair.a.other, pair.b.other);
            case LATE_COMPLETIONS -> WeakDeviceTest::completesBeforeItsAnswer;
            case RELAXED_ORDERING -> WeakDeviceTest::isAnnouncedByAWord;
            case LATE_EVENTS -> pair -> hasAnEventACompletion(pair, false);
            case FAILED_BYTES -> WeakDeviceTest::leavesABeginning;
        };
    }

    @ParameterizedTest
    @EnumSource
    void withoutItsFreedomAProgramIsRight(Freedom freedom) {
        var access = EnumSet.copyOf(Access.remoteAll());
        if (freedom == Freedom.RELAXED_ORDERING) {
            access.add(Access.RELAXED_ORDERING);
        }
        // A strong device reads when the answer leaves.
        Set<Freedom> off = freedom == Freedom.UNFENCED ? EnumSet.complementOf(EnumSet.of(freedom)) : Set.of();
        assertThat(WeakPair.wrong(EnumSet.of(freedom), 40, access, leaning(freedom)))
                .isPositive();
        assertThat(WeakPair.wrong(off, 40, access, leaning(freedom))).isZero();
    }

    // ---- the seed

    @Test
    void theSameSeedGivesTheSameWorld() {
        for (long seed = 0; seed < 10; seed++) {
            assertThat(digest(seed)).isEqualTo(digest(seed));
        }
        assertThat(digest(1)).isNotEqualTo(digest(2));
    }

    private static String digest(long seed) {
        var pair = new WeakPair(1, new Weakness(ALL, seed));
        change(pair, 100);
        ask(pair);
        pair.a.qp.postRead(
                1, new RemoteMemory(pair.b.address(0), pair.b.memory.rkey(), LENGTH), pair.a.memory.slice(0, LENGTH));
        add(pair, pair.a.other, 3);
        pair.await(() -> pair.a.completed.contains(3L) && pair.a.completed.contains(1L));
        return pair.world.trace().digest();
    }

    /// Packets whose time has come, and which the link has no room for, are no reason to stand still.
    @Test
    void aFullLinkIsWaitedFor() {
        for (long seed = 0; seed < 5; seed++) {
            var pair = new WeakPair(seed, new Weakness(EnumSet.allOf(Freedom.class), seed));
            for (int i = 0; i < 20; i++) {
                pair.a.qp.postWrite(i, pair.a.memory.slice(0, WeakPair.BYTES), pair.b.memory.remote());
            }
            pair.completed(19);
        }
    }
}
