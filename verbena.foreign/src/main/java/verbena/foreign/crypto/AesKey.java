package verbena.foreign.crypto;

import java.util.Arrays;

/// A key of AES, and where libcrypto has last had a context for it.
final class AesKey {
    static final int BYTES_SHORT = 16;
    static final int BYTES_LONG = 32;

    final byte[] bytes;
    /// The place among the contexts.
    int place;

    /// @throws IllegalArgumentException when it has another length
    AesKey(byte[] bytes) {
        if (bytes.length != BYTES_SHORT && bytes.length != BYTES_LONG) {
            throw new IllegalArgumentException("key: 16 or 32 bytes, got " + bytes.length);
        }
        this.bytes = bytes.clone();
    }

    void forget() {
        Arrays.fill(bytes, (byte) 0);
    }
}
