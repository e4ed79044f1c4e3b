package verbena.nic.link.psp;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import verbena.verbs.Gid;

/// An authority that certifies whatever a test wants, in DER that is written here, because the JDK has no public class
/// that makes certificates.
public final class TestAuthority {
    /// The time around which certificates are valid, for ten days on either side.
    @SuppressWarnings("TimeInStaticInitializer") // ten days are enough for a test
    public static final Instant NOW = Instant.now();

    private static final Duration VALID = Duration.ofDays(10);
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);
    private static final int BOOLEAN = 0x01;
    private static final int INTEGER = 0x02;
    private static final int BITS = 0x03;
    private static final int OCTETS = 0x04;
    private static final int TEXT = 0x0C;
    private static final int UTC_TIME = 0x17;
    private static final int SEQUENCE = 0x30;
    private static final int SET = 0x31;
    private static final int ADDRESS = 0x87;
    private static final int VERSION = 0xA0;
    private static final int EXTENSIONS = 0xA3;
    private static final byte[] ECDSA_SHA256 = hex("06082a8648ce3d040302");
    private static final byte[] ED25519 = hex("06032b6570");
    private static final byte[] COMMON_NAME = hex("0603550403");
    private static final byte[] KEY_USAGE = hex("0603551d0f");
    private static final byte[] ALTERNATIVE_NAMES = hex("0603551d11");
    private static final byte[] CONSTRAINTS = hex("0603551d13");
    private static final byte[] TRUE = der(BOOLEAN, new byte[] {(byte) 0xFF});

    private final String name;
    private final KeyPair keys;
    private final X509Certificate certificate;
    private int issued;

    /// An authority with this name and a key of this algorithm, which certifies itself.
    public TestAuthority(String name, String algorithm) throws GeneralSecurityException {
        this.name = name;
        keys = keys(algorithm);
        byte[] constraints = extension(CONSTRAINTS, der(SEQUENCE, TRUE));
        byte[] use = extension(KEY_USAGE, new byte[] {BITS, 2, 2, 4});
        certificate = sign(name, keys.getPublic(), NOW, constraints, use);
    }

    /// A key pair for `EC` or `Ed25519`.
    public static KeyPair keys(String algorithm) throws GeneralSecurityException {
        var generator = KeyPairGenerator.getInstance(algorithm);
        if (algorithm.equals("EC")) {
            generator.initialize(256);
        }
        return generator.generateKeyPair();
    }

    public X509Certificate certificate() {
        return certificate;
    }

    /// Certifies a key for addresses.
    public X509Certificate issue(PublicKey key, String... addresses) throws GeneralSecurityException {
        return issue(key, NOW, addresses);
    }

    /// The same, around another time.
    X509Certificate issue(PublicKey key, Instant around, String... addresses) throws GeneralSecurityException {
        byte[] use = extension(KEY_USAGE, new byte[] {BITS, 2, 7, (byte) 0x80});
        byte[][] names = List.of(addresses).stream()
                .map(address -> der(ADDRESS, Gid.parse(address).address().getAddress()))
                .toArray(byte[][]::new);
        return names.length == 0
                ? sign("device", key, around, use)
                : sign("device", key, around, use, extension(ALTERNATIVE_NAMES, der(SEQUENCE, names)));
    }

    /// A certificate whose key may do nothing but agree on keys.
    X509Certificate issueForAgreements(PublicKey key, String address) throws GeneralSecurityException {
        return sign(
                "device",
                key,
                NOW,
                extension(KEY_USAGE, new byte[] {BITS, 2, 3, 8}),
                extension(
                        ALTERNATIVE_NAMES,
                        der(SEQUENCE, der(ADDRESS, Gid.parse(address).address().getAddress()))));
    }

    private X509Certificate sign(String subject, PublicKey key, Instant around, byte[]... extensions)
            throws GeneralSecurityException {
        boolean isEc = keys.getPrivate().getAlgorithm().equals("EC");
        byte[] algorithm = der(SEQUENCE, isEc ? ECDSA_SHA256 : ED25519);
        byte[] valid = der(SEQUENCE, time(around.minus(VALID)), time(around.plus(VALID)));
        byte[] body = der(
                SEQUENCE,
                der(VERSION, der(INTEGER, new byte[] {2})),
                der(INTEGER, new byte[] {(byte) ++issued}),
                algorithm,
                name(name),
                valid,
                name(subject),
                key.getEncoded(),
                der(EXTENSIONS, der(SEQUENCE, extensions)));
        Signature signing = Signature.getInstance(isEc ? "SHA256withECDSA" : "Ed25519");
        signing.initSign(keys.getPrivate());
        signing.update(body);
        byte[] whole = der(SEQUENCE, body, algorithm, der(BITS, new byte[1], signing.sign()));
        return (X509Certificate)
                CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(whole));
    }

    private static byte[] extension(byte[] kind, byte[] value) {
        return der(SEQUENCE, kind, TRUE, der(OCTETS, value));
    }

    private static byte[] name(String text) {
        byte[] value = der(TEXT, text.getBytes(StandardCharsets.UTF_8));
        return der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, value)));
    }

    private static byte[] time(Instant at) {
        return der(UTC_TIME, TIME.format(at).getBytes(StandardCharsets.US_ASCII));
    }

    private static byte[] der(int tag, byte[]... parts) {
        var content = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            content.writeBytes(part);
        }
        int bytes = content.size();
        var all = new ByteArrayOutputStream();
        all.write(tag);
        if (bytes >= 128) {
            all.write(bytes < 256 ? 0x81 : 0x82);
        }
        if (bytes >= 256) {
            all.write(bytes >> 8);
        }
        all.write(bytes);
        all.writeBytes(content.toByteArray());
        return all.toByteArray();
    }

    private static byte[] hex(String text) {
        return HexFormat.of().parseHex(text);
    }

    /// Something in the form of PEM.
    public static String pem(String what, byte[] encoded) {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(encoded);
        return "-----BEGIN " + what + "-----\n" + text + "\n-----END " + what + "-----\n";
    }
}
