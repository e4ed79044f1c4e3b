package verbena.nic.link.psp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import verbena.cm.noise.JdkX25519;
import verbena.cm.noise.X25519;
import verbena.foreign.NativeLibrary;
import verbena.wire.Frame;
import verbena.wire.psp.JdkPspCipher;
import verbena.wire.psp.PspCipher;
import verbena.wire.psp.PspVersion;

/// The factory of the ciphers of a [PspLink], which share their scratch: by OpenSSL's libcrypto where it is
/// installed, else by the JDK, which makes garbage.
final class PspCiphers {
    private final PspVersion version;
    private final boolean isLibcrypto;
    private final KeyLog log;
    private final MemorySegment scratch = Arena.ofAuto().allocate(Long.BYTES);
    private final byte[] heapScratch;

    /// @param version one that encrypts
    /// @param log gets all keys
    PspCiphers(PspVersion version, boolean isLibcrypto, KeyLog log) {
        this.version = version;
        this.isLibcrypto = isLibcrypto;
        this.log = log;
        heapScratch = new byte[isLibcrypto ? 0 : Frame.PACKET_MAX];
    }

    static boolean isLibcryptoThere() {
        try (Arena once = Arena.ofConfined()) {
            new LibcryptoPspCipher(new byte[PspVersion.AES_GCM_128.keyBytes()], once.allocate(Long.BYTES)).close();
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
        return curve(isLibcrypto);
    }

    PspVersion version() {
        return version;
    }

    PspCipher cipher(int spi, byte[] key) {
        log.add(spi, key);
        return isLibcrypto ? new LibcryptoPspCipher(key, scratch) : new JdkPspCipher(key, heapScratch);
    }
}
