package verbena.wire.iwarp;

import org.jspecify.annotations.Nullable;

/// Reasons for the end of a connection: layer, type and code of a TERMINATE (RFC 5040 4.8, RFC 5041 8, RFC 5044 8,
/// RFC 6581 8; IANA's registry "Remote Direct Data Placement").
public enum TerminateCode {
    LOCAL_CATASTROPHIC(0, 0, 0x00, "a local catastrophic error"),
    INVALID_STAG(0, 1, 0x00, "the STag is not valid"),
    BOUNDS(0, 1, 0x01, "the range is not inside the region"),
    ACCESS(0, 1, 0x02, "the region does not grant this right"),
    STAG_NOT_ASSOCIATED(0, 1, 0x03, "the STag is not for this connection"),
    OFFSET_WRAP(0, 1, 0x04, "the tagged offset wraps around"),
    CANNOT_INVALIDATE(0, 1, 0x09, "the STag cannot be invalidated"),
    PROTECTION_UNSPECIFIED(0, 1, 0xFF, "an unspecified remote protection error"),
    RDMAP_VERSION(0, 2, 0x05, "not version 1 of RDMAP"),
    UNEXPECTED_OPCODE(0, 2, 0x06, "an opcode that is not expected"),
    CATASTROPHIC_STREAM(0, 2, 0x07, "a catastrophic error of this connection"),
    CATASTROPHIC_GLOBAL(0, 2, 0x08, "a catastrophic error of the device"),
    OPERATION_UNSPECIFIED(0, 2, 0xFF, "an unspecified remote operation error"),

    DDP_CATASTROPHIC(1, 0, 0x00, "a local catastrophic error of DDP"),
    TAGGED_INVALID_STAG(1, 1, 0x00, "the STag is not valid"),
    TAGGED_BOUNDS(1, 1, 0x01, "the range is not inside the region"),
    TAGGED_NOT_ASSOCIATED(1, 1, 0x02, "the STag is not for this connection"),
    TAGGED_OFFSET_WRAP(1, 1, 0x03, "the tagged offset wraps around"),
    TAGGED_VERSION(1, 1, 0x04, "not version 1 of DDP"),
    UNTAGGED_QUEUE(1, 2, 0x01, "there is no such queue"),
    UNTAGGED_NO_BUFFER(1, 2, 0x02, "no buffer is posted for the message"),
    UNTAGGED_MSN_RANGE(1, 2, 0x03, "the number of the message is out of range"),
    UNTAGGED_OFFSET(1, 2, 0x04, "the message offset is not the one that follows"),
    UNTAGGED_TOO_LONG(1, 2, 0x05, "the message is longer than its buffer"),
    UNTAGGED_VERSION(1, 2, 0x06, "not version 1 of DDP"),

    STREAM_LOST(2, 0, 0x01, "the TCP connection is lost"),
    CRC(2, 0, 0x02, "the CRC of an FPDU is wrong"),
    FRAMING(2, 0, 0x03, "markers and lengths of FPDUs do not agree"),
    START_UP(2, 0, 0x04, "the request or reply of MPA is not valid"),
    MPA_CATASTROPHIC(2, 0, 0x05, "a local catastrophic error of MPA"),
    INSUFFICIENT_IRD(2, 0, 0x06, "too few READs can be served"),
    NO_MATCHING_RTR(2, 0, 0x07, "no common ready-to-receive message");

    private static final TerminateCode[] ALL = values();

    private final int layer;
    private final int type;
    private final int code;
    private final String explanation;

    TerminateCode(int layer, int type, int code, String explanation) {
        this.layer = layer;
        this.type = type;
        this.code = code;
        this.explanation = explanation;
    }

    /// Returns the reason with these numbers, or null when there is none. A local catastrophic error takes any
    /// code.
    public static @Nullable TerminateCode of(int layer, int type, int code) {
        for (TerminateCode each : ALL) {
            if (each.layer == layer && each.type == type && (each.code == code || (layer < 2 && type == 0))) {
                return each;
            }
        }
        return null;
    }

    /// Returns the layer: 0 RDMAP, 1 DDP, 2 the layer below.
    public int layer() {
        return layer;
    }

    public int type() {
        return type;
    }

    public int code() {
        return code;
    }

    /// Returns a clause that explains the fault to a person.
    public String explanation() {
        return explanation;
    }
}
