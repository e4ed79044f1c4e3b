package verbena.nic.roce;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import verbena.nic.link.psp.Certificates;

/// The files of a device that shows a certificate, in PEM.
///
/// @param certificate that of the device, and those between it and an authority
/// @param key the private key of the first of them, in PKCS #8
/// @param authorities the certificates of those whose word counts
record CertificateFiles(Path certificate, Path key, Path authorities) {
    private static final Pattern PRIVATE_KEY =
            Pattern.compile("-----BEGIN PRIVATE KEY-----([^-]+)-----END PRIVATE KEY-----");

    /// Reads them.
    ///
    /// @throws IllegalArgumentException when one cannot be read, or no peer would believe them; names the file
    Certificates read() {
        List<X509Certificate> chain = certificates("certificate", certificate);
        PrivateKey own = key(chain.getFirst());
        try {
            return new Certificates(chain, own, certificates("authority", authorities), InstantSource.system());
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(certificate + ": " + e.getMessage(), e);
        }
    }

    private static List<X509Certificate> certificates(String what, Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            var all = new ArrayList<X509Certificate>();
            CertificateFactory.getInstance("X.509")
                    .generateCertificates(in)
                    .forEach(one -> all.add((X509Certificate) one));
            if (all.isEmpty()) {
                throw new IllegalArgumentException(what + ": there is none in " + file);
            }
            return all;
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalArgumentException(what + ": cannot read " + file + ": " + e, e);
        }
    }

    private PrivateKey key(X509Certificate of) {
        try {
            PrivateFile.check("key", key);
            Matcher found = PRIVATE_KEY.matcher(Files.readString(key, StandardCharsets.ISO_8859_1));
            if (!found.find()) {
                throw new IllegalArgumentException(
                        "key: no \"BEGIN PRIVATE KEY\" in " + key + "; openssl pkcs8 -topk8 -nodes makes one");
            }
            byte[] encoded = Base64.getMimeDecoder().decode(found.group(1));
            return KeyFactory.getInstance(of.getPublicKey().getAlgorithm())
                    .generatePrivate(new PKCS8EncodedKeySpec(encoded));
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalArgumentException("key: cannot read " + key + ": " + e, e);
        }
    }
}
