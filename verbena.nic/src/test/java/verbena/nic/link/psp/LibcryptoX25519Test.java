package verbena.nic.link.psp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import verbena.cm.noise.JdkX25519;
import verbena.cm.noise.X25519;

/// X25519 of libcrypto, beside that of the JDK.
class LibcryptoX25519Test {
    private final X25519 jdk = new JdkX25519();
    private final X25519 curve = new LibcryptoX25519();
    private final Random random = new Random(54);

    @BeforeEach
    void libcrypto() {
        assumeTrue(PspCiphers.isLibcryptoThere(), "no libcrypto");
    }

    private byte[] key() {
        byte[] key = new byte[X25519.BYTES];
        random.nextBytes(key);
        return key;
    }

    private static byte[] hex(String text) {
        return HexFormat.of().parseHex(text);
    }

    /// RFC 7748, 6.1.
    @Test
    void theKeysAreThoseOfTheStandard() {
        byte[] secret = hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
        byte[] peer = hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
        assertThat(curve.publicKey(secret))
                .isEqualTo(hex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"));
        assertThat(curve.agree(secret, peer))
                .isEqualTo(hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"));
    }

    @Test
    void bothComputeAlike() {
        for (int i = 0; i < 50; i++) {
            byte[] own = key();
            byte[] peer = key(); // any 32 bytes are a public key
            assertThat(curve.publicKey(own)).isEqualTo(jdk.publicKey(own));
            assertThat(curve.agree(own, peer)).isEqualTo(jdk.agree(own, peer));
        }
    }

    @Test
    void keysOfSmallOrderAgreeOnNothing() {
        byte[] one = new byte[X25519.BYTES];
        one[0] = 1;
        assertThat(curve.agree(key(), new byte[X25519.BYTES])).isNull();
        assertThat(curve.agree(key(), one)).isNull();
        assertThat(curve.agree(key(), key())).isNotNull();
        assertThatThrownBy(() -> curve.publicKey(new byte[31])).hasMessage("key: 32 bytes, got 31");
    }
}
