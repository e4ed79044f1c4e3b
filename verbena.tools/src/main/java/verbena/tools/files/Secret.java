package verbena.tools.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import verbena.tools.kit.CommandFailed;

/// The secret that both ends know and never send. An end proves that it knows the secret by an HMAC over all
/// messages so far, its role included. So a proof is good for this connection and this role only.
final class Secret {
    static final int PROOF = 32;
    static final String VARIABLE = "VERBENA_SECRET";

    private static final int LEAST = 16;
    private static final int MOST = 4096;
    private static final String HMAC = "HmacSHA256";
    /// The permissions that its file must not have.
    private static final Set<PosixFilePermission> OTHERS = EnumSet.of(
            PosixFilePermission.GROUP_READ,
            PosixFilePermission.GROUP_WRITE,
            PosixFilePermission.OTHERS_READ,
            PosixFilePermission.OTHERS_WRITE);

    private final SecretKeySpec key;

    private Secret(byte[] bytes, String where) {
        if (bytes.length < LEAST) {
            throw new CommandFailed(where + ": a secret has at least " + LEAST + " bytes; make one with:"
                    + " head -c 32 /dev/urandom | base64");
        }
        key = new SecretKeySpec(bytes, HMAC);
    }

    static Secret of(String text) {
        return new Secret(text.strip().getBytes(StandardCharsets.UTF_8), "$" + VARIABLE);
    }

    /// Finds the secret in a file, which only its owner may read, else in the environment; empty when there is
    /// neither.
    static Optional<Secret> find(@Nullable Path file, Map<String, String> environment) {
        if (file != null) {
            return Optional.of(read(file));
        }
        return Optional.ofNullable(environment.get(VARIABLE)).map(Secret::of);
    }

    private static Secret read(Path file) {
        try {
            PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
            if (view != null) {
                if (view.readAttributes().permissions().stream().anyMatch(OTHERS::contains)) {
                    throw new CommandFailed("--secret-file: others may read or write " + file + "; chmod 600 it");
                }
            }
            byte[] bytes;
            try (var in = Files.newInputStream(file)) {
                bytes = in.readNBytes(MOST);
            }
            return new Secret(
                    new String(bytes, StandardCharsets.ISO_8859_1).strip().getBytes(StandardCharsets.ISO_8859_1),
                    "--secret-file");
        } catch (NoSuchFileException e) {
            throw new CommandFailed("--secret-file: there is no " + file, e);
        } catch (IOException e) {
            throw CommandFailed.io("--secret-file: cannot read " + file, e);
        }
    }

    /// @param said HELLO and CHALLENGE as they were on the wire
    byte[] proof(boolean isClient, byte[]... said) {
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(key);
            mac.update(("verbena files " + Terms.VERSION + (isClient ? " client" : " server"))
                    .getBytes(StandardCharsets.US_ASCII));
            for (byte[] part : said) {
                mac.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, part.length));
                mac.update(part);
            }
            return mac.doFinal();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java has " + HMAC, e);
        }
    }

    /// Returns whether a proof is right, in a time that does not depend on where it differs.
    boolean isProof(byte[] proof, boolean isClient, byte[]... said) {
        return MessageDigest.isEqual(proof, proof(isClient, said));
    }
}
