package verbena.nic.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Test;
import verbena.nic.GoalRun;
import verbena.nic.SoftContext;
import verbena.nic.device.DeviceContext;
import verbena.nic.roce.LinkDevice;
import verbena.transport.memory.KeyTable;
import verbena.transport.memory.MemoryTable;
import verbena.transport.memory.Region;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;

/// A key, a queue pair number or a first PSN cannot be guessed from others (goals S1 and S2 of reliability).
class SecrecyTest {
    private static final int KEYS = GoalRun.size(1 << 17, 1 << 20);

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
            handles.add(key >>> 8);
        }
        assertThat(handles).as("a handle of its own each").hasSize(KEYS);
        assertThat(mostEqual(differences(keys))).isLessThanOrEqualTo(4);
        for (int shift = 0; shift < 32; shift += 8) {
            assertThat(chiSquare(keys, shift)).isLessThan(400);
        }
    }

    @Test
    void aKeyIsDrawnFromMoreThanTwoToThe31ThatAreFree() {
        // Given all other keys: 24 bits without those that are used or may rest, and 8 more.
        double free = (1 << 24) - 2 - (1 << 20) - (1 << 20);
        double bits = Math.log(free) / Math.log(2) + 8;
        assertThat(bits).isGreaterThan(28);
        var table = new MemoryTable(SoftContext.secureRandom(), KEYS, System::nanoTime);
        var regions = new Region[KEYS];
        for (int i = 0; i < KEYS; i++) {
            regions[i] = new Region(1, MemorySegment.NULL, 0, 0);
        }
        for (Region region : regions) {
            table.add(region);
        }
        for (Region region : regions) {
            table.remove(region);
        }
        var clock = ManagementFactory.getThreadMXBean();
        long started = clock.getCurrentThreadCpuTime();
        for (Region region : regions) {
            table.add(region);
        }
        double nanos = (clock.getCurrentThreadCpuTime() - started) / (double) KEYS;
        GoalRun.print("S1", "%.1f bits a key at least, given all others; %.0f ns a key".formatted(bits, nanos));
    }

    @Test
    void predictorsDoPredictWhatCanBe() {
        var linear = new int[10_000];
        var shifted = new int[10_000];
        linear[0] = 12_345;
        shifted[0] = 12_345;
        for (int i = 1; i < linear.length; i++) {
            linear[i] = linear[i - 1] * 22_695_477 + 1;
            shifted[i] = shifted[i - 1] ^ shifted[i - 1] << 13;
            shifted[i] ^= shifted[i] >>> 17;
            shifted[i] ^= shifted[i] << 5;
        }
        assertThat(linearHits(linear, ~0)).isEqualTo(linear.length - 3);
        assertThat(shiftRegisterHits(shifted, Integer.SIZE)).isEqualTo((shifted.length - WINDOW + 15) / 16);
    }

    @Test
    void predictorsOfKeysFail() throws Exception {
        int[] keys = memoryKeys(KEYS);
        GoalRun.print("S1", "of %,d keys predicted: ".formatted(KEYS) + predicted(keys, ~0));
        int[] numbers = queuePairNumbers(65_536);
        GoalRun.print("S2", "of 2^16 queue pair numbers predicted: " + predicted(numbers, 0xFF_FFFF));
        int[] psns = firstPsns(65_536);
        GoalRun.print("S2", "of 2^16 first PSNs predicted: " + predicted(psns, 0xFF_FFFF));
    }

    /// How often each predictor was right; more than four times is too often.
    private static String predicted(int[] drawn, int mask) throws Exception {
        int difference = 0;
        int fixedLinear = 0;
        for (int i = 2; i < drawn.length; i++) {
            int step = drawn[i - 1] - drawn[i - 2];
            difference += (drawn[i] - drawn[i - 1] - step & mask) == 0 ? 1 : 0;
            fixedLinear += (drawn[i] - (drawn[i - 1] * 1_664_525 + 1_013_904_223) & mask) == 0 ? 1 : 0;
        }
        int linear = linearHits(drawn, mask);
        int shiftRegister = shiftRegisterHits(drawn, Integer.bitCount(mask));
        int sibling = siblingHits(drawn, mask);
        for (int hits : new int[] {difference, fixedLinear, linear, shiftRegister, sibling}) {
            assertThat(hits).isLessThanOrEqualTo(4);
        }
        return ("by the last difference %d, by a known linear generator %d, by one that fits %d,"
                        + " by shift registers that fit %d, by a sibling's %d")
                .formatted(difference, fixedLinear, linear, shiftRegister, sibling);
    }

    /// x -> a x + c modulo a power of 2, from the last three values, if the factor can be computed.
    private static int linearHits(int[] drawn, int mask) {
        int hits = 0;
        for (int i = 3; i < drawn.length; i++) {
            int step = drawn[i - 1] - drawn[i - 2];
            int stepBefore = drawn[i - 2] - drawn[i - 3];
            if ((stepBefore & 1) != 0) {
                int factor = step * inverse(stepBefore);
                hits += (drawn[i] - drawn[i - 1] - factor * step & mask) == 0 ? 1 : 0;
            }
        }
        return hits;
    }

    /// The inverse of an odd number modulo 2^32.
    private static int inverse(int odd) {
        int x = odd;
        for (int i = 0; i < 5; i++) {
            x *= 2 - odd * x;
        }
        return x;
    }

    private static final int WINDOW = 64;

    /// How often a prediction by shift registers was right in all bits. The registers are the shortest linear
    /// feedback shift registers that make the last 64 values of each bit (Berlekamp and Massey's algorithm, one
    /// bit of a `long` for each tap).
    private static int shiftRegisterHits(int[] drawn, int bits) {
        int hits = 0;
        for (int from = 0; from + WINDOW < drawn.length; from += 16) {
            boolean all = true;
            for (int bit = 0; bit < bits && all; bit++) {
                all = nextBit(drawn, from, bit) == (drawn[from + WINDOW] >>> bit & 1);
            }
            hits += all ? 1 : 0;
        }
        return hits;
    }

    private static int nextBit(int[] drawn, int from, int bit) {
        long taps = 1;
        long before = 1;
        int length = 0;
        int since = 1;
        long history = 0; // the newest lowest
        for (int i = 0; i < WINDOW; i++) {
            history = history << 1 | (drawn[from + i] >>> bit & 1);
            boolean wrong = (Long.bitCount(taps & history) & 1) != 0;
            if (!wrong) {
                since++;
                continue;
            }
            long old = taps;
            taps ^= since < Long.SIZE ? before << since : 0;
            if (2 * length <= i) {
                length = i + 1 - length;
                before = old;
                since = 1;
            } else {
                since++;
            }
        }
        return Long.bitCount(taps & history << 1) & 1;
    }

    /// The numbers of another process that was started the same way predict nothing.
    private static int siblingHits(int[] drawn, int mask) throws Exception {
        int[] sibling = sibling(drawn.length);
        var shifts = new int[drawn.length];
        int hits = 0;
        for (int i = 0; i < drawn.length; i++) {
            hits += (drawn[i] - sibling[i] & mask) == 0 ? 1 : 0;
            shifts[i] = drawn[i] - sibling[i] & mask;
        }
        assertThat(Integer.bitCount(mask) < 32 || mostEqual(shifts) <= 4)
                .as("no constant lies between them")
                .isTrue();
        return hits;
    }

    /// Keys that a child process draws.
    private static int[] sibling(int count) throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        SecrecyTest.class.getName(),
                        Integer.toString(count))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        var keys = new int[count];
        try (var in = new DataInputStream(new BufferedInputStream(process.getInputStream()))) {
            for (int i = 0; i < count; i++) {
                keys[i] = in.readInt();
            }
        }
        assertThat(process.waitFor()).isZero();
        return keys;
    }

    /// The child process: writes this many keys to its output.
    public static void main(String[] count) throws IOException {
        try (var out = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)))) {
            for (int key : memoryKeys(Integer.parseInt(count[0]))) {
                out.writeInt(key);
            }
        }
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
    void numbersOfASlotAreItsOwnAndTellNothingOfEachOtherBeyondThat() {
        for (int slot : new int[] {0, 0x5A, 255}) {
            KeyTable<Object> table =
                    KeyTable.ofSlot(SoftContext.secureRandom(), slot, 2, Integer.MAX_VALUE, System::nanoTime);
            int[] numbers = draw(table.limit(), () -> table.add(new Object()));
            assertThat(numbers).hasSize(32_768);
            assertThat(Arrays.stream(numbers).allMatch(n -> n >>> 16 == slot && n >= 2 && n < 0xFF_FFFF))
                    .isTrue();
            assertThat(mostEqual(numbers)).isEqualTo(1);
            for (int shift = 0; shift < 16; shift += 8) {
                assertThat(chiSquare(numbers, shift)).isLessThan(400);
            }
            assertThat(table.add(new Object())).as("no more than half").isEqualTo(-1);
        }
    }

    @Test
    void numbersOfASlotRestUntilAQuarterIsLeft() {
        KeyTable<Object> table = KeyTable.ofSlot(SoftContext.secureRandom(), 9, 2, Integer.MAX_VALUE, () -> 0);
        int[] first = draw(table.limit(), () -> table.add(new Object()));
        Arrays.stream(first).forEach(table::remove);
        assertThat(Arrays.stream(first).allMatch(table::isResting)).isTrue();
        draw(table.limit(), () -> table.add(new Object()));
        long resting = Arrays.stream(first).filter(table::isResting).count();
        assertThat(resting).isBetween(16_000L, 16_400L); // of 65,536: half in use, a quarter free
    }

    @Test
    void noRestartRepeatsAnother() throws Exception {
        int restarts = 1_000;
        int processes = GoalRun.size(5, 1_000);
        var firsts = new HashSet<Long>();
        for (int i = 0; i < restarts; i++) {
            int[] keys = memoryKeys(2);
            assertThat(firsts.add((long) keys[0] << 32 | keys[1])).isTrue();
        }
        for (int i = 0; i < processes; i++) {
            int[] keys = sibling(2);
            assertThat(firsts.add((long) keys[0] << 32 | keys[1])).isTrue();
        }
        GoalRun.print(
                "S1",
                restarts + " restarted generators and " + processes + " restarted processes: none repeats another");
    }

    /// The first PSNs of a queue pair in one life after the other.
    private static int[] firstPsns(int count) {
        var link = new Cable(1).a;
        var context =
                (DeviceContext) LinkDevice.open("psns", link, System::nanoTime, SoftContext.secureRandom(), false);
        QueuePair qp = context.allocateProtectionDomain()
                .createQueuePair(QueuePairOptions.rc(context.createCompletionQueue(1)));
        return draw(count, () -> {
            qp.modify(new Transition.ToReset());
            return qp.endpoint().psn();
        });
    }

    @Test
    void firstPsnsTellNothingOfEachOther() {
        int[] psns = firstPsns(65_536);
        assertThat(mostEqual(differences(psns))).isLessThanOrEqualTo(4);
        for (int shift = 0; shift < 24; shift += 8) {
            assertThat(chiSquare(psns, shift)).isLessThan(400);
        }
    }
}
