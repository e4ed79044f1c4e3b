package verbena.wire.psp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import verbena.wire.BigEndian;
import verbena.wire.Frames;

/// Packets of PSP by themselves: their form, and what an attacker can make of them.
class PspPacketTest {
    private static final int SPI = 0x8000_0007;
    private static final int AT = 40;
    private static final int UDP = 17;

    private final byte[] scratch = new byte[8192];
    private final Random random = new Random(54);

    private PspCipher cipher(PspVersion version, long seed) {
        byte[] key = new byte[version.keyBytes()];
        new Random(seed).nextBytes(key);
        return new JdkPspCipher(key, scratch);
    }

    private PspSealer sealer(PspVersion version, int offset, long firstIv) {
        return new PspSealer(SPI, version, cipher(version, 1), offset, firstIv);
    }

    private PspOpener opener(PspVersion version) {
        return new PspOpener(version, cipher(version, 1));
    }

    /// Memory with a text at its place, and its packet's bytes after sealing.
    private MemorySegment text(int bytes) {
        byte[] memory = new byte[AT + PspHeader.BYTES + bytes + PspHeader.ICV_BYTES + 8];
        random.nextBytes(memory);
        return MemorySegment.ofArray(memory);
    }

    private static PspVerdict receive(PspOpener opener, MemorySegment memory, int bytes) {
        PspVerdict form = PspHeader.check(memory, AT, bytes);
        return form == PspVerdict.ACCEPTED ? opener.open(memory, AT, bytes) : form;
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
            # octets 0 to 7      octets of text  form
            11010001 80000007, 1,  ACCEPTED
            11010001 80000007, 0,  ACCEPTED
            110100c1 00000001, 4,  ACCEPTED
            1101c001 ffffffff, 4,  ACCEPTED
            11010003 80000007, 8,  LENGTH
            11020003 80000007, 8,  ACCEPTED
            11020003 80000007, 7,  LENGTH
            11020001 80000007, 8,  ACCEPTED
            11000001 80000007, 64, LENGTH
            11ff0001 80000007, 64, LENGTH
            11010201 80000007, 8,  ACCEPTED
            11010201 80000007, 7,  LENGTH
            11013f01 80000007, 252, ACCEPTED
            11013f01 80000007, 251, LENGTH
            11010000 80000007, 8,  BAD
            11010011 80000007, 8,  BAD
            1101003d 80000007, 8,  BAD
            1101000d 80000007, 8,  ACCEPTED
            11010001 80000000, 8,  BAD
            11010001 00000000, 8,  BAD
            """)
    void theFormOfAPacketIsJudged(String start, int text, PspVerdict form) {
        MemorySegment memory = text(text);
        MemorySegment.copy(MemorySegment.ofArray(Frames.bytes(start)), 0, memory, AT, 8);

        assertThat(PspHeader.check(memory, AT, PspHeader.BYTES + text + PspHeader.ICV_BYTES))
                .isEqualTo(form);
    }

    @ParameterizedTest
    @EnumSource
    void whatWasSealedIsOpenedAtEveryOffsetAndLength(PspVersion version) {
        PspOpener opener = opener(version);
        long iv = 1;
        for (int offset = 0; offset <= PspHeader.OFFSET_MAX; offset++) {
            for (int bytes : new int[] {0, 1, 3, 4, 28, 4 * offset, 4 * offset + 1, 300}) {
                MemorySegment memory = text(bytes);
                String before = Frames.hex(memory);
                int sealed = sealer(version, offset, iv++).seal(memory, AT, UDP, bytes);
                assertThat(sealed).isEqualTo(bytes + 32);
                int clear = version.encrypts() ? Math.min(4 * offset, bytes & ~3) : bytes;
                String after = Frames.hex(memory);
                assertThat(after).startsWith(before.substring(0, 2 * AT)).endsWith(before.substring(2 * (AT + sealed)));
                int text = 2 * (AT + PspHeader.BYTES);
                assertThat(after.substring(text, text + 2 * clear)).isEqualTo(before.substring(text, text + 2 * clear));
                if (bytes - clear >= 4) {
                    assertThat(after.substring(text + 2 * clear, text + 2 * bytes))
                            .isNotEqualTo(before.substring(text + 2 * clear, text + 2 * bytes));
                }
                assertThat(receive(opener, memory, sealed)).isEqualTo(PspVerdict.ACCEPTED);
                assertThat(Frames.hex(memory).substring(text, text + 2 * bytes))
                        .isEqualTo(before.substring(text, text + 2 * bytes));
            }
        }
    }

    /// Every bit of header, text and ICV.
    @ParameterizedTest
    @EnumSource
    void aFlippedBitIsNeverAcceptedAndChangesNothing(PspVersion version) {
        PspOpener opener = opener(version);
        MemorySegment memory = text(60);
        int bytes = sealer(version, 5, 77).seal(memory, AT, UDP, 60);
        for (int bit = 0; bit < bytes * 8; bit++) {
            int at = AT + bit / 8;
            BigEndian.put8(memory, at, BigEndian.u8(memory, at) ^ 1 << bit % 8);
            String before = Frames.hex(memory);
            assertThat(receive(opener, memory, bytes)).as("bit %d", bit).isNotEqualTo(PspVerdict.ACCEPTED);
            assertThat(Frames.hex(memory)).as("bit %d", bit).isEqualTo(before);
            BigEndian.put8(memory, at, BigEndian.u8(memory, at) ^ 1 << bit % 8);
        }
        assertThat(receive(opener, memory, bytes)).isEqualTo(PspVerdict.ACCEPTED);
        assertThat(receive(opener, memory, bytes)).isEqualTo(PspVerdict.REPEATED);
    }

    @ParameterizedTest
    @EnumSource
    void aTruncatedPacketIsNeverAccepted(PspVersion version) {
        PspOpener opener = opener(version);
        MemorySegment memory = text(300);
        int bytes = sealer(version, 5, 77).seal(memory, AT, UDP, 300);
        String before = Frames.hex(memory);
        for (int length = 0; length < bytes; length++) {
            assertThat(receive(opener, memory, length))
                    .as("%d bytes", length)
                    .isEqualTo(length < 32 + (version.encrypts() ? 20 : 0) ? PspVerdict.LENGTH : PspVerdict.FORGED);
            assertThat(Frames.hex(memory)).isEqualTo(before);
        }
        assertThat(receive(opener, memory, bytes)).isEqualTo(PspVerdict.ACCEPTED);
    }

    /// Any part of one packet in the place of the same part of another of the same sender.
    @ParameterizedTest
    @EnumSource
    void partsOfTwoPacketsMakeNone(PspVersion version) {
        PspOpener opener = opener(version);
        PspSealer sealer = sealer(version, 2, 1);
        MemorySegment one = text(40);
        MemorySegment other = text(40);
        int bytes = sealer.seal(one, AT, UDP, 40);
        int _ = sealer.seal(other, AT, UDP, 40);
        // The first 8 octets of the header are the same in both, and the first 7 of the IV.
        for (int cut = 16; cut < bytes; cut++) {
            MemorySegment spliced = MemorySegment.ofArray(Frames.bytes(Frames.hex(one)));
            MemorySegment.copy(other, AT + cut, spliced, AT + cut, bytes - cut);
            assertThat(receive(opener, spliced, bytes)).as("cut at %d", cut).isEqualTo(PspVerdict.FORGED);
        }
        assertThat(receive(opener, one, bytes)).isEqualTo(PspVerdict.ACCEPTED);
        assertThat(receive(opener, other, bytes)).isEqualTo(PspVerdict.ACCEPTED);
    }

    @Test
    void anotherKeyOrVersionOpensNothing() {
        MemorySegment memory = text(40);
        int bytes = sealer(PspVersion.AES_GCM_128, 0, 1).seal(memory, AT, UDP, 40);

        assertThat(receive(new PspOpener(PspVersion.AES_GCM_128, cipher(PspVersion.AES_GCM_128, 2)), memory, bytes))
                .isEqualTo(PspVerdict.FORGED);
        assertThat(receive(opener(PspVersion.AES_GMAC_128), memory, bytes)).isEqualTo(PspVerdict.BAD);
    }

    @Test
    void whatIsForgedDoesNotMoveTheWindow() {
        PspOpener opener = opener(PspVersion.AES_GCM_128);
        MemorySegment memory = text(40);
        int bytes = sealer(PspVersion.AES_GCM_128, 0, 1).seal(memory, AT, UDP, 40);
        MemorySegment forged = MemorySegment.ofArray(Frames.bytes(Frames.hex(memory)));
        BigEndian.put64(forged, AT + 8, 1L << 40);

        assertThat(receive(opener, forged, bytes)).isEqualTo(PspVerdict.FORGED);
        assertThat(receive(opener, memory, bytes)).isEqualTo(PspVerdict.ACCEPTED);
    }

    @Test
    void noNonceIsUsedTwice() {
        PspSealer sealer = sealer(PspVersion.AES_GCM_128, 0, -50);
        Set<String> nonces = new HashSet<>();
        MemorySegment memory = text(8);
        for (int i = 0; i < 100; i++) {
            assertThat(sealer.seal(memory, AT, UDP, 8)).isEqualTo(40);
            assertThat(nonces.add(Frames.hex(memory.asSlice(AT + PspHeader.NONCE_AT, PspHeader.NONCE_BYTES))))
                    .isTrue();
        }
    }

    @Test
    void mistakesOfACallerAreNamed() {
        PspCipher cipher = cipher(PspVersion.AES_GCM_128, 1);
        assertThatThrownBy(() -> new PspSealer(0x8000_0000, PspVersion.AES_GCM_128, cipher, 0, 1))
                .hasMessage("spi: the low 31 bits of an SPI are not all zero");
        assertThatThrownBy(() -> new PspSealer(1, PspVersion.AES_GCM_128, cipher, 64, 1))
                .hasMessage("cryptOffset: 0 to 63, got 64");
        assertThatThrownBy(() -> new JdkPspCipher(new byte[24], scratch)).hasMessage("key: 16 or 32 bytes, got 24");
    }
}
