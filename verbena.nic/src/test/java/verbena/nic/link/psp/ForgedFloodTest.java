package verbena.nic.link.psp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.GoalRun;
import verbena.transport.psp.Association;
import verbena.wire.Frame;
import verbena.wire.psp.PspCipher;
import verbena.wire.psp.PspHeader;
import verbena.wire.psp.PspVerdict;
import verbena.wire.psp.PspVersion;

/// The price of a flood of forged packets: of each a cipher passes over as many bytes as of a good packet, and of one
/// that was there or has an unknown SPI over none. Prints the time of a processor, too.
class ForgedFloodTest {
    private static final int PACKETS = GoalRun.size(4_000, 40_000);
    private static final int ROUNDS = 8;

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final Random random = new Random(54);

    /// A cipher that counts the bytes that it passes over.
    private static final class Counting implements PspCipher {
        private final PspCipher cipher;
        long passed;

        Counting(PspCipher cipher) {
            this.cipher = cipher;
        }

        @Override
        public void seal(
                MemorySegment text, long textAt, MemorySegment packet, long at, int clearBytes, int secretBytes) {
            cipher.seal(text, textAt, packet, at, clearBytes, secretBytes);
        }

        @Override
        public boolean open(
                MemorySegment packet, long at, int clearBytes, int secretBytes, MemorySegment text, long textAt) {
            passed += clearBytes + secretBytes;
            return cipher.open(packet, at, clearBytes, secretBytes, text, textAt);
        }
    }

    private interface Step {
        PspVerdict open(int packet);
    }

    private double nanosEach(PspVerdict expected, Step step) {
        double least = Double.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++) {
            long before = threads.getCurrentThreadCpuTime();
            for (int i = 0; i < PACKETS; i++) {
                if (step.open(i) != expected) {
                    throw new AssertionError("not " + expected);
                }
            }
            least = Math.min(least, (threads.getCurrentThreadCpuTime() - before) / (double) PACKETS);
        }
        return least;
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 4_096})
    void ofAForgedPacketAsMuchIsReadAsOfAGoodOne(int textBytes) {
        assumeTrue(PspCiphers.isLibcryptoThere(), "no libcrypto");
        PspVersion version = PspVersion.AES_GCM_128;
        byte[] key = new byte[version.keyBytes()];
        random.nextBytes(key);
        try (Arena arena = Arena.ofConfined();
                var ciphers = new PspCiphers(version, true, KeyLog.NONE);
                var near = new Association(version, 0, PspNet.UNLIMITED);
                var far = new Association(version, 0, PspNet.UNLIMITED)) {
            near.install(new Association.Keys(7, ciphers.cipher(7, key), 8, ciphers.cipher(8, key)), 0);
            var opening = new Counting(ciphers.cipher(7, key));
            far.install(new Association.Keys(8, ciphers.cipher(8, key), 7, opening), 0);
            MemorySegment text = arena.allocate(Frame.SLOT_BYTES);
            MemorySegment packet = arena.allocate(Frame.SLOT_BYTES);
            MemorySegment opened = arena.allocate(Frame.SLOT_BYTES);
            int bytes = textBytes + PspHeader.BYTES + PspHeader.ICV_BYTES;
            double sealing = nanosEach(PspVerdict.ACCEPTED, _ -> {
                near.seal(text, 0, textBytes, packet, 0, OpenedPackets.UDP, 0);
                return PspVerdict.ACCEPTED;
            });
            double good = nanosEach(PspVerdict.ACCEPTED, _ -> {
                near.seal(text, 0, textBytes, packet, 0, OpenedPackets.UDP, 0);
                return far.open(packet, 0, bytes, opened, 0, 0);
            });
            long passed = passedEach(opening);
            near.seal(text, 0, textBytes, packet, 0, OpenedPackets.UDP, 0);
            byte last = packet.get(ValueLayout.JAVA_BYTE, bytes - 1L);
            packet.set(ValueLayout.JAVA_BYTE, bytes - 1L, (byte) (last ^ 1));
            double forged = nanosEach(PspVerdict.FORGED, _ -> far.open(packet, 0, bytes, opened, 0, 0));
            assertThat(passedEach(opening)).isEqualTo(passed).isEqualTo(textBytes + PspHeader.BYTES);
            packet.set(ValueLayout.JAVA_BYTE, bytes - 1L, last);
            assertThat(far.open(packet, 0, bytes, opened, 0, 0)).isEqualTo(PspVerdict.ACCEPTED);
            opening.passed = 0;
            double repeated = nanosEach(PspVerdict.REPEATED, _ -> far.open(packet, 0, bytes, opened, 0, 0));
            packet.set(ValueLayout.JAVA_BYTE, 5, (byte) 1);
            double unknown = nanosEach(PspVerdict.UNKNOWN, _ -> far.open(packet, 0, bytes, opened, 0, 0));
            GoalRun.print(
                    "psp flood",
                    String.format(
                            Locale.ROOT,
                            "%d bytes: %.0f ns to open a good packet, %.0f a forged one, %.0f one that was there,"
                                    + " %.0f of an unknown SPI",
                            textBytes,
                            good - sealing,
                            forged,
                            repeated,
                            unknown));
            assertThat(opening.passed).isZero();
        }
    }

    /// Returns the bytes for each packet of a [#nanosEach], and begins to count anew.
    private static long passedEach(Counting cipher) {
        long each = cipher.passed / ((long) ROUNDS * PACKETS);
        cipher.passed = 0;
        return each;
    }
}
