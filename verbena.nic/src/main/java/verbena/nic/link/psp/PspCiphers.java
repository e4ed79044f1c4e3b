package verbena.nic.link.psp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import verbena.foreign.NativeLibrary;
import verbena.wire.Frame;
import verbena.wire.psp.JdkPspCipher;
import verbena.wire.psp.PspCipher;
import verbena.wire.psp.PspHeader;
import verbena.wire.psp.PspVersion;

/// The factory of the ciphers of a [PspLink], which share their scratch: by OpenSSL's libcrypto where it is
/// installed, else by the JDK, which makes garbage.
final class PspCiphers {
    /// The encryption of packets.
    static final PspVersion VERSION = PspVersion.AES_GCM_128;

    private final boolean isLibcrypto;
    private final MemorySegment scratch;
    private final byte[] heapScratch;

    /// @param arena closed when the ciphers are not used any more
    PspCiphers(boolean isLibcrypto, Arena arena) {
        this.isLibcrypto = isLibcrypto;
        scratch = arena.allocate(Frame.PACKET_MAX, 64);
        heapScratch = new byte[isLibcrypto ? 0 : Frame.PACKET_MAX];
    }

    static boolean isLibcryptoThere() {
        try (Arena once = Arena.ofConfined()) {
            new LibcryptoPspCipher(new byte[VERSION.keyBytes()], once.allocate(PspHeader.ICV_BYTES)).close();
            return true;
        } catch (NativeLibrary.MissingException | LinkageError | IllegalCallerException _) {
            return false;
        }
    }

    PspCipher cipher(byte[] key) {
        return isLibcrypto ? new LibcryptoPspCipher(key, scratch) : new JdkPspCipher(key, heapScratch);
    }
}
