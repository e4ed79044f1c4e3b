package verbena.wire.pcap;

/// What [Encapsulation#unwrap] found in a captured packet.
public sealed interface Unwrapped {
    /// A RoCE packet: it is in the frame now, with its addresses, and [verbena.wire.Frame#icrcValid] says whether
    /// its ICRC is right, exactly. Its shape is not yet checked; [verbena.wire.ib.Packet#check(verbena.wire.Frame)]
    /// does.
    ///
    /// @param envelope everything of the headers around it that the frame does not hold
    record Roce(Envelope envelope) implements Unwrapped {}

    /// Something else, or RoCE that cannot be taken out; the frame is untouched.
    record Other(Reason reason) implements Unwrapped {}

    /// Why there is no RoCE packet to be had.
    enum Reason {
        /// A link type that is not among those of [LinkType].
        UNKNOWN_LINK_TYPE,
        /// Neither IP nor RoCE v1.
        OTHER_PROTOCOL,
        /// IP, but not UDP to port 4791.
        OTHER_PORT,
        /// The packet ends before its headers do, or before their lengths say.
        TRUNCATED,
        /// IP, UDP or GRH lengths that contradict one another.
        BAD_LENGTH,
        /// A fragment of an IPv4 packet.
        FRAGMENT,
        /// An IPv4 header with options, which RoCE v2 forbids (IBTA A17.3.1).
        IPV4_OPTIONS,
        /// Shorter than BTH and ICRC.
        TOO_SHORT,
        /// Longer than a frame can hold.
        TOO_LONG
    }
}
