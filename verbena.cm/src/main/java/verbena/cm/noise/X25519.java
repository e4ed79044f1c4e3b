package verbena.cm.noise;

import org.jspecify.annotations.Nullable;

/// X25519 (RFC 7748) over keys as they are on the wire.
public interface X25519 {
    /// Bytes of a key, private or public, and of what two ends agree on.
    int BYTES = 32;

    /// Returns the public key of a private key.
    byte[] publicKey(byte[] secret);

    /// Returns the secret that two ends share; null when the other's key makes it 0 whatever ours is.
    byte @Nullable [] agree(byte[] secret, byte[] peer);
}
