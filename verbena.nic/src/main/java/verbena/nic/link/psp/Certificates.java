package verbena.nic.link.psp;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertPathValidator;
import java.security.cert.CertificateFactory;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import verbena.cm.noise.Credentials;
import verbena.cm.noise.Handshake;
import verbena.verbs.Gid;

/// Credentials by X.509: an end shows its certificate, and a signature by the certificate's key over the key of the
/// end. The JDK makes and checks all of it. A certificate is of no use to an attacker who copies it: the signature is
/// for one key, and only the owner of that key gets through a [Handshake].
///
/// | octets | |
/// |---|---|
/// | 0 and 1 | the length of the signature |
/// | ... | the signature |
/// | ... | certificates in DER: that of the end, and those between it and an authority |
public final class Certificates implements Credentials {
    /// The context of the signature, so that no other use of the key makes one that fits here.
    private static final byte[] PURPOSE = "Verbena PSP identity 1".getBytes(StandardCharsets.US_ASCII);

    private static final int CHAIN_MAX = 4;
    /// The type of an address among the alternative names of a subject (RFC 5280, 4.2.1.6).
    private static final int IP_ADDRESS = 7;

    private static final int TYPE = 0;
    private static final int VALUE = 1;
    private static final int DIGITAL_SIGNATURE = 0;

    private final byte[] chain;
    private final X509Certificate own;
    private final PrivateKey key;
    private final Set<TrustAnchor> authorities;
    private final InstantSource clock;

    /// @param chain the certificate of this end, and those between it and an authority
    /// @param key of the first certificate
    /// @param authorities whose word counts
    /// @param clock tells what has expired
    /// @throws IllegalArgumentException when a peer of the same authorities would not believe this end
    public Certificates(
            List<X509Certificate> chain, PrivateKey key, Collection<X509Certificate> authorities, InstantSource clock) {
        if (chain.isEmpty() || chain.size() > CHAIN_MAX) {
            throw new IllegalArgumentException("chain: 1 to " + CHAIN_MAX + " certificates, got " + chain.size());
        }
        if (authorities.isEmpty()) {
            throw new IllegalArgumentException("authorities: one or more, got none");
        }
        this.key = key;
        this.clock = clock;
        own = chain.getFirst();
        this.authorities =
                authorities.stream().map(one -> new TrustAnchor(one, null)).collect(Collectors.toUnmodifiableSet());
        byte[] probe = new byte[Handshake.KEY_BYTES];
        try {
            this.chain = encoded(chain);
            check(show(probe), probe);
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("no peer would believe this certificate: " + e.getMessage(), e);
        }
    }

    private static byte[] encoded(List<X509Certificate> chain) throws GeneralSecurityException {
        var all = new ByteArrayOutputStream();
        for (X509Certificate one : chain) {
            all.writeBytes(one.getEncoded());
        }
        return all.toByteArray();
    }

    /// Returns whether the certificate of this end is for an address.
    public boolean names(Gid address) {
        try {
            return names(own, address);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("it was read before", e);
        }
    }

    @Override
    public byte[] show(byte[] known) {
        try {
            Signature signing = Signature.getInstance(algorithm(own.getPublicKey()));
            signing.initSign(key);
            signing.update(PURPOSE);
            signing.update(known);
            byte[] signature = signing.sign();
            byte[] shown = ByteBuffer.allocate(Short.BYTES + signature.length + chain.length)
                    .putShort((short) signature.length)
                    .put(signature)
                    .put(chain)
                    .array();
            if (shown.length > BYTES_MAX) {
                throw new IllegalArgumentException("the certificates and a signature have " + shown.length
                        + " bytes, and a message has room for " + BYTES_MAX
                        + "; put the certificates of authorities into the file of authorities");
            }
            return shown;
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException("the key signs nothing: " + e.getMessage(), e);
        }
    }

    private static String algorithm(PublicKey of) throws GeneralSecurityException {
        return switch (of.getAlgorithm()) {
            case "EC" -> "SHA256withECDSA";
            case "EdDSA", "Ed25519" -> "Ed25519";
            default ->
                throw new GeneralSecurityException("its key is " + of.getAlgorithm() + "; there are EC and Ed25519");
        };
    }

    @Override
    public @Nullable String refusal(Gid peer, byte[] known, byte[] shown) {
        try {
            X509Certificate theirs = check(shown, known);
            return names(theirs, peer)
                    ? null
                    : "the certificate of " + theirs.getSubjectX500Principal() + " does not name this address";
        } catch (GeneralSecurityException | RuntimeException e) {
            return String.valueOf(e.getMessage()); // the parsers of the JDK meet bytes of any content here
        }
    }

    /// Returns the certificate of who has signed a key.
    ///
    /// @throws GeneralSecurityException when an authority does not stand for that
    private X509Certificate check(byte[] shown, byte[] known) throws GeneralSecurityException {
        int signed = shown.length < Short.BYTES
                ? -1
                : Short.toUnsignedInt(ByteBuffer.wrap(shown).getShort());
        int at = Short.BYTES + signed;
        if (signed < 0 || at >= shown.length) {
            throw new GeneralSecurityException("shows no certificate");
        }
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        var all = new ArrayList<X509Certificate>();
        var in = new ByteArrayInputStream(shown, at, shown.length - at);
        while (in.available() > 0) {
            if (all.size() == CHAIN_MAX) {
                throw new GeneralSecurityException("shows more than " + CHAIN_MAX + " certificates");
            }
            all.add((X509Certificate) factory.generateCertificate(in));
        }
        X509Certificate theirs = all.getFirst();
        boolean[] uses = theirs.getKeyUsage();
        if (uses != null && !uses[DIGITAL_SIGNATURE]) {
            throw new GeneralSecurityException("the certificate is not for signatures");
        }
        var rules = new PKIXParameters(authorities);
        rules.setRevocationEnabled(false);
        rules.setDate(Date.from(clock.instant()));
        var _ = CertPathValidator.getInstance("PKIX").validate(factory.generateCertPath(all), rules);
        Signature checking = Signature.getInstance(algorithm(theirs.getPublicKey()));
        checking.initVerify(theirs.getPublicKey());
        checking.update(PURPOSE);
        checking.update(known);
        if (!checking.verify(shown, Short.BYTES, signed)) {
            throw new GeneralSecurityException("the key of the certificate has not signed the key of this device");
        }
        return theirs;
    }

    private static boolean names(X509Certificate one, Gid address) throws GeneralSecurityException {
        Collection<List<?>> names = one.getSubjectAlternativeNames();
        return names != null
                && names.stream()
                        .filter(name -> name.get(TYPE).equals(IP_ADDRESS))
                        .anyMatch(name ->
                                Gid.parse(String.valueOf(name.get(VALUE))).equals(address));
    }
}
