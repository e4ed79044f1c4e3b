package verbena.wire.pcap;

import java.lang.foreign.MemorySegment;

/// The content that [Encapsulation#unwrap] found in a captured packet.
public sealed interface Unwrapped {
    /// A RoCE packet: it is in the frame now, with its addresses. [verbena.wire.Frame#icrcValid] is true when its
    /// ICRC is right, exactly. Its shape is not yet checked; [verbena.wire.ib.Packet#check(verbena.wire.Frame)]
    /// does.
    ///
    /// @param envelope everything of the headers around it that the frame does not hold
    record Roce(Envelope envelope) implements Unwrapped {}

    /// A RoCE packet that the capture has cut somewhere behind its headers. They are in the frame, with its
    /// addresses and the length of the whole packet; its payload is not, and whether its ICRC was right is not
    /// known: [verbena.wire.Frame#icrcValid] is true.
    record Part(Envelope envelope) implements Unwrapped {}

    /// A segment of TCP, which may carry iWARP; the frame is untouched.
    ///
    /// @param sourceHigh upper half of the sender's GID, as [verbena.wire.Frame#sourceHigh]
    /// @param sequence number of its first octet
    /// @param acknowledgement number of the octet that its sender waits for, with [#ACK]
    /// @param flags [#FIN], [#SYN], [#RST], [#ACK], and others
    /// @param payloadBytes by its headers
    /// @param payload the part of that in the capture: a part of the captured bytes, not a copy
    record Tcp(
            long sourceHigh,
            long sourceLow,
            int sourcePort,
            long destinationHigh,
            long destinationLow,
            int destinationPort,
            int sequence,
            int acknowledgement,
            int flags,
            int payloadBytes,
            MemorySegment payload)
            implements Unwrapped {
        public static final int FIN = 1;
        public static final int SYN = 1 << 1;
        public static final int RST = 1 << 2;
        public static final int ACK = 1 << 4;

        public boolean has(int flag) {
            return (flags & flag) != 0;
        }
    }

    /// Something else, or RoCE that cannot be taken out; the frame is untouched.
    ///
    /// @param what a name of the header that was not taken off, for [Reason#OTHER_PROTOCOL] and
    ///     [Reason#OTHER_PORT]; empty for others
    record Other(Reason reason, String what) implements Unwrapped {}

    /// Reasons why no RoCE packet can be taken out.
    enum Reason {
        /// A link type that is not among those of [LinkType].
        UNKNOWN_LINK_TYPE,
        /// Neither IP nor RoCE v1, or behind a header that is not taken off.
        OTHER_PROTOCOL,
        /// IP, but neither UDP to port 4791 nor TCP, nor a tunnel that is taken off.
        OTHER_PORT,
        /// The packet ends before its headers do, or before the end that their lengths give.
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
