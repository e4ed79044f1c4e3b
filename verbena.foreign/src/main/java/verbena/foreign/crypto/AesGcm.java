package verbena.foreign.crypto;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import verbena.foreign.NativeLibrary;
import verbena.foreign.SystemFunction;

/// AES-GCM under one key, by OpenSSL's libcrypto, from memory to memory. Five calls of C for each packet, and no
/// allocation. For one thread at a time.
public final class AesGcm implements AutoCloseable {
    public static final int TAG_BYTES = 16;
    public static final int NONCE_BYTES = 12;

    // openssl/evp.h
    private static final int EVP_CTRL_AEAD_GET_TAG = 0x10;
    private static final int EVP_CTRL_AEAD_SET_TAG = 0x11;
    private static final int ENCRYPT = 1;
    private static final int DECRYPT = 0;
    private static final int BITS_SHORT = 16;
    private static final int BITS_LONG = 32;

    /// The functions that are linked once for the process.
    private static final class Functions {
        static final SystemFunction NEW = Libcrypto.function("EVP_CIPHER_CTX_new");
        static final SystemFunction FREE = Libcrypto.function("EVP_CIPHER_CTX_free");
        static final SystemFunction INIT = Libcrypto.function("EVP_CipherInit_ex2");
        static final SystemFunction UPDATE = Libcrypto.function("EVP_CipherUpdate");
        static final SystemFunction FINAL = Libcrypto.function("EVP_CipherFinal_ex");
        static final SystemFunction CONTROL = Libcrypto.function("EVP_CIPHER_CTX_ctrl");
        private static final SystemFunction FETCH = Libcrypto.function("EVP_CIPHER_fetch");
        static final long AES_128 = fetch("AES-128-GCM");
        static final long AES_256 = fetch("AES-256-GCM");

        private static long fetch(String name) {
            try (Arena arena = Arena.ofConfined()) {
                long cipher = FETCH.call(0, arena.allocateFrom(name).address(), 0);
                if (cipher == 0) {
                    throw new NativeLibrary.MissingException("libcrypto has no " + name, null);
                }
                return cipher;
            }
        }
    }

    /// The memory into which libcrypto writes the length of its output.
    private final MemorySegment written;

    private final long sealing;
    private final long opening;

    /// @param key of 16 or 32 bytes
    /// @param scratch native, 8 bytes, in which nothing is kept; those of one thread may share it
    /// @throws NativeLibrary.MissingException when libcrypto is not there
    public AesGcm(byte[] key, MemorySegment scratch) {
        if (key.length != BITS_SHORT && key.length != BITS_LONG) {
            throw new IllegalArgumentException("key: 16 or 32 bytes, got " + key.length);
        }
        written = scratch.asSlice(0, Long.BYTES);
        long cipher = key.length == BITS_SHORT ? Functions.AES_128 : Functions.AES_256;
        try (Arena once = Arena.ofConfined()) {
            MemorySegment copy = once.allocateFrom(ValueLayout.JAVA_BYTE, key);
            sealing = context(cipher, copy, ENCRYPT);
            opening = context(cipher, copy, DECRYPT);
            copy.fill((byte) 0);
        }
    }

    private static long context(long cipher, MemorySegment key, int direction) {
        long context = Functions.NEW.call(0);
        check(context != 0 && (int) Functions.INIT.call(context, cipher, key.address(), 0, direction, 0) == 1);
        return context;
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
        check((int) Functions.INIT.call(sealing, 0, 0, packet.address() + nonce, ENCRYPT, 0) == 1);
        update(sealing, 0, clear, clearBytes);
        update(sealing, secret, text.address() + textAt, secretBytes);
        check((int) Functions.FINAL.call(sealing, secret + secretBytes, written.address()) == 1);
        check((int) Functions.CONTROL.call(sealing, EVP_CTRL_AEAD_GET_TAG, TAG_BYTES, secret + secretBytes) == 1);
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
        check((int) Functions.INIT.call(opening, 0, 0, packet.address() + nonce, DECRYPT, 0) == 1);
        update(opening, 0, clear, clearBytes);
        update(opening, to, secret, secretBytes);
        check((int) Functions.CONTROL.call(opening, EVP_CTRL_AEAD_SET_TAG, TAG_BYTES, secret + secretBytes) == 1);
        if ((int) Functions.FINAL.call(opening, written.address(), written.address()) == 1) {
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
            check((int) Functions.UPDATE.call(context, to, written.address(), from, bytes, 0) == 1);
        }
    }

    private static void check(boolean isDone) {
        Libcrypto.check(isDone, "AES-GCM");
    }

    @Override
    public void close() {
        long _ = Functions.FREE.call(sealing);
        long _ = Functions.FREE.call(opening);
    }
}
