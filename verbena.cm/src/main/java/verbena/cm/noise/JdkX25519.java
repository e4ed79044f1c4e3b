package verbena.cm.noise;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.spec.NamedParameterSpec;
import java.security.spec.XECPrivateKeySpec;
import java.security.spec.XECPublicKeySpec;
import java.util.Objects;
import javax.crypto.KeyAgreement;
import org.jspecify.annotations.Nullable;

/// X25519 of the JDK. It takes tens of milliseconds until the JDK has compiled it.
public final class JdkX25519 implements X25519 {
    private static final byte[] BASE = new byte[BYTES];

    static {
        BASE[0] = 9;
    }

    /// Creates one that keeps no state.
    public JdkX25519() {}

    @Override
    public byte[] publicKey(byte[] secret) {
        return Objects.requireNonNull(agree(secret, BASE), "the base has no small order");
    }

    @Override
    public byte @Nullable [] agree(byte[] secret, byte[] peer) {
        try {
            KeyFactory keys = KeyFactory.getInstance("X25519");
            PrivateKey own = keys.generatePrivate(new XECPrivateKeySpec(NamedParameterSpec.X25519, secret));
            PublicKey other = keys.generatePublic(new XECPublicKeySpec(NamedParameterSpec.X25519, number(peer)));
            KeyAgreement agreement = KeyAgreement.getInstance("X25519");
            agreement.init(own);
            var _ = agreement.doPhase(other, true);
            return agreement.generateSecret();
        } catch (InvalidKeyException _) {
            return null;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has X25519", e);
        }
    }

    /// Returns the little-endian number of a public key, whose last bit means nothing.
    private static BigInteger number(byte[] key) {
        byte[] reversed = new byte[BYTES];
        for (int i = 0; i < BYTES; i++) {
            reversed[i] = key[BYTES - 1 - i];
        }
        reversed[0] &= 0x7F;
        return new BigInteger(1, reversed);
    }
}
