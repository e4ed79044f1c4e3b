package verbena.nic.link.psp;

import java.lang.foreign.MemorySegment;
import verbena.foreign.crypto.AesGcm;
import verbena.wire.psp.PspCipher;
import verbena.wire.psp.PspHeader;

/// A cipher by OpenSSL's libcrypto, for packets in native memory. It allocates nothing ([decision
/// 49](../../../../../../../../docs/decisions/49-psp.md)).
public final class LibcryptoPspCipher implements PspCipher {
    private final AesGcm cipher;

    /// @param key of 16 or 32 bytes
    /// @param scratch native, 8 bytes, in which nothing is kept; ciphers of one thread may share it
    /// @throws verbena.foreign.NativeLibrary.MissingException when libcrypto is not there
    public LibcryptoPspCipher(byte[] key, MemorySegment scratch) {
        cipher = new AesGcm(key, scratch);
    }

    @Override
    public void seal(MemorySegment text, long textAt, MemorySegment packet, long at, int clearBytes, int secretBytes) {
        cipher.seal(text, textAt, packet, at + PspHeader.NONCE_AT, at, clearBytes, secretBytes);
    }

    @Override
    public boolean open(
            MemorySegment packet, long at, int clearBytes, int secretBytes, MemorySegment text, long textAt) {
        return cipher.open(packet, at + PspHeader.NONCE_AT, at, clearBytes, secretBytes, text, textAt);
    }

    @Override
    public void close() {
        cipher.close();
    }
}
