package verbena.cm.noise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HandshakeTest {
    private static final X25519 CURVE = new JdkX25519();
    private static final byte[] PROLOGUE = hex("4a6f686e2047616c74");
    private static final byte[] SECRET = hex("54686973206973206d7920417573747269616e20706572737065637469766521");
    private static final byte[] IDENTITY_A = hex("e61ef9919cde45dd5f82166404bd08e38bceb5dfdfded0a34c8df7ed542214d1");
    private static final byte[] MOMENT_A = hex("893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a");
    private static final byte[] IDENTITY_B = hex("4a3acbfdb163dec651dfa3194dece676d437029c62a408b4c5ea9114246e4893");
    private static final byte[] MOMENT_B = hex("bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b");

    private Handshake a = new Handshake(true, PROLOGUE, SECRET, new Handshake.Identity(CURVE, IDENTITY_A), MOMENT_A);
    private Handshake b = new Handshake(false, PROLOGUE, SECRET, new Handshake.Identity(CURVE, IDENTITY_B), MOMENT_B);

    private static byte[] hex(String text) {
        return HexFormat.of().parseHex(text);
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    /// Payloads and messages of the published vectors ("cacophony") for this protocol, whose keys are those
    /// above.
    private static final String[][] VECTOR = {
        {
            "4c756477696720766f6e204d69736573",
            "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944ad6766e442bec99c94ff573cd5316da008cbcc1ebcf47f"
                    + "be43991ed633bcbb75"
        },
        {
            "4d757272617920526f746862617264",
            "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f14480884336a2439b0bafb5e97fee2c19b6f9f741125f810ad98e7e"
                    + "9659c48ca3e19652d316d1121073a281e0402b7bc1acb476caa1e7308faad7f75337b30f12435c98303cac63cac1d69ac11f2e"
                    + "1971e138ac"
        },
        {
            "462e20412e20486179656b",
            "2504a7905dbd6a56820581eb314085df196fda55aa5e77745d61c0b526355733d5ee67b9a4f345be7dc7c6583d3807626eb0f42c693889"
                    + "55ff0c9f35b03951129db18848a76f6a4d270022"
        },
        {"4361726c204d656e676572", "b20ca762013411bc55d65fc7137a2e719d432cd549cb037f5e9c84"},
        {"4a65616e2d426170746973746520536179", "6b10e774950e93bc7cc50f225a105e656eb418310c00c374a81c1452b48cb12000"},
        {
            "457567656e2042f6686d20766f6e2042617765726b",
            "6d617e8fd817a630755b8dffdee52ad3c39964bdca895a56847fd5f1edb49d14f555cc314b"
        }
    };

    @Test
    void theMessagesAreThoseOfThePublishedVectors() throws GeneralSecurityException {
        for (int i = 0; i < 3; i++) {
            Handshake writer = i % 2 == 0 ? a : b;
            Handshake reader = i % 2 == 0 ? b : a;
            byte[] message = writer.write(hex(VECTOR[i][0]));
            assertThat(hex(message)).isEqualTo(VECTOR[i][1]);
            assertThat(hex(reader.read(message))).isEqualTo(VECTOR[i][0]);
        }
        assertThat(hex(a.hash())).isEqualTo("033c8317037cb66a83308d5ae57ebbbea254e7ef2267f296c40baa4beaae4fcc");
        assertThat(b.hash()).isEqualTo(a.hash());
        assertThat(a.peerIdentity()).isEqualTo(CURVE.publicKey(IDENTITY_B));
        assertThat(b.peerIdentity()).isEqualTo(CURVE.publicKey(IDENTITY_A));
        assertThat(a.keys()[0]).isEqualTo(b.keys()[1]);
        assertThat(a.keys()[1]).isEqualTo(b.keys()[0]);
        for (int i = 3; i < VECTOR.length; i++) { // b's turn after three
            byte[] key = (i % 2 == 0 ? a : b).keys()[0];
            assertThat(hex(sealed(key, (i - 3) / 2, hex(VECTOR[i][0])))).isEqualTo(VECTOR[i][1]);
        }
    }

    private static byte[] sealed(byte[] key, long uses, byte[] text) throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        byte[] nonce = ByteBuffer.allocate(12).putLong(4, uses).array();
        cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(key, "AES"), new GCMParameterSpec(128, nonce));
        return cipher.doFinal(text);
    }

    /// Ends that have got as far as this many messages; what the next one is.
    private byte[] upTo(int messages) {
        a = new Handshake(true, PROLOGUE, SECRET, new Handshake.Identity(CURVE, IDENTITY_A), MOMENT_A);
        b = new Handshake(false, PROLOGUE, SECRET, new Handshake.Identity(CURVE, IDENTITY_B), MOMENT_B);
        for (int i = 0; i < messages; i++) {
            assertThat((i % 2 == 0 ? b : a).read((i % 2 == 0 ? a : b).write(new byte[] {1, 2, 3})))
                    .isNotNull();
        }
        return (messages % 2 == 0 ? a : b).write(new byte[] {4, 5, 6});
    }

    private Handshake readerOf(int message) {
        return message % 2 == 0 ? b : a;
    }

    /// Every byte of each message, one bit of it; the last bit of a public key means nothing by itself, but is
    /// hashed.
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void aChangedMessageEndsTheAgreement(int number) {
        int bytes = upTo(number).length;
        for (int at = 0; at < bytes; at++) {
            byte[] message = upTo(number);
            message[at] ^= (byte) (1 << at % 8);
            Handshake reader = readerOf(number);
            assertThat(reader.read(message)).as("byte %d", at).isNull();
            assertThat(reader.isDone()).isFalse();
            assertThat(reader.writes()).isFalse();
            assertThatThrownBy(reader::keys).isInstanceOf(IllegalStateException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void aMessageCutShortEndsTheAgreement(int number) {
        int bytes = upTo(number).length;
        for (int kept = 0; kept < bytes; kept++) {
            byte[] message = Arrays.copyOf(upTo(number), kept);
            assertThat(readerOf(number).read(message)).as("%d bytes", kept).isNull();
        }
    }

    @Test
    void anEndWithAnotherSecretIsFoundOut() {
        byte[] other = SECRET.clone();
        other[31] ^= 1;
        b = new Handshake(false, PROLOGUE, other, new Handshake.Identity(CURVE, IDENTITY_B), MOMENT_B);
        assertThat(b.read(a.write(new byte[0]))).isNotNull();
        assertThat(a.read(b.write(new byte[0]))).isNotNull();
        assertThat(b.read(a.write(new byte[0])))
                .as("psk3: the secret is in the last message")
                .isNull();
    }

    @Test
    void anEndWithAnotherPrologueIsFoundOut() {
        b = new Handshake(false, new byte[0], SECRET, new Handshake.Identity(CURVE, IDENTITY_B), MOMENT_B);
        assertThat(b.read(a.write(new byte[0]))).isNull();
    }

    /// Who is on the way has two agreements, with keys of their own but without the secret.
    @Test
    void anAttackerOnTheWayEndsWithNothing() {
        byte[] guess = new byte[32];
        byte[] own = new byte[32];
        new Random(54).nextBytes(own);
        var towardsA = new Handshake(false, PROLOGUE, guess, new Handshake.Identity(CURVE, own), MOMENT_B);
        var towardsB = new Handshake(true, PROLOGUE, guess, new Handshake.Identity(CURVE, own), MOMENT_A);
        assertThat(towardsA.read(a.write(new byte[0]))).isNotNull();
        assertThat(b.read(towardsB.write(new byte[0]))).isNotNull();
        assertThat(a.read(towardsA.write(new byte[0]))).isNotNull();
        assertThat(towardsB.read(b.write(new byte[0]))).isNotNull();

        assertThat(towardsA.read(a.write(new byte[] {7}))).isNull();
        assertThat(b.read(towardsB.write(new byte[0]))).isNull();
        assertThat(b.isDone()).isFalse();
    }

    @Test
    void messagesOfAnotherAgreementAndOnesOwnAreRefused() {
        byte[] first = a.write(new byte[0]);
        assertThat(new Handshake(true, PROLOGUE, SECRET, new Handshake.Identity(CURVE, IDENTITY_A), MOMENT_A).writes())
                .isTrue();
        assertThat(b.read(first)).isNotNull();
        byte[] second = b.write(new byte[0]);
        byte[] moment = MOMENT_A.clone();
        moment[5] ^= 1;
        var again = new Handshake(true, PROLOGUE, SECRET, new Handshake.Identity(CURVE, IDENTITY_A), moment);
        byte[] _ = again.write(new byte[0]);
        assertThat(again.read(second)).as("an answer that was recorded").isNull();
        assertThat(a.read(first)).as("its own message").isNull();
    }

    /// Forward secrecy: the private keys that were drawn for the agreement are thrown away.
    @Test
    void whoeverLearnsTheLastingKeysLaterReadsNoneOfTheRecordedMessages() {
        byte[] first = a.write(new byte[0]);
        assertThat(b.read(first)).isNotNull();
        byte[] second = b.write(new byte[] {2});
        assertThat(a.read(second)).isEqualTo(new byte[] {2});
        byte[] third = a.write(new byte[] {3});
        assertThat(b.read(third)).isEqualTo(new byte[] {3});

        byte[] drawn = new byte[32];
        new Random(60).nextBytes(drawn);
        var asA = new Handshake(true, PROLOGUE, SECRET, new Handshake.Identity(CURVE, IDENTITY_A), drawn);
        byte[] _ = asA.write(new byte[0]);
        assertThat(asA.read(second)).isNull();
        var asB = new Handshake(false, PROLOGUE, SECRET, new Handshake.Identity(CURVE, IDENTITY_B), drawn);
        assertThat(asB.read(first)).as("all can read the first").isNotNull();
        byte[] _ = asB.write(new byte[0]);
        assertThat(asB.read(third)).isNull();
    }

    @Test
    void aKeyThatMakesEveryAgreementZeroIsRefused() {
        var evil = new byte[32 + 32 + 16 + 16];
        byte[] _ = a.write(new byte[0]);
        assertThat(a.read(evil)).isNull();
        assertThat(CURVE.agree(IDENTITY_A, new byte[32])).isNull();
        // The first message is sealed by what all can know.
        var state = new SymmetricState("Noise_XXpsk3_25519_AESGCM_SHA256");
        state.mixHash(PROLOGUE);
        state.mixHash(new byte[32]);
        state.mixKey(new byte[32]);
        byte[] first = Arrays.copyOf(new byte[32], 48);
        System.arraycopy(state.seal(new byte[0]), 0, first, 32, 16);
        assertThat(b.read(first)).isNull();
        assertThat(b.writes()).isFalse();
    }

    @Test
    void mistakesOfTheCallerAreTold() {
        assertThatThrownBy(() -> new Handshake(
                        true, PROLOGUE, new byte[31], new Handshake.Identity(CURVE, IDENTITY_A), MOMENT_A))
                .hasMessage("secret: has 32 bytes, got 31");
        assertThatThrownBy(() -> a.read(new byte[0])).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> b.write(new byte[0])).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> a.hash()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> a.peerIdentity()).isInstanceOf(IllegalStateException.class);
    }
}
