package verbena.wire.mad;

import java.lang.foreign.MemorySegment;

/// The header of subnet administration, behind that of [Rmpp] (IBTA 15.2.1.1).
public final class Sa {
    /// Size of all headers together, in bytes.
    public static final int HEADER_BYTES = 56;
    /// Size of the attribute in each datagram, in bytes.
    public static final int DATA_BYTES = 200;
    /// The bytes of this header that [Rmpp#PAYLOAD_LENGTH] counts beside the attribute.
    public static final int OWN_HEADER_BYTES = 20;

    /// Status: no room for more.
    public static final int STATUS_NO_RESOURCES = 0x0100;
    /// Status: a wrong request.
    public static final int STATUS_REQUEST_INVALID = 0x0200;
    /// Status: nothing matches.
    public static final int STATUS_NO_RECORDS = 0x0300;
    /// Status: a Get, and more than one record matches.
    public static final int STATUS_TOO_MANY_RECORDS = 0x0400;
    /// Status: no port has this GID.
    public static final int STATUS_INVALID_GID = 0x0500;
    /// Status: the request lacks a component that it needs.
    public static final int STATUS_INSUFFICIENT_COMPONENTS = 0x0600;
    /// Status: not allowed.
    public static final int STATUS_DENIED = 0x0700;

    public static final Field SM_KEY = Field.of(36, 64);
    /// Distance from record to record, in units of 8 bytes.
    public static final Field ATTRIBUTE_OFFSET = Field.of(44, 16);
    /// The mask of the attribute's components that the answers have to match: bit n is component n.
    public static final Field COMPONENT_MASK = Field.of(48, 64);

    private Sa() {}

    /// Returns the attribute.
    public static MemorySegment data(MemorySegment mad) {
        return mad.asSlice(HEADER_BYTES, DATA_BYTES);
    }

    /// Writes the headers of a request, and zeroes behind them.
    public static void write(MemorySegment mad, int method, long transactionId, int attributeId, long componentMask) {
        Mad.write(
                mad,
                Mad.CLASS_SUBNET_ADMINISTRATION,
                Mad.SUBNET_ADMINISTRATION_VERSION,
                method,
                transactionId,
                attributeId,
                0);
        COMPONENT_MASK.put(mad, componentMask);
    }
}
