package verbena.wire.psp;

import java.lang.foreign.MemorySegment;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.spec.SecretKeySpec;
import verbena.wire.BigEndian;

/// A master key of a receiver: it makes the key of each SPI, so the receiver need not keep them.
///
/// The derivation is that of NIST SP 800-108 in counter mode with AES-256-CMAC. Its input for 128 bits of a key
/// is one block, so CMAC (NIST SP 800-38B) is AES of this block and a constant. For one thread at a time.
public final class PspMasterKey {
    public static final int BYTES = 32;

    private static final int BLOCK_BYTES = 16;
    // "Pv0" and a zero. The version's number goes into the digit.
    private static final int LABEL = 0x50763000;
    private static final int LABEL_VERSION_SHIFT = 8;
    // x^128 = x^7 + x^2 + x + 1 (SP 800-38B, 5.3).
    private static final int REDUCTION = 0x87;

    private final Cipher aes;
    /// The block that CMAC adds to a last block that is whole: K1 of SP 800-38B.
    private final byte[] subkey;

    /// @param key a copy is kept
    /// @throws IllegalArgumentException when it has not [#BYTES] bytes
    @SuppressWarnings("InsecureCryptoUsage") // single blocks of CMAC, not text
    public PspMasterKey(byte[] key) {
        if (key.length != BYTES) {
            throw new IllegalArgumentException("key: a master key has " + BYTES + " bytes, got " + key.length);
        }
        try {
            aes = Cipher.getInstance("AES/ECB/NoPadding");
            aes.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(key, "AES"));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has AES", e);
        }
        subkey = doubled(encrypted(new byte[BLOCK_BYTES]));
    }

    /// Derives the key of an SPI.
    public byte[] derive(int spi, PspVersion version) {
        byte[] key = new byte[version.keyBytes()];
        byte[] block = new byte[BLOCK_BYTES];
        MemorySegment words = MemorySegment.ofArray(block);
        for (int i = 0; i * BLOCK_BYTES < key.length; i++) {
            BigEndian.put32(words, 0, i + 1);
            BigEndian.put32(words, 4, LABEL | version.number() << LABEL_VERSION_SHIFT);
            BigEndian.put32(words, 8, spi);
            BigEndian.put32(words, 12, key.length * Byte.SIZE);
            for (int at = 0; at < BLOCK_BYTES; at++) {
                block[at] ^= subkey[at];
            }
            System.arraycopy(encrypted(block), 0, key, i * BLOCK_BYTES, BLOCK_BYTES);
        }
        Arrays.fill(block, (byte) 0);
        return key;
    }

    private byte[] encrypted(byte[] block) {
        try {
            return aes.doFinal(block);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("a whole block needs no padding", e);
        }
    }

    /// Doubles in the field of 2^128 elements.
    private static byte[] doubled(byte[] block) {
        byte[] twice = new byte[BLOCK_BYTES];
        int carry = 0;
        for (int at = BLOCK_BYTES - 1; at >= 0; at--) {
            int shifted = (block[at] & 0xFF) << 1 | carry;
            twice[at] = (byte) shifted;
            carry = shifted >>> Byte.SIZE;
        }
        if (carry != 0) {
            twice[BLOCK_BYTES - 1] ^= (byte) REDUCTION;
        }
        return twice;
    }
}
