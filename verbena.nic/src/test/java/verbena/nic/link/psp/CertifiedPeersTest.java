package verbena.nic.link.psp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.cm.noise.Credentials;
import verbena.nic.link.psp.PspNet.End;
import verbena.verbs.Gid;

/// Peers that show certificates. Every one that is refused has the secret, so nothing else keeps it out.
class CertifiedPeersTest {
    private static final String GOOD = "10.0.0.1";
    private static final String OTHER = "10.0.0.2";
    /// Each bit is changed in a deep run, and each seventh otherwise.
    private static final int STEP = Boolean.getBoolean("verbena.deep") ? 1 : 7;

    private final PspNet net = new PspNet();
    private final TestAuthority authority;
    /// The time that certificates are judged by.
    private Instant date = TestAuthority.NOW;

    CertifiedPeersTest() throws GeneralSecurityException {
        authority = new TestAuthority("authority", "EC");
    }

    /// Credentials that a peer without a right to its address may have.
    enum Bad {
        ANOTHER_AUTHORITY,
        AN_AUTHORITY_OF_THE_SAME_NAME,
        EXPIRED,
        NOT_YET_VALID,
        ANOTHER_ADDRESS,
        NO_ADDRESS,
        NOT_FOR_SIGNATURES,
        SIGNED_BY_A_DEVICE,
        STOLEN_WITHOUT_ITS_KEY,
        STOLEN_WITH_ITS_SIGNATURE,
        NOTHING,
        NOISE
    }

    private Certificates certified(KeyPair keys, X509Certificate... chain) {
        return new Certificates(List.of(chain), keys.getPrivate(), List.of(authority.certificate()), () -> date);
    }

    private Certificates certified(String algorithm, String address) throws GeneralSecurityException {
        KeyPair keys = TestAuthority.keys(algorithm);
        return certified(keys, authority.issue(keys.getPublic(), address));
    }

    /// What a dishonest end shows; it believes every peer.
    private record Showing(Function shows) implements Credentials {
        private interface Function {
            byte[] of(byte[] key);
        }

        @Override
        public byte[] show(byte[] key) {
            return shows.of(key);
        }

        @Override
        public @Nullable String refusal(Gid peer, byte[] key, byte[] shown) {
            return null;
        }
    }

    /// What a certificate with this key shows, whether or not anybody would believe it.
    private static Credentials showing(KeyPair keys, X509Certificate... chain) throws GeneralSecurityException {
        return new Showing(key -> shown(keys, key, chain));
    }

