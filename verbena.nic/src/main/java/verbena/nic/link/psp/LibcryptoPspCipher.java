package verbena.nic.link.psp;

import java.lang.foreign.MemorySegment;
import verbena.foreign.crypto.AesGcm;
import verbena.foreign.crypto.AesGcmContexts;
import verbena.wire.psp.PspCipher;
import verbena.wire.psp.PspHeader;

/// A cipher by OpenSSL's libcrypto, for packets in native memory. It allocates nothing ([decision
/// 49](../../../../../../../../docs/decisions/49-psp.md)).
public final class LibcryptoPspCipher implements PspCipher {
    private final AesGcm cipher;

    /// @param key of 16 or 32 bytes
    /// @param contexts shared by the ciphers of one thread
    public LibcryptoPspCipher(byte[] key, AesGcmContexts contexts) {
        cipher = new AesGcm(key, contexts);
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
