package verbena.nic.link.psp;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import verbena.cm.noise.JdkX25519;
import verbena.cm.noise.X25519;
import verbena.foreign.NativeLibrary;
import verbena.foreign.crypto.AesGcmContexts;
import verbena.wire.Frame;
import verbena.wire.psp.JdkPspCipher;
import verbena.wire.psp.PspCipher;
import verbena.wire.psp.PspVersion;

/// The factory of the ciphers of a [PspLink], which share memory: by OpenSSL's libcrypto where it is
/// installed, else by the JDK, which makes garbage.
final class PspCiphers implements AutoCloseable {
    private final PspVersion version;
    private final KeyLog log;
    private final @Nullable AesGcmContexts contexts;
    private final @Nullable JdkPspCipher first;

    /// @param version one that encrypts
    /// @param log gets all keys
    PspCiphers(PspVersion version, boolean isLibcrypto, KeyLog log) {
        this.version = version;
        this.log = log;
        contexts = isLibcrypto ? new AesGcmContexts() : null;
        first = isLibcrypto ? null : new JdkPspCipher(new byte[version.keyBytes()], new byte[Frame.PACKET_MAX]);
    }

    static boolean isLibcryptoThere() {
        try (var _ = new AesGcmContexts()) {
            return true;
        } catch (NativeLibrary.MissingException | LinkageError | IllegalCallerException _) {
            return false;
        }
    }

    /// Returns what agrees on keys: libcrypto, too, where it is there.
    static X25519 curve(boolean isLibcrypto) {
        return isLibcrypto ? new LibcryptoX25519() : new JdkX25519();
    }

    X25519 curve() {
        return curve(contexts != null);
    }

    PspVersion version() {
        return version;
    }

    PspCipher cipher(int spi, byte[] key) {
        log.add(spi, key);
        AesGcmContexts shared = contexts;
        return shared != null
                ? new LibcryptoPspCipher(key, shared)
                : Objects.requireNonNull(first, "else there is libcrypto").sharedWith(key);
    }

    /// Returns the number of contexts of libcrypto.
    int contexts() {
        return contexts == null ? 0 : contexts.count();
    }

    /// Forgets all keys. No cipher is used any more.
    @Override
    public void close() {
        if (contexts != null) {
            contexts.close();
        }
    }
}
