package verbena.verbs.cm;

import java.security.MessageDigest;

/// A secret that only both ends of a connection know ([ConnectionParameters#withSecret]). Immutable; [#toString()]
/// does not show it.
///
/// @since 0.1
public final class Secret {
    /// No secret: any peer may connect.
    public static final Secret NONE = new Secret(new byte[0]);

    private static final int BYTES_MIN = 16;
    private static final int BYTES_MAX = 1_024;

    private final byte[] bytes;

    private Secret(byte[] bytes) {
        this.bytes = bytes;
    }

    /// Returns a secret of a copy of `bytes`. No attacker may be able to guess them. A password is not enough:
    /// an attacker who records one attempt to connect can try passwords against it at leisure.
    ///
    /// @param bytes 16 to 1,024
    /// @throws IllegalArgumentException when there are fewer or more
    public static Secret of(byte[] bytes) {
        if (bytes.length < BYTES_MIN || bytes.length > BYTES_MAX) {
            throw new IllegalArgumentException(
                    "secret: " + BYTES_MIN + " to " + BYTES_MAX + " bytes, got " + bytes.length);
        }
        return new Secret(bytes.clone());
    }

    /// Returns whether this is [#NONE].
    public boolean isNone() {
        return bytes.length == 0;
    }

    /// Returns a copy.
    public byte[] bytes() {
        return bytes.clone();
    }

    /// Takes as long wherever the first difference is.
    @Override
    public boolean equals(Object other) {
        return other instanceof Secret secret && MessageDigest.isEqual(bytes, secret.bytes);
    }

    @Override
    public int hashCode() {
        return bytes.length; // the bytes would tell of themselves
    }

    /// Returns a name, and not the bytes.
    @Override
    public String toString() {
        return isNone() ? "no secret" : "a secret of " + bytes.length + " bytes";
    }
}
