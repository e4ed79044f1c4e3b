package verbena.foreign.crypto;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import verbena.foreign.NativeLibrary;
import verbena.foreign.SystemFunction;

/// X25519 (RFC 7748) by OpenSSL's libcrypto. It needs no time to become fast, unlike that of the JDK.
public final class Curve25519 {
    public static final int BYTES = 32;

    private static final int EVP_PKEY_X25519 = 1034; // openssl/obj_mac.h

    /// The functions that are linked once for the process.
    private static final class Libcrypto {
        private static final NativeLibrary LIBRARY =
                NativeLibrary.load("libcrypto.so.3", "install OpenSSL 3 (on Debian: libssl3)");
        static final SystemFunction PRIVATE_KEY = LIBRARY.systemFunction("EVP_PKEY_new_raw_private_key");
        static final SystemFunction PUBLIC_KEY = LIBRARY.systemFunction("EVP_PKEY_new_raw_public_key");
        static final SystemFunction GET_PUBLIC_KEY = LIBRARY.systemFunction("EVP_PKEY_get_raw_public_key");
        static final SystemFunction FREE_KEY = LIBRARY.systemFunction("EVP_PKEY_free");
        static final SystemFunction NEW = LIBRARY.systemFunction("EVP_PKEY_CTX_new");
        static final SystemFunction FREE = LIBRARY.systemFunction("EVP_PKEY_CTX_free");
        static final SystemFunction INIT = LIBRARY.systemFunction("EVP_PKEY_derive_init");
        static final SystemFunction SET_PEER = LIBRARY.systemFunction("EVP_PKEY_derive_set_peer");
        static final SystemFunction DERIVE = LIBRARY.systemFunction("EVP_PKEY_derive");
        static final SystemFunction CLEAR_ERRORS = LIBRARY.systemFunction("ERR_clear_error");
    }

    private Curve25519() {}

    /// Returns the public key of a private key.
    ///
    /// @throws NativeLibrary.MissingException when libcrypto is not there
    public static byte[] publicKey(byte[] secret) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment answer = arena.allocate(BYTES);
            MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_LONG, BYTES);
            long key = key(Libcrypto.PRIVATE_KEY, arena, secret);
            try {
                check((int) Libcrypto.GET_PUBLIC_KEY.call(key, answer.address(), length.address()) == 1);
            } finally {
                long _ = Libcrypto.FREE_KEY.call(key);
            }
            return answer.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /// Returns the secret that two ends share; null when the other's key makes it 0 whatever ours is.
    ///
    /// @throws NativeLibrary.MissingException when libcrypto is not there
    public static byte @Nullable [] agree(byte[] secret, byte[] peer) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment answer = arena.allocate(BYTES);
            MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_LONG, BYTES);
            long own = key(Libcrypto.PRIVATE_KEY, arena, secret);
            long other = 0;
            long context = 0;
            try {
                other = key(Libcrypto.PUBLIC_KEY, arena, peer);
                context = Libcrypto.NEW.call(own, 0);
                check(context != 0 && (int) Libcrypto.INIT.call(context) == 1);
                boolean isAgreed = (int) Libcrypto.SET_PEER.call(context, other) == 1
                        && (int) Libcrypto.DERIVE.call(context, answer.address(), length.address()) == 1;
                if (!isAgreed) {
                    long _ = Libcrypto.CLEAR_ERRORS.call(0);
                    return null;
                }
            } finally {
                long _ = Libcrypto.FREE.call(context);
                long _ = Libcrypto.FREE_KEY.call(other);
                long _ = Libcrypto.FREE_KEY.call(own);
            }
            byte[] shared = answer.toArray(ValueLayout.JAVA_BYTE);
            answer.fill((byte) 0);
            return shared;
        }
    }

    private static long key(SystemFunction maker, Arena arena, byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("key: " + BYTES + " bytes, got " + bytes.length);
        }
        MemorySegment copy = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
        long key = maker.call(EVP_PKEY_X25519, 0, copy.address(), BYTES);
        copy.fill((byte) 0);
        check(key != 0);
        return key;
    }

    private static void check(boolean isDone) {
        if (!isDone) {
            throw new IllegalStateException("libcrypto refuses X25519");
        }
    }
}
