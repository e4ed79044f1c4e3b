package verbena.wire.ib;

/// What [Packet#check(verbena.wire.Frame)] found wrong with a packet, in the order in which it looks.
public enum Malformed {
    /// Nothing: every getter of every header of the opcode is safe.
    OK,
    /// Shorter than BTH and ICRC.
    TOO_SHORT,
    /// Longer than a frame can be.
    TOO_LONG,
    /// A transport header version other than 0 (IBTA 9.6.1.1: silently dropped).
    BAD_VERSION,
    /// An undefined opcode.
    UNKNOWN_OPCODE,
    /// Not a multiple of 4 bytes, or headers, pad and ICRC alone are longer than the packet.
    BAD_LENGTH,
    /// Padding where the opcode has no payload that could need it.
    BAD_PAD,
    /// Payload where the opcode has none, or a CNP without its 16 bytes.
    BAD_PAYLOAD
}
