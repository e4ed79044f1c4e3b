package verbena.nic.roce;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.psp.PspPolicy;
import verbena.wire.psp.PspVersion;

/// The file that says whose packets a device protects, and how. A line has two words; what stands behind `#` is a
/// remark:
///
/// | line | |
/// |---|---|
/// | `secret FILE` | the file with the secret of all peers |
/// | `certificate FILE` | the certificate that this device shows, with `key FILE` and `authority FILE` |
/// | `key FILE` | the private key of that certificate |
/// | `authority FILE` | the certificates of those whose word counts for peers |
/// | `cipher aes128`, `cipher aes256` | the length of keys; 128 bits without such a line |
/// | `offset 5` | the crypt offset of packets that leave, in units of 4 bytes, 5 at most; 0 without such a line |
/// | `10.0.0.0/8 required` | a prefix of addresses, or one address, and its mode: `required`, `offered` or `off` |
/// | `default required` | the mode of all other addresses; `required` without such a line |
final class ProtectionFile {
    private static final int RULES_MAX = 256;

    private final Path file;
    private final List<PspPolicy.Rule> rules = new ArrayList<>();
    private final Set<String> seen = new HashSet<>();
    private PspPolicy.Mode others = PspPolicy.Mode.REQUIRED;
    private PspVersion version = PspVersion.AES_GCM_128;
    private int cryptOffset;
    private @Nullable Path secret;
    private @Nullable Path certificate;
    private @Nullable Path key;
    private @Nullable Path authority;

    private ProtectionFile(Path file) {
        this.file = file;
    }

    /// Reads a file.
    ///
    /// @throws IllegalArgumentException when it cannot be read, or a line is wrong; names the line and the word
    static ProtectionFile read(Path file) {
        List<String> lines;
        try {
            lines = Files.readAllLines(file, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalArgumentException("cannot read " + file + ": " + e, e);
        }
        var reader = new ProtectionFile(file);
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).replaceFirst("#.*", "").strip();
            try {
                if (!line.isEmpty()) {
                    reader.take(line.split("\\s+"));
                }
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(file + " line " + (i + 1) + ": " + e.getMessage(), e);
            }
        }
        return reader;
    }

    /// Returns whose packets are protected.
    PspPolicy policy() {
        try {
            return new PspPolicy(rules, others, cryptOffset);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
        }
    }

    PspVersion version() {
        return version;
    }

    /// Returns the file of the secret; null when none is named.
    @Nullable
    Path secret() {
        return secret;
    }

    /// Returns the files of the certificate; null when none are named.
    @Nullable
    CertificateFiles certificates() {
        Path first = certificate;
        Path second = key;
        Path third = authority;
        if (first != null && second != null && third != null) {
            return new CertificateFiles(first, second, third);
        }
        if (first != null || second != null || third != null) {
            throw new IllegalArgumentException(
                    file + ": a certificate needs three lines: certificate FILE, key FILE, authority FILE");
        }
        return null;
    }

    private void take(String[] words) {
        if (words.length != 2) {
            throw new IllegalArgumentException(
                    "two words, got " + words.length + ": \"" + String.join(" ", words) + "\"");
        }
        if (!seen.add(words[0])) {
            throw new IllegalArgumentException("\"" + words[0] + "\" stands there a second time");
        }
        switch (words[0]) {
            case "secret" -> secret = beside(words[1]);
            case "certificate" -> certificate = beside(words[1]);
            case "key" -> key = beside(words[1]);
            case "authority" -> authority = beside(words[1]);
            case "cipher" ->
                version = switch (words[1]) {
                    case "aes128" -> PspVersion.AES_GCM_128;
                    case "aes256" -> PspVersion.AES_GCM_256;
                    default ->
                        throw new IllegalArgumentException(
                                "\"" + words[1] + "\" is no cipher; there are aes128 and aes256");
                };
            case "offset" -> cryptOffset = parseOffset(words[1]);
            case "default" -> others = PspPolicy.Mode.parse(words[1]);
            default -> {
                if (rules.size() == RULES_MAX) {
                    throw new IllegalArgumentException("more than " + RULES_MAX + " prefixes");
                }
                if (words[0].indexOf('.') < 0 && words[0].indexOf(':') < 0) {
                    throw new IllegalArgumentException(
                            "\"" + words[0]
                                    + "\": secret, certificate, key, authority, cipher, offset, default, or a prefix of addresses");
                }
                rules.add(PspPolicy.Rule.parse(words[0], PspPolicy.Mode.parse(words[1])));
            }
        }
    }

    private static int parseOffset(String word) {
        try {
            int offset = Integer.parseInt(word);
            if (offset >= 0 && offset <= PspPolicy.CRYPT_OFFSET_MAX) {
                return offset;
            }
        } catch (NumberFormatException _) {
            // as one that is out of range
        }
        throw new IllegalArgumentException(
                "\"" + word + "\" is no offset; there are 0 to " + PspPolicy.CRYPT_OFFSET_MAX);
    }

    /// Returns the path of a file whose name is told from the place of this one.
    private Path beside(String name) {
        return file.toAbsolutePath().resolveSibling(name);
    }
}
