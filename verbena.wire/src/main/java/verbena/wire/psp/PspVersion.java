package verbena.wire.psp;

import org.jspecify.annotations.Nullable;

/// The protection of a packet of PSP: the four bits of its header. Others are reserved.
public enum PspVersion {
    AES_GCM_128(16, true),
    AES_GCM_256(32, true),
    /// Authenticated only. The specification does not name the label that its key is derived with.
    AES_GMAC_128(16, false),
    /// Authenticated only, with a longer key.
    AES_GMAC_256(32, false);

    private static final PspVersion[] ALL = values();

    private final int keyBytes;
    private final boolean encrypts;

    PspVersion(int keyBytes, boolean encrypts) {
        this.keyBytes = keyBytes;
        this.encrypts = encrypts;
    }

    /// Finds the version with this number; null when it is reserved.
    public static @Nullable PspVersion of(int number) {
        return number < 0 || number >= ALL.length ? null : ALL[number];
    }

    /// Returns the number in the header.
    public int number() {
        return ordinal();
    }

    public int keyBytes() {
        return keyBytes;
    }

    /// Returns whether the bytes behind the crypt offset are encrypted; otherwise all bytes are in the clear.
    public boolean encrypts() {
        return encrypts;
    }
}
