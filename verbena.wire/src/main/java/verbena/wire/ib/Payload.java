package verbena.wire.ib;

/// The numbers of bytes of payload that an opcode allows (IBTA 9.4, 9.7.4.1; the column "payload" of the opcode
/// table).
public enum Payload {
    /// No payload at all.
    NONE(0, 0, false),
    /// Exactly the path MTU.
    FULL_MTU(256, 4096, true),
    /// One byte to the path MTU.
    ONE_TO_MTU(1, 4096, true),
    /// Any number of bytes up to the path MTU.
    ZERO_TO_MTU(0, 4096, true),
    /// Exactly 8 bytes (ATOMIC WRITE, IBTA A19).
    EIGHT(8, 8, false),
    /// Exactly 16 bytes (CNP, IBTA A17.9.3; [SelectiveAck]).
    SIXTEEN(16, 16, false);

    private final int bytesMin;
    private final int bytesMax;
    private final boolean boundedByMtu;

    Payload(int bytesMin, int bytesMax, boolean boundedByMtu) {
        this.bytesMin = bytesMin;
        this.bytesMax = bytesMax;
        this.boundedByMtu = boundedByMtu;
    }

    /// Returns the fewest bytes at the smallest MTU, 256.
    public int bytesMin() {
        return bytesMin;
    }

    /// Returns the most bytes at the largest MTU, 4096.
    public int bytesMax() {
        return bytesMax;
    }

    /// Returns whether `bytes` is right at some MTU.
    public boolean allows(int bytes) {
        return bytes >= bytesMin && bytes <= bytesMax && (this != FULL_MTU || Integer.bitCount(bytes) == 1);
    }

    /// Returns whether `bytes` is right at a path MTU of `mtu` bytes.
    public boolean allows(int bytes, int mtu) {
        return this == FULL_MTU ? bytes == mtu : bytes >= bytesMin && bytes <= (boundedByMtu ? mtu : bytesMax);
    }
}
