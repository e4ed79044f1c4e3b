package verbena.wire.psp;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/// A cipher by the JDK's [Cipher]. A packet goes through an array, because the JDK is fastest there, and because
/// the JDK leaves text in the clear in an array whose tag is wrong. Each call makes about 1 kB of garbage: no
/// path of packets of a device ([decision 49](../../../../../../../docs/decisions/49-psp.md)).
public final class JdkPspCipher implements PspCipher {
    /// Bytes of scratch that suffice for any packet of UDP.
    public static final int SCRATCH_BYTES_MAX = 1 << 16;

    private final SecretKeySpec key;
    private final byte[] scratch;
    private final Cipher sealing;
    private final Cipher opening;

    /// @param key of 16 or 32 bytes; a copy is kept
    /// @param scratch as long as the longest packet, from its header through its ICV; ciphers of one thread may
    ///     share it
    /// @throws IllegalArgumentException when the key has another length
    public JdkPspCipher(byte[] key, byte[] scratch) {
        this(key, scratch, cipher(), cipher());
    }

    private JdkPspCipher(byte[] key, byte[] scratch, Cipher sealing, Cipher opening) {
        if (key.length != PspVersion.AES_GCM_128.keyBytes() && key.length != PspVersion.AES_GCM_256.keyBytes()) {
            throw new IllegalArgumentException("key: 16 or 32 bytes, got " + key.length);
        }
        this.key = new SecretKeySpec(key, "AES");
        this.scratch = scratch;
        this.sealing = sealing;
        this.opening = opening;
    }

    /// Returns a cipher of another key that shares all memory with this one. Both are for the same thread.
    public JdkPspCipher sharedWith(byte[] other) {
        return new JdkPspCipher(other, scratch, sealing, opening);
    }

    private static Cipher cipher() {
        try {
            return Cipher.getInstance("AES/GCM/NoPadding");
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has AES-GCM", e);
        }
    }

    @Override
    public void seal(MemorySegment text, long textAt, MemorySegment packet, long at, int clearBytes, int secretBytes) {
        MemorySegment.copy(packet, ValueLayout.JAVA_BYTE, at, scratch, 0, clearBytes);
        MemorySegment.copy(text, ValueLayout.JAVA_BYTE, textAt, scratch, clearBytes, secretBytes);
        try {
            int _ = run(sealing, Cipher.ENCRYPT_MODE, clearBytes, secretBytes);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("cannot seal: is the nonce new?", e);
        }
        MemorySegment.copy(
                scratch, clearBytes, packet, ValueLayout.JAVA_BYTE, at + clearBytes, secretBytes + PspHeader.ICV_BYTES);
    }

    /// Decrypts as [PspCipher#open] does. The text may be the packet itself, with its place there.
    @Override
    public boolean open(
            MemorySegment packet, long at, int clearBytes, int secretBytes, MemorySegment text, long textAt) {
        int sealed = secretBytes + PspHeader.ICV_BYTES;
        MemorySegment.copy(packet, ValueLayout.JAVA_BYTE, at, scratch, 0, clearBytes + sealed);
        try {
            int _ = run(opening, Cipher.DECRYPT_MODE, clearBytes, sealed);
        } catch (AEADBadTagException _) {
            Arrays.fill(scratch, clearBytes, clearBytes + sealed, (byte) 0);
            return false;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("cannot open", e);
        }
        MemorySegment.copy(scratch, clearBytes, text, ValueLayout.JAVA_BYTE, textAt, secretBytes);
        return true;
    }

    private int run(Cipher cipher, int mode, int clearBytes, int textBytes) throws GeneralSecurityException {
        cipher.init(
                mode,
                key,
                new GCMParameterSpec(
                        PspHeader.ICV_BYTES * Byte.SIZE, scratch, PspHeader.NONCE_AT, PspHeader.NONCE_BYTES));
        cipher.updateAAD(scratch, 0, clearBytes);
        return cipher.doFinal(scratch, clearBytes, textBytes, scratch, clearBytes);
    }
}
