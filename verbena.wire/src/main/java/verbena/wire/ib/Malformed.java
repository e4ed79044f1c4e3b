package verbena.wire.ib;

/// Faults that [Packet#check(verbena.wire.Frame)] finds in a packet, in the order of its checks.
public enum Malformed {
    /// No fault: every getter of every header of the opcode is safe.
    OK,
    /// Shorter than BTH and ICRC.
    TOO_SHORT,
    /// Longer than a frame can be.
    TOO_LONG,
    /// A transport header version other than 0 (IBTA 9.6.1.1: silently dropped).
    BAD_VERSION,
    /// An undefined opcode.
    UNKNOWN_OPCODE,
    /// A length that is no multiple of 4 bytes, or a packet shorter than its headers, pad and ICRC.
    BAD_LENGTH,
    /// Padding where the opcode has no payload that could need it.
    BAD_PAD,
    /// Payload where the opcode has none, or a CNP without its 16 bytes.
    BAD_PAYLOAD
}
