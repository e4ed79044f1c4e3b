package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import verbena.transport.memory.KeyTable;
import verbena.transport.memory.MemoryTable;
import verbena.transport.memory.Region;

/// Nobody can guess a key, a queue pair number or a first PSN from others (goals S1 and S2 of reliability).
class SecrecyTest {
    private static final int KEYS = 1 << 20;

    private static int[] draw(int count, IntSupplier source) {
        var drawn = new int[count];
        for (int i = 0; i < count; i++) {
            drawn[i] = source.getAsInt();
        }
        return drawn;
    }

    private static int[] memoryKeys(int count) {
        var table = new MemoryTable(SoftContext.secureRandom(), count, System::nanoTime);
        return draw(count, () -> {
            var region = new Region(1, MemorySegment.NULL, 0, 0);
            assertThat(table.add(region)).isTrue();
            return region.key();
        });
    }

    private static int[] queuePairNumbers(int count) {
        var table = new KeyTable<Object>(SoftContext.secureRandom(), 2, count, System::nanoTime);
        return draw(count, () -> table.add(new Object()));
    }

    private static int mostEqual(int[] values) {
        int[] sorted = values.clone();
        Arrays.sort(sorted);
        int most = 0;
        int run = 0;
        for (int i = 0; i < sorted.length; i++) {
            run = i > 0 && sorted[i] == sorted[i - 1] ? run + 1 : 1;
            most = Math.max(most, run);
        }
        return most;
    }

    private static int[] differences(int[] values) {
        var differences = new int[values.length - 1];
        for (int i = 0; i < differences.length; i++) {
            differences[i] = values[i + 1] - values[i];
        }
        return differences;
    }

    /// Chi-square of one byte over all values, 255 degrees of freedom: 255 on the average, above 400 once in 10^7.
    private static double chiSquare(int[] values, int shift) {
        var counts = new int[256];
        for (int value : values) {
            counts[value >>> shift & 0xFF]++;
        }
        double expected = values.length / 256.0;
        double sum = 0;
        for (int count : counts) {
            sum += (count - expected) * (count - expected) / expected;
        }
        return sum;
    }

    @Test
    void memoryKeysTellNothingOfEachOther() {
        int[] keys = memoryKeys(KEYS);
        var handles = new HashSet<Integer>(2 * KEYS);
        for (int key : keys) {
            assertThat(handles.add(key >>> 8)).as("a handle of its own").isTrue();
        }
        assertThat(mostEqual(differences(keys))).isLessThanOrEqualTo(4);
        for (int shift = 0; shift < 32; shift += 8) {
            assertThat(chiSquare(keys, shift)).isLessThan(400);
        }
    }

    @Test
    void simplePredictorsOfKeysFail() {
        int[] keys = memoryKeys(KEYS);
        int lastDifference = 0;
        int linear = 0;
        int shiftRegister = 0;
        for (int i = 2; i < KEYS; i++) {
            lastDifference += keys[i] == keys[i - 1] + (keys[i - 1] - keys[i - 2]) ? 1 : 0;
            linear += keys[i] == keys[i - 1] * 1_664_525 + 1_013_904_223 ? 1 : 0;
            shiftRegister += keys[i] == (keys[i - 1] >>> 1 ^ (-(keys[i - 1] & 1) & 0xEDB8_8320)) ? 1 : 0;
        }
        assertThat(lastDifference).isLessThanOrEqualTo(4);
        assertThat(linear).isLessThanOrEqualTo(4);
        assertThat(shiftRegister).isLessThanOrEqualTo(4);
    }

    @Test
    void queuePairNumbersTellNothingOfEachOther() {
        int[] numbers = queuePairNumbers(65_536);
        assertThat(mostEqual(numbers)).isEqualTo(1);
        assertThat(Arrays.stream(numbers).allMatch(n -> n >= 2 && n < 0xFF_FFFF))
                .isTrue();
        // 65,535 differences of 2^25 possible ones, triangular: some occur twice or three times.
        assertThat(mostEqual(differences(numbers))).isLessThanOrEqualTo(4);
        for (int shift = 0; shift < 24; shift += 8) {
            assertThat(chiSquare(numbers, shift)).isLessThan(400);
        }
    }

    @Test
    void aNumberRestsForAMinuteWhateverIsDrawn() {
        var clock = new AtomicLong(5);
        var draws = List.of(77L, 77L, 78L, 77L).iterator();
        var table = new KeyTable<String>(() -> draws.next() << 32, 2, 10, clock::get);
        assertThat(table.add("first")).isEqualTo(77);
        table.remove(77);
        assertThat(table.get(77)).isNull();
        assertThat(table.isResting(77)).isTrue();
        clock.addAndGet(KeyTable.REST_NANOS - 1);
        assertThat(table.add("second")).as("77 was drawn and still rests").isEqualTo(78);
        clock.addAndGet(1);
        assertThat(table.add("third")).isEqualTo(77);
        assertThat(table.isResting(77)).isFalse();
        assertThat(table.get(77)).isEqualTo("third");
    }

    @Test
    void noRestartRepeatsAnother() {
        var firsts = new HashSet<Long>();
        for (int i = 0; i < 1_000; i++) {
            RandomGenerator restarted = SoftContext.secureRandom();
            assertThat(firsts.add(restarted.nextLong())).isTrue();
        }
    }

    @Test
    void firstPsnsAreDrawnFromAll24Bits() {
        RandomGenerator random = SoftContext.secureRandom();
        try (var pair = new Pair()) {
            int all = 0;
            int none = ~0;
            for (int i = 0; i < 100; i++) {
                pair.a.qp.modify(new verbena.verbs.Transition.ToReset());
                int psn = pair.a.qp.endpoint().psn();
                all |= psn;
                none &= psn;
            }
            assertThat(all).isEqualTo(0xFF_FFFF);
            assertThat(none).isZero();
        }
        assertThat(chiSquare(draw(1 << 18, random::nextInt), 0)).isLessThan(400);
    }
}
