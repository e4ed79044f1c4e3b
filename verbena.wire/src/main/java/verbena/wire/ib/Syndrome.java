package verbena.wire.ib;

/// The AETH's first byte: an ACK with credits, an RNR NAK with a timer, or a NAK with a reason (IBTA 9.7.5.2, table
/// 45). A syndrome is an `int` in `0..255`.
public final class Syndrome {
    /// The kind of a syndrome, whatever its value part.
    public enum Kind {
        ACK,
        RNR_NAK,
        NAK,
        /// An undefined value.
        RESERVED
    }

    /// ACK without end-to-end flow control: what Verbena and soft-RoCE send.
    public static final int ACK = 0x1F;
    /// NAK: the packet with the acknowledgement's PSN is missing.
    public static final int NAK_SEQUENCE = 0x60;
    /// NAK: the request makes no sense here.
    public static final int NAK_INVALID_REQUEST = 0x61;
    /// NAK: key, bounds or permission.
    public static final int NAK_REMOTE_ACCESS = 0x62;
    /// NAK: the responder has trouble of its own.
    public static final int NAK_REMOTE_OPERATIONAL = 0x63;
    /// NAK: invalid reliable datagram request.
    public static final int NAK_INVALID_RD_REQUEST = 0x64;
    /// The credit code of a responder that does not use credits.
    public static final int CREDITS_UNUSED = 0x1F;

    private static final int RNR = 0x20;
    private static final int VALUE_MASK = 0x1F;
    private static final int TYPE_SHIFT = 5;

    private Syndrome() {}

    public static Kind kind(int syndrome) {
        return switch (syndrome >>> TYPE_SHIFT) {
            case 0 -> Kind.ACK;
            case 1 -> Kind.RNR_NAK;
            case 3 -> syndrome <= NAK_INVALID_RD_REQUEST ? Kind.NAK : Kind.RESERVED;
            default -> Kind.RESERVED;
        };
    }

    /// Returns whether the syndrome is an ACK, with any credit count, zero included.
    public static boolean isAck(int syndrome) {
        return syndrome >>> TYPE_SHIFT == 0;
    }

    public static boolean isRnrNak(int syndrome) {
        return syndrome >>> TYPE_SHIFT == 1;
    }

    /// Returns whether the syndrome is one of the five defined NAKs; an RNR NAK is none of them.
    public static boolean isNak(int syndrome) {
        return kind(syndrome) == Kind.NAK;
    }

    /// Returns the RNR NAK that asks for a wait of `timerCode`, `0..31`, a code of IBTA table 46.
    public static int rnrNak(int timerCode) {
        return RNR | (timerCode & VALUE_MASK);
    }

    /// Returns the timer code of an RNR NAK, or the credit code of an ACK: the five low bits.
    public static int value(int syndrome) {
        return syndrome & VALUE_MASK;
    }

    /// Returns the syndrome in the packet notation: `ACK`, `ACK credits 7` (a code), `RNR timer 20`, `NAK
    /// sequence`, `syndrome 0x41`.
    public static String text(int syndrome) {
        return switch (kind(syndrome)) {
            case ACK -> syndrome == ACK ? "ACK" : "ACK credits " + value(syndrome);
            case RNR_NAK -> "RNR timer " + value(syndrome);
            case NAK -> "NAK " + nakText(syndrome);
            case RESERVED -> "syndrome 0x%02x".formatted(syndrome);
        };
    }

    private static String nakText(int syndrome) {
        return switch (syndrome) {
            case NAK_SEQUENCE -> "sequence";
            case NAK_INVALID_REQUEST -> "invalid-request";
            case NAK_REMOTE_ACCESS -> "access";
            case NAK_REMOTE_OPERATIONAL -> "operational";
            default -> "invalid-rd-request";
        };
    }
}
