package verbena.cm.noise;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Objects;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.KDF;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.HKDFParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/// The state of an exchange so far (Noise, 5.1 and 5.2): a hash of all messages, a chaining key, and the current
/// key with its count of uses.
final class SymmetricState {
    static final int KEY_BYTES = 32;
    static final int TAG_BYTES = 16;

    private static final int NONCE_BYTES = 12;

    private byte[] chainingKey;
    private byte[] hash;
    private byte @Nullable [] key;
    private long uses;

    /// @param name of the protocol, in at most as many bytes as a hash has
    SymmetricState(String name) {
        hash = Arrays.copyOf(name.getBytes(StandardCharsets.US_ASCII), KEY_BYTES);
        chainingKey = hash;
    }

    byte[] hash() {
        return hash.clone();
    }

    boolean hasKey() {
        return key != null;
    }

    void mixHash(byte[] data) {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            sha.update(hash);
            hash = sha.digest(data);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    void mixKey(byte[] material) {
        byte[][] parts = derive(material, 2);
        chainingKey = parts[0];
        setKey(parts[1]);
    }

    void mixKeyAndHash(byte[] material) {
        byte[][] parts = derive(material, 3);
        chainingKey = parts[0];
        mixHash(parts[1]);
        setKey(parts[2]);
    }

    /// Splits the agreement into the keys of the end that began, and of the other, and ends it.
    byte[][] split() {
        return derive(new byte[0], 2);
    }

    private void setKey(byte[] to) {
        key = to;
        uses = 0;
    }

    /// Derives keys by HKDF (Noise, 4.3), which is RFC 5869's with an empty info.
    private byte[][] derive(byte[] material, int count) {
        try {
            byte[] all = KDF.getInstance("HKDF-SHA256")
                    .deriveData(HKDFParameterSpec.ofExtract()
                            .addSalt(chainingKey)
                            .addIKM(material)
                            .thenExpand(null, count * KEY_BYTES));
            byte[][] parts = new byte[count][];
            for (int i = 0; i < count; i++) {
                parts[i] = Arrays.copyOfRange(all, i * KEY_BYTES, (i + 1) * KEY_BYTES);
            }
            return parts;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has HKDF-SHA256", e);
        }
    }

    /// Encrypts when there is a key, and takes what is sent into the hash.
    byte[] seal(byte[] text) {
        byte[] sealed = key == null
                ? text
                : Objects.requireNonNull(crypt(Cipher.ENCRYPT_MODE, text), "sealing has no tag to fail by");
        mixHash(sealed);
        return sealed;
    }

    /// Opens a sealed text; returns null when it is not authentic, which ends the agreement.
    byte @Nullable [] open(byte[] sealed) {
        byte[] text = key == null ? sealed : crypt(Cipher.DECRYPT_MODE, sealed);
        mixHash(sealed);
        return text;
    }

    private byte @Nullable [] crypt(int mode, byte[] data) {
        byte[] nonce =
                ByteBuffer.allocate(NONCE_BYTES).putLong(Integer.BYTES, uses++).array();
        try {
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
            cipher.init(mode, new SecretKeySpec(key, "AES"), new GCMParameterSpec(TAG_BYTES * Byte.SIZE, nonce));
            cipher.updateAAD(hash);
            return cipher.doFinal(data);
        } catch (AEADBadTagException _) {
            return null;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has AES-GCM", e);
        }
    }
}
