package verbena.foreign.crypto;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import verbena.foreign.NativeLibrary;
import verbena.foreign.SystemFunction;

/// The contexts of libcrypto that the keys of one thread share: a key that is used has one until others need it. So
/// memory does not grow with keys, and a packet of a key that has none costs a key schedule more. A context takes
/// about 1 kB of native memory, and is made when it is first needed.
public final class AesGcmContexts implements AutoCloseable {
    /// The most contexts: for as many directions of packets at once.
    public static final int MAX = 128;

    private static final int ENCRYPT = 1;

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

    private final @Nullable AesKey[] owners = new AesKey[MAX];
    private final long[] contexts = new long[MAX];
    private final Arena arena = Arena.ofShared();
    private final MemorySegment scratch = arena.allocate(AesKey.BYTES_LONG);
    /// The address of memory into which libcrypto writes the length of its output.
    final long written = scratch.address();

    private int next;

    /// Makes none yet.
    ///
    /// @throws NativeLibrary.MissingException when libcrypto is not there
    public AesGcmContexts() {
        Libcrypto.check(AES_128 != 0 && AES_256 != 0, "AES-GCM");
    }

    /// Returns a context with a key.
    long of(AesKey key) {
        return owners[key.place] == key ? contexts[key.place] : claim(key);
    }

    private long claim(AesKey key) {
        int place = next;
        next = (next + 1) % MAX;
        if (contexts[place] == 0) {
            contexts[place] = NEW.call(0);
        }
        long context = contexts[place];
        long cipher = key.bytes.length == AesKey.BYTES_SHORT ? AES_128 : AES_256;
        owners[place] = key;
        key.place = place;
        MemorySegment.copy(key.bytes, 0, scratch, ValueLayout.JAVA_BYTE, 0, key.bytes.length);
        boolean isReady = context != 0 && (int) INIT.call(context, cipher, scratch.address(), 0, ENCRYPT, 0) == 1;
        scratch.fill((byte) 0);
        Libcrypto.check(isReady, "AES-GCM");
        return context;
    }

    /// Forgets what a context has of a key.
    void release(AesKey key) {
        if (owners[key.place] == key) {
            free(key.place);
        }
    }

    private void free(int place) {
        owners[place] = null;
        long _ = FREE.call(contexts[place]);
        contexts[place] = 0;
    }

    /// Returns the number of contexts that there are.
    public int count() {
        int count = 0;
        for (long context : contexts) {
            count += context == 0 ? 0 : 1;
        }
        return count;
    }

    /// Forgets all keys. No key is used any more.
    @Override
    public void close() {
        for (int i = 0; i < MAX; i++) {
            free(i);
        }
        arena.close();
    }
}