    private static byte[] shown(KeyPair keys, byte[] key, X509Certificate... chain) {
        try {
            // An authority of its own gives its word, so that it can sign at all.
            var own = new TestAuthority("own", "EC");
            byte[] signed = new Certificates(
                            List.of(own.issue(keys.getPublic(), OTHER)),
                            keys.getPrivate(),
                            List.of(own.certificate()),
                            () -> TestAuthority.NOW)
                    .show(key);
            int signature = 2 + ByteBuffer.wrap(signed).getShort();
            byte[] all = Arrays.copyOf(signed, signature);
            for (X509Certificate one : chain) {
                byte[] next = one.getEncoded();
                all = Arrays.copyOf(all, all.length + next.length);
                System.arraycopy(next, 0, all, all.length - next.length, next.length);
            }
            return all;
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private Credentials bad(Bad how) throws GeneralSecurityException {
        KeyPair own = TestAuthority.keys("EC");
        KeyPair others = TestAuthority.keys("EC");
        return switch (how) {
            case ANOTHER_AUTHORITY -> showing(own, new TestAuthority("another", "EC").issue(own.getPublic(), OTHER));
            case AN_AUTHORITY_OF_THE_SAME_NAME ->
                showing(own, new TestAuthority("authority", "EC").issue(own.getPublic(), OTHER));
            case EXPIRED -> showing(own, authority.issue(own.getPublic(), date.minus(Duration.ofDays(11)), OTHER));
            case NOT_YET_VALID -> showing(own, authority.issue(own.getPublic(), date.plus(Duration.ofDays(11)), OTHER));
            case ANOTHER_ADDRESS -> showing(own, authority.issue(own.getPublic(), "10.0.0.3", "fd00::2"));
            case NO_ADDRESS -> showing(own, authority.issue(own.getPublic()));
            case NOT_FOR_SIGNATURES -> showing(own, authority.issueForAgreements(own.getPublic(), OTHER));
            case SIGNED_BY_A_DEVICE -> {
                var device = new TestAuthority("device", "EC");
                X509Certificate between = authority.issue(device.certificate().getPublicKey(), OTHER);
                yield showing(own, device.issue(own.getPublic(), OTHER), between);
            }
            case STOLEN_WITHOUT_ITS_KEY -> showing(own, authority.issue(others.getPublic(), OTHER));
            case STOLEN_WITH_ITS_SIGNATURE -> {
                byte[] seen = shown(others, new byte[32], authority.issue(others.getPublic(), OTHER));
                yield new Showing(_ -> seen);
            }
            case NOTHING -> new Showing(_ -> new byte[0]);
            case NOISE -> {
                byte[] noise = new byte[Credentials.BYTES_MAX];
                new Random(54).nextBytes(noise);
                yield new Showing(_ -> noise);
            }
        };
    }

    private End end(String address, Credentials credentials, long seed) {
        net.credentials = credentials;
        return net.end(address, PspNet.SECRET, seed);
    }

    @ParameterizedTest
    @ValueSource(strings = {"EC", "Ed25519"})
    void peersOfOneAuthorityTalk(String algorithm) throws GeneralSecurityException {
        End a = end(GOOD, certified(algorithm, GOOD), 1);
        End b = end(OTHER, certified(algorithm, OTHER), 2);
        a.send(b.gid, 7);
        net.settle();
        b.send(a.gid, 8);
        net.settle();
        assertThat(b.received).containsExactly(7);
        assertThat(a.received).containsExactly(8);
        assertThat(a.count("psp.keys.refused") + b.count("psp.keys.refused")).isZero();
        assertThat(net.seen).allSatisfy(one -> assertThat(one.bytes()).hasSizeLessThanOrEqualTo(1_280 - 40 - 8));
    }

    /// The certificate between a device and its authority is shown, too; IPv6 addresses are names as well.
    @Test
    void aChainIsFollowed() throws GeneralSecurityException {
        KeyPair keys = TestAuthority.keys("Ed25519");
        End a = end("fd00::1", certified(keys, authority.issue(keys.getPublic(), "10.0.0.1", "fd00::1")), 1);
        End b = end("fd00::2", certified("EC", "fd00::2"), 2);
        a.send(b.gid, 7);
        net.settle();
        assertThat(b.received).containsExactly(7);
    }

    @ParameterizedTest
    @EnumSource(Bad.class)
    void whoCannotProveItsAddressGetsNoKeys(Bad how) throws GeneralSecurityException {
        for (boolean isFirst : new boolean[] {true, false}) {
            End good = end(GOOD, certified("EC", GOOD), 1);
            End evil = end(OTHER, bad(how), 2);
            (isFirst ? evil : good).send((isFirst ? good : evil).gid, 7);
            net.pass(6 * PspNet.SECOND);
            assertThat(good.received).isEmpty();
            assertThat(evil.received).isEmpty();
            assertThat(good.count("psp.keys.refused")).isPositive();
            assertThat(good.psp.peers())
                    .allSatisfy(peer -> assertThat(peer.spi()).isZero());
            net.forget();
        }
    }

    /// The secret alone is not enough where certificates are asked for, and there is nothing to agree on: such ends
    /// are strangers.
    @Test
    void anEndWithTheSecretAloneIsAStranger() throws GeneralSecurityException {
        End good = end(GOOD, certified("EC", GOOD), 1);
        End old = end(OTHER, Credentials.NONE, 2);
        old.send(good.gid, 7);
        good.send(old.gid, 7);
        net.pass(6 * PspNet.SECOND);
        assertThat(good.received).isEmpty();
        assertThat(old.received).isEmpty();
        assertThat(good.count("psp.keys.unproven")).isPositive();
    }

    /// Ends replace keys every ten minutes, and a peer that has no right any more gets no others.
    @Test
    void aCertificateThatExpiresIsRefusedAtTheNextAgreement() throws GeneralSecurityException {
        End a = end(GOOD, certified("EC", GOOD), 1);
        End b = end(OTHER, certified("EC", OTHER), 2);
        a.send(b.gid, 7);
        net.settle();
        assertThat(b.received).containsExactly(7);
        date = date.plus(Duration.ofDays(11));
        for (int i = 0; i < 31; i++) {
            net.pass(60 * PspNet.SECOND);
            a.send(b.gid, i);
            net.settle();
        }
        b.received.clear();
        a.send(b.gid, 9);
        net.settle();
        assertThat(b.received).isEmpty();
        assertThat(a.count("psp.keys.refused")).isPositive();
    }

    /// Whatever is shown, the judgement is a reason and no exception: a bit changed, another length, and noise.
    @Test
    void bytesOfAnyContentAreRefused() throws GeneralSecurityException {
        Certificates judge = certified("EC", GOOD);
        byte[] key = new byte[32];
        byte[] good = certified("EC", OTHER).show(key);
        assertThat(judge.refusal(Gid.parse(OTHER), key, good)).isNull();
        var shown = new ArrayList<byte[]>();
        for (int bit = 0; bit < 8 * good.length; bit += STEP) {
            byte[] bytes = good.clone();
            bytes[bit / 8] ^= (byte) (1 << (bit % 8));
            shown.add(bytes);
        }
        for (int length = 0; length < good.length; length += STEP) {
            shown.add(Arrays.copyOf(good, length));
        }
        var random = new Random(54);
        for (int i = 0; i < 1_000; i += STEP) {
            byte[] bytes = Arrays.copyOf(good, random.nextInt(good.length + 1));
            for (int j = random.nextInt(8); j >= 0 && bytes.length > 0; j--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            shown.add(bytes);
        }
        var taken = new ArrayList<byte[]>();
        for (byte[] bytes : shown) {
            if (judge.refusal(Gid.parse(OTHER), key, bytes) == null
                    && !content(bytes).equals(content(good))) {
                taken.add(bytes);
            }
        }
        assertThat(taken).isEmpty();
    }

    /// What is signed, and the signatures. The same content may have other bytes: a certificate says how many of the
    /// last bits of its signature are padding, and the JDK takes each number whose bits are 0.
    private static List<ByteBuffer> content(byte[] shown) throws GeneralSecurityException {
        int signature = 2 + ByteBuffer.wrap(shown).getShort();
        var all = new ArrayList<ByteBuffer>();
        all.add(ByteBuffer.wrap(shown, 0, signature));
        var encoded = new ByteArrayInputStream(shown, signature, shown.length - signature);
        for (var each : CertificateFactory.getInstance("X.509").generateCertificates(encoded)) {
            X509Certificate certificate = (X509Certificate) each;
            all.add(ByteBuffer.wrap(certificate.getTBSCertificate()));
            all.add(ByteBuffer.wrap(certificate.getSignature()));
        }
        return all;
    }

    @Test
    void whatNoPeerWouldBelieveIsRefusedAtTheStart() throws GeneralSecurityException {
        KeyPair keys = TestAuthority.keys("EC");
        X509Certificate one = authority.issue(keys.getPublic(), GOOD);
        assertThatThrownBy(() -> certified(TestAuthority.keys("EC"), one)).hasMessageContaining("has not signed");
        X509Certificate foreign = new TestAuthority("another", "EC").issue(keys.getPublic(), GOOD);
        assertThatThrownBy(() -> certified(keys, foreign)).hasMessageContaining("no peer would believe");
        assertThatThrownBy(() -> certified(keys)).hasMessageContaining("chain: 1 to 4");
        X509Certificate large =
                authority.issue(keys.getPublic(), Collections.nCopies(150, GOOD).toArray(String[]::new));
        assertThatThrownBy(() -> certified(keys, large)).hasMessageContaining("has room for 1080");
        assertThat(certified(keys, one).names(Gid.parse(GOOD))).isTrue();
        assertThat(certified(keys, one).names(Gid.parse(OTHER))).isFalse();
    }
}
