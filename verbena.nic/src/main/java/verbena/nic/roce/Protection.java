package verbena.nic.roce;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import verbena.cm.noise.Credentials;
import verbena.nic.SoftContext;
import verbena.nic.link.Link;
import verbena.nic.link.psp.Certificates;
import verbena.nic.link.psp.KeyLog;
import verbena.nic.link.psp.PspLink;
import verbena.nic.link.psp.PspPolicy;
import verbena.verbs.GidEntry;
import verbena.wire.psp.PspHeader;
import verbena.wire.psp.PspVersion;

/// The encryption of a device's packets, and the file that has the secret of all its peers: the options `psp` and
/// `secret=FILE`. A device whose name has no `psp` takes the property `verbena.psp`, or else the environment's
/// `VERBENA_PSP`: the same words, or the name of a file.
///
/// @param version how packets are encrypted; null when they are not
/// @param policy whose packets are
/// @param certificates the files of a device that shows a certificate; null for none
/// @param keyLog the file that gets all keys; null for none
record Protection(
        @Nullable PspVersion version,
        PspPolicy policy,
        @Nullable Path secret,
        @Nullable CertificateFiles certificates,
        @Nullable Path keyLog) {
    /// The protection of packets in the clear: none.
    static final Protection NONE = new Protection(null, PspPolicy.REQUIRED, null, null, null);

    private static final String PROPERTY = "verbena.psp";
    private static final String ENVIRONMENT = "VERBENA_PSP";
    private static final int SECRET_BYTES_MIN = 32;
    private static final int SECRET_BYTES_MAX = 1_024;
    /// The secret of devices that have certificates and no secret: none.
    private static final byte[] NO_SECRET = new byte[SECRET_BYTES_MIN];

    boolean isOn() {
        return version != null;
    }

    /// Returns the protection of devices whose name says nothing about it.
    ///
    /// @throws IllegalArgumentException when the property or the environment has no such value; names it
    static Protection ofSurroundings() {
        String value = System.getProperty(PROPERTY);
        String name = value == null ? "environment " + ENVIRONMENT : "property " + PROPERTY;
        value = value == null ? System.getenv(ENVIRONMENT) : value;
        if (value == null || value.isBlank()) {
            return NONE;
        }
        try {
            return NONE.withVersion(value);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(name + ": " + e.getMessage(), e);
        }
    }

    /// Returns the protection with this value of `psp`. One with a slash is the name of a file.
    Protection withVersion(String value) {
        if (value.indexOf('/') >= 0) {
            ProtectionFile file = ProtectionFile.read(Path.of(value));
            PspPolicy read = file.policy();
            return read.isOff()
                    ? NONE
                    : new Protection(
                            file.version(),
                            read,
                            file.secret() == null ? secret : file.secret(),
                            file.certificates(),
                            keyLog);
        }
        return switch (value) {
            case "on" -> new Protection(PspVersion.AES_GCM_128, PspPolicy.REQUIRED, secret, null, keyLog);
            case "aes256" -> new Protection(PspVersion.AES_GCM_256, PspPolicy.REQUIRED, secret, null, keyLog);
            case "offered" -> new Protection(PspVersion.AES_GCM_128, PspPolicy.OFFERED, secret, null, keyLog);
            case "off" -> NONE;
            default ->
                throw new IllegalArgumentException(
                        "on, aes256, offered, off, or a file with its folder, got \"" + value + "\"");
        };
    }

    Protection withSecret(String file) {
        return new Protection(version, policy, path("secret", file), certificates, keyLog);
    }

    Protection withKeyLog(String file) {
        return new Protection(version, policy, secret, certificates, path("keylog", file));
    }

    private static Path path(String option, String file) {
        if (file.isBlank()) {
            throw new IllegalArgumentException(option + ": the name of a file");
        }
        return Path.of(file);
    }

    /// @throws IllegalArgumentException when one of the options is there without the others that it needs
    void check(String device) {
        if (isOn() && secret == null && certificates == null) {
            throw new IllegalArgumentException("device " + device
                    + ": psp needs secret=FILE, a file that all peers have (in a policy: a line \"secret FILE\","
                    + " or certificates)");
        }
        if (!isOn() && secret != null) {
            throw new IllegalArgumentException("device " + device
                    + ": option \"secret\" needs psp=on; a secret for one connection is an option of the connection");
        }
        if (!isOn() && keyLog != null) {
            throw new IllegalArgumentException("device " + device + ": option \"keylog\" needs psp=on");
        }
    }

    /// Returns the UDP port that protected packets would like; 0 for none.
    int port() {
        return isOn() ? PspHeader.UDP_PORT : 0;
    }

    /// Wraps a link that leaves packets as they are.
    ///
    /// @throws IllegalArgumentException when the file cannot be read, is open to other users, or is too short
    Link wrap(Link link) {
        PspVersion how = version;
        if (how == null) {
            throw new IllegalStateException("psp is off");
        }
        PspLink.rehearse();
        KeyLog log = keyLog == null ? KeyLog.NONE : KeyLog.in(keyLog);
        return new PspLink(
                link, read(), credentials(link), how, policy, log, System::nanoTime, SoftContext.secureRandom());
    }

    private Credentials credentials(Link link) {
        if (certificates == null) {
            return Credentials.NONE;
        }
        Certificates own = certificates.read();
        if (link.gids().stream().map(GidEntry::gid).noneMatch(own::names)) {
            throw new IllegalArgumentException(certificates.certificate()
                    + " names no address of this device; a peer looks for one: subjectAltName=IP:ADDRESS");
        }
        return own;
    }

    private byte[] read() {
        Path file = secret;
        if (file == null) {
            return NO_SECRET; // there are certificates
        }
        try {
            PrivateFile.check("secret", file);
            String text = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
            byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
            if (bytes.length < SECRET_BYTES_MIN || bytes.length > SECRET_BYTES_MAX) {
                throw new IllegalArgumentException("secret: " + SECRET_BYTES_MIN + " to " + SECRET_BYTES_MAX
                        + " bytes that nobody can guess, got " + bytes.length + " in " + file
                        + "; make one by: openssl rand -hex 32");
            }
            return bytes;
        } catch (IOException e) {
            throw new IllegalArgumentException("secret: cannot read " + file + ": " + e, e);
        }
    }
}
