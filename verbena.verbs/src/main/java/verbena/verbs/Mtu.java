package verbena.verbs;

/// Path MTU: payload bytes of a full packet (IBTA 4.4, `enum ibv_mtu`). Both ends of a connection use the same.
/// Immutable.
///
/// @since 0.1
public enum Mtu {
    /// 256 bytes.
    MTU_256(256),
    /// 512 bytes.
    MTU_512(512),
    /// 1024 bytes.
    MTU_1024(1024),
    /// 2048 bytes.
    MTU_2048(2048),
    /// 4096 bytes.
    MTU_4096(4096);

    private final int bytes;

    Mtu(int bytes) {
        this.bytes = bytes;
    }

    /// Returns the payload bytes of a full packet.
    public int bytes() {
        return bytes;
    }

    /// Returns the value in messages and in `enum ibv_mtu`: 1 (256) to 5 (4096).
    public int code() {
        return ordinal() + 1;
    }

    /// Returns the MTU of this code.
    ///
    /// @throws IllegalArgumentException when `code` is not 1 to 5
    public static Mtu ofCode(int code) {
        if (code < 1 || code > 5) {
            throw new IllegalArgumentException("mtu code: 1 (256 bytes) to 5 (4096 bytes), got " + code);
        }
        return values()[code - 1];
    }

    /// Returns the MTU of so many bytes.
    ///
    /// @throws IllegalArgumentException when `bytes` is not 256, 512, 1024, 2048 or 4096
    public static Mtu ofBytes(int bytes) {
        for (Mtu mtu : values()) {
            if (mtu.bytes == bytes) {
                return mtu;
            }
        }
        throw new IllegalArgumentException("mtu: 256, 512, 1024, 2048 or 4096 bytes, got " + bytes);
    }

    /// Returns the smaller of two.
    public Mtu min(Mtu other) {
        return compareTo(other) <= 0 ? this : other;
    }

    @Override
    public String toString() {
        return Integer.toString(bytes);
    }
}
