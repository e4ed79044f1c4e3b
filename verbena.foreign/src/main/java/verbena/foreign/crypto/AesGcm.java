package verbena.foreign.crypto;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/// AES-GCM under one key, by OpenSSL's libcrypto, from memory to memory. Five calls of C for each packet, and no
/// allocation. A key takes little memory as long as it is not used: what libcrypto makes of it is in one of a few
/// [AesGcmContexts]. For one thread at a time, with all that share the contexts.
public final class AesGcm implements AutoCloseable {
    public static final int TAG_BYTES = 16;
    public static final int NONCE_BYTES = 12;

    // openssl/evp.h
    private static final int EVP_CTRL_AEAD_GET_TAG = 0x10;
    private static final int EVP_CTRL_AEAD_SET_TAG = 0x11;
    private static final int ENCRYPT = 1;
    private static final int DECRYPT = 0;

    private final AesKey key;
    private final AesGcmContexts contexts;

    /// @param key of 16 or 32 bytes
    /// @param contexts shared by the keys of one thread
    public AesGcm(byte[] key, AesGcmContexts contexts) {
        this.key = new AesKey(key);
        this.contexts = contexts;
    }

    /// Encrypts a text, and writes the tag behind. All memory is native, and the caller keeps it alive.
    ///
    /// @param text where `secretBytes` are that are encrypted; may be where they go to
    /// @param nonce where 12 bytes of nonce are
    /// @param at where the bytes begin that are authenticated only; the encrypted ones go behind them
    public void seal(
            MemorySegment text,
            long textAt,
            MemorySegment packet,
            long nonce,
            long at,
            int clearBytes,
            int secretBytes) {
        checkBounds(packet, nonce, at, clearBytes, secretBytes);
        checkText(text, textAt, secretBytes);
        long clear = packet.address() + at;
        long secret = clear + clearBytes;
        long sealing = contexts.of(key);
        check((int) AesGcmContexts.INIT.call(sealing, 0, 0, packet.address() + nonce, ENCRYPT, 0) == 1);
        update(sealing, 0, clear, clearBytes);
        update(sealing, secret, text.address() + textAt, secretBytes);
        check((int) AesGcmContexts.FINAL.call(sealing, secret + secretBytes, contexts.written) == 1);
        check((int) AesGcmContexts.CONTROL.call(sealing, EVP_CTRL_AEAD_GET_TAG, TAG_BYTES, secret + secretBytes) == 1);
    }

    /// Decrypts into other memory when the tag behind is right. Otherwise the answer is false, and the other memory
    /// has zeros: libcrypto has written there before it knew.
    ///
    /// @param text takes what was encrypted; not a part of the packet
    public boolean open(
            MemorySegment packet,
            long nonce,
            long at,
            int clearBytes,
            int secretBytes,
            MemorySegment text,
            long textAt) {
        checkBounds(packet, nonce, at, clearBytes, secretBytes);
        checkText(text, textAt, secretBytes);
        long clear = packet.address() + at;
        long secret = clear + clearBytes;
        long to = text.address() + textAt;
        if (secretBytes > 0 && to < secret + secretBytes && secret < to + secretBytes) {
            throw new IllegalArgumentException("text: may not be a part of the packet");
        }
        long opening = contexts.of(key);
        check((int) AesGcmContexts.INIT.call(opening, 0, 0, packet.address() + nonce, DECRYPT, 0) == 1);
        update(opening, 0, clear, clearBytes);
        update(opening, to, secret, secretBytes);
        check((int) AesGcmContexts.CONTROL.call(opening, EVP_CTRL_AEAD_SET_TAG, TAG_BYTES, secret + secretBytes) == 1);
        if ((int) AesGcmContexts.FINAL.call(opening, contexts.written, contexts.written) == 1) {
            return true;
        }
        text.asSlice(textAt, secretBytes).fill((byte) 0);
        return false;
    }

    /// Checks what C cannot.
    private static void checkBounds(MemorySegment packet, long nonce, long at, int clearBytes, int secretBytes) {
        long _ = Objects.checkFromIndexSize(nonce, NONCE_BYTES, packet.byteSize());
        long _ = Objects.checkFromIndexSize(at, (long) clearBytes + secretBytes + TAG_BYTES, packet.byteSize());
        if (!packet.isNative() || clearBytes < 0 || secretBytes < 0) {
            throw new IllegalArgumentException("packet: needs native memory, got " + packet);
        }
    }

    private static void checkText(MemorySegment text, long at, int bytes) {
        long _ = Objects.checkFromIndexSize(at, (long) bytes, text.byteSize());
        if (!text.isNative()) {
            throw new IllegalArgumentException("text: needs native memory, got " + text);
        }
    }

    private void update(long context, long to, long from, int bytes) {
        if (bytes > 0) {
            check((int) AesGcmContexts.UPDATE.call(context, to, contexts.written, from, bytes, 0) == 1);
        }
    }

    private static void check(boolean isDone) {
        Libcrypto.check(isDone, "AES-GCM");
    }

    /// Forgets the key.
    @Override
    public void close() {
        contexts.release(key);
        key.forget();
    }
}
