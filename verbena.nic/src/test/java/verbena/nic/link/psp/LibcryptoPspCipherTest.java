package verbena.nic.link.psp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.foreign.NativeLibrary;
import verbena.foreign.crypto.AesGcmContexts;
import verbena.wire.psp.JdkPspCipher;
import verbena.wire.psp.PspHeader;

/// libcrypto and the JDK judge each other.
class LibcryptoPspCipherTest {
    private static final int AT = 24;
    private static final int TEXT_MAX = 4200;
    private static final int MEMORY = AT + TEXT_MAX + 2 * PspHeader.ICV_BYTES;

    private final AesGcmContexts contexts = contexts();
    private final Arena arena = Arena.ofConfined();
    private final Random random = new Random(54);
    private final MemorySegment packet = arena.allocate(MEMORY);
    private final MemorySegment copy = arena.allocate(MEMORY);
    private final MemorySegment opened = arena.allocate(MEMORY);

    @AfterEach
    void close() {
        contexts.close();
        arena.close();
    }

    private static AesGcmContexts contexts() {
        try {
            return new AesGcmContexts();
        } catch (NativeLibrary.MissingException | LinkageError e) {
            return abort(e.getMessage());
        }
    }

    private LibcryptoPspCipher libcrypto(byte[] key) {
        return new LibcryptoPspCipher(key, contexts);
    }

    private byte[] fill(int keyBytes) {
        byte[] bytes = new byte[MEMORY];
        random.nextBytes(bytes);
        MemorySegment.copy(bytes, 0, packet, ValueLayout.JAVA_BYTE, 0, bytes.length);
        byte[] key = new byte[keyBytes];
        random.nextBytes(key);
        return key;
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 32})
    void bothSealAndOpenAlike(int keyBytes) {
        for (int i = 0; i < 300; i++) {
            byte[] key = fill(keyBytes);
            int clear = PspHeader.BYTES + random.nextInt(253);
            int secret = random.nextInt(4) == 0 ? random.nextInt(20) : random.nextInt(TEXT_MAX - 300);
            int all = AT + clear + secret + PspHeader.ICV_BYTES;
            byte[] text = packet.asSlice(0, all - PspHeader.ICV_BYTES).toArray(ValueLayout.JAVA_BYTE);
            copy.copyFrom(packet);
            var jdk = new JdkPspCipher(key, new byte[MEMORY]);
            try (LibcryptoPspCipher libcrypto = libcrypto(key)) {
                jdk.seal(copy, AT + clear, copy, AT, clear, secret);
                libcrypto.seal(packet, AT + clear, packet, AT, clear, secret);
                assertThat(packet.mismatch(copy))
                        .as("%d clear, %d secret", clear, secret)
                        .isEqualTo(-1);
                assertThat(jdk.open(copy, AT, clear, secret, copy, AT + clear)).isTrue();
                assertThat(copy.asSlice(0, text.length).toArray(ValueLayout.JAVA_BYTE))
                        .isEqualTo(text);
                assertThat(libcrypto.open(packet, AT, clear, secret, opened, 1)).isTrue();
                assertThat(opened.asSlice(1, secret).mismatch(copy.asSlice(AT + clear, secret)))
                        .isEqualTo(-1);
                copy.asSlice(0, AT).copyFrom(packet.asSlice(0, AT));
                libcrypto.seal(opened, 1, copy, AT, clear, secret);
                assertThat(packet.mismatch(copy)).as("sealed from elsewhere").isEqualTo(-1);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 32})
    void aWrongTagLeavesAllAsItWasAndTheNextPacketIsOpened(int keyBytes) {
        byte[] key = fill(keyBytes);
        try (LibcryptoPspCipher libcrypto = libcrypto(key)) {
            libcrypto.seal(packet, AT + 36, packet, AT, 36, 100);
            for (int at = AT; at < AT + 36 + 100 + PspHeader.ICV_BYTES; at++) {
                byte right = packet.get(ValueLayout.JAVA_BYTE, at);
                packet.set(ValueLayout.JAVA_BYTE, at, (byte) (right ^ 1 << at % 8));
                copy.copyFrom(packet);
                assertThat(libcrypto.open(packet, AT, 36, 100, opened, AT))
                        .as("byte %d", at)
                        .isFalse();
                assertThat(packet.mismatch(copy)).isEqualTo(-1);
                assertThat(opened.asSlice(AT, 100).mismatch(MemorySegment.ofArray(new byte[100])))
                        .isEqualTo(-1);
                packet.set(ValueLayout.JAVA_BYTE, at, right);
            }
            assertThat(libcrypto.open(packet, AT, 36, 100, opened, AT)).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 32})
    void aPacketAllocatesNothing(int keyBytes) {
        byte[] key = fill(keyBytes);
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (LibcryptoPspCipher libcrypto = libcrypto(key)) {
            long least = Long.MAX_VALUE;
            for (int round = 0; round < 20 && least > 0; round++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < 5_000; i++) {
                    libcrypto.seal(opened, 0, packet, AT, 36, 1024);
                    if (!libcrypto.open(packet, AT, 36, 1024, opened, 0)) {
                        throw new AssertionError("not opened");
                    }
                }
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertThat(least).isLessThan(5_000);
        }
    }

    /// Each key keeps its meaning when others need its context, and their number has a bound.
    @Test
    void moreKeysThanContextsWork() {
        int keys = 3 * AesGcmContexts.MAX;
        var ciphers = new ArrayList<LibcryptoPspCipher>();
        var others = new ArrayList<JdkPspCipher>();
        for (int i = 0; i < keys; i++) {
            byte[] key = fill(i % 2 == 0 ? 16 : 32);
            ciphers.add(libcrypto(key));
            others.add(new JdkPspCipher(key, new byte[MEMORY]));
        }
        for (int i = 0; i < 4 * keys; i++) {
            int which = random.nextInt(keys);
            fill(16);
            ciphers.get(which).seal(packet, AT + 36, packet, AT, 36, 100);
            copy.copyFrom(packet);
            assertThat(others.get(which).open(copy, AT, 36, 100, copy, AT + 36)).isTrue();
            assertThat(ciphers.get((which + 1) % keys).open(packet, AT, 36, 100, opened, AT))
                    .isFalse();
            assertThat(ciphers.get(which).open(packet, AT, 36, 100, opened, AT)).isTrue();
            assertThat(contexts.count()).isLessThanOrEqualTo(AesGcmContexts.MAX);
        }
        ciphers.forEach(LibcryptoPspCipher::close);
        assertThat(contexts.count()).isZero();
    }
}
