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
    private static final class Functions {
        static final SystemFunction PRIVATE_KEY = Libcrypto.function("EVP_PKEY_new_raw_private_key");
        static final SystemFunction PUBLIC_KEY = Libcrypto.function("EVP_PKEY_new_raw_public_key");
        static final SystemFunction GET_PUBLIC_KEY = Libcrypto.function("EVP_PKEY_get_raw_public_key");
        static final SystemFunction FREE_KEY = Libcrypto.function("EVP_PKEY_free");
        static final SystemFunction NEW = Libcrypto.function("EVP_PKEY_CTX_new");
        static final SystemFunction FREE = Libcrypto.function("EVP_PKEY_CTX_free");
        static final SystemFunction INIT = Libcrypto.function("EVP_PKEY_derive_init");
        static final SystemFunction SET_PEER = Libcrypto.function("EVP_PKEY_derive_set_peer");
        static final SystemFunction DERIVE = Libcrypto.function("EVP_PKEY_derive");
        static final SystemFunction CLEAR_ERRORS = Libcrypto.function("ERR_clear_error");
    }

    private Curve25519() {}

    /// Returns the public key of a private key.
    ///
    /// @throws NativeLibrary.MissingException when libcrypto is not there
    public static byte[] publicKey(byte[] secret) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment answer = arena.allocate(BYTES);
            MemorySegment length = arena.allocateFrom(ValueLayout.JAVA_LONG, BYTES);
            long key = key(Functions.PRIVATE_KEY, arena, secret);
            try {
                check((int) Functions.GET_PUBLIC_KEY.call(key, answer.address(), length.address()) == 1);
            } finally {
                long _ = Functions.FREE_KEY.call(key);
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
            long own = key(Functions.PRIVATE_KEY, arena, secret);
            long other = 0;
            long context = 0;
            try {
                other = key(Functions.PUBLIC_KEY, arena, peer);
                context = Functions.NEW.call(own, 0);
                check(context != 0 && (int) Functions.INIT.call(context) == 1);
                boolean isAgreed = (int) Functions.SET_PEER.call(context, other) == 1
                        && (int) Functions.DERIVE.call(context, answer.address(), length.address()) == 1;
                if (!isAgreed) {
                    long _ = Functions.CLEAR_ERRORS.call(0);
                    return null;
                }
            } finally {
                long _ = Functions.FREE.call(context);
                long _ = Functions.FREE_KEY.call(other);
                long _ = Functions.FREE_KEY.call(own);
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
        Libcrypto.check(isDone, "X25519");
    }
}
