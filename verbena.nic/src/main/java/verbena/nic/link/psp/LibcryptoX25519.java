package verbena.nic.link.psp;

import org.jspecify.annotations.Nullable;
import verbena.cm.noise.X25519;
import verbena.foreign.crypto.Curve25519;

/// X25519 by OpenSSL's libcrypto.
final class LibcryptoX25519 implements X25519 {
    LibcryptoX25519() {}

    @Override
    public byte[] publicKey(byte[] secret) {
        return Curve25519.publicKey(secret);
    }

    @Override
    public byte @Nullable [] agree(byte[] secret, byte[] peer) {
        return Curve25519.agree(secret, peer);
    }
}
