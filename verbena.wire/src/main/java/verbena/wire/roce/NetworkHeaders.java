package verbena.wire.roce;

import java.lang.foreign.MemorySegment;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;

/// The headers between that of Ethernet and the packet, where Verbena writes and reads them itself:
/// [GrhHeaders] of RoCE v1, [UdpHeaders] of RoCE v2.
///
/// A departing packet is sealed first and gets its headers then, because the masked headers that the ICRC
/// covers stand at the same place. One owner; allocates nothing for a packet.
public sealed interface NetworkHeaders permits GrhHeaders, UdpHeaders {
    /// The result of [#read] for packets that are not RoCE, or not of this kind.
    int FOREIGN = -1;
    /// The result of [#read] for packets whose lengths or fields contradict each other.
    int MALFORMED = -2;

    /// The hop limit of a packet that has none of its own.
    int HOP_LIMIT_DEFAULT = 64;
    /// The hop limit of a multicast that has none of its own (RFC 1112, 6.1).
    int GROUP_HOP_LIMIT_DEFAULT = 1;

    /// The length of the smallest packet: BTH and ICRC.
    int PACKET_MIN = Bth.BYTES + 4;

    /// Returns the type in the Ethernet header of a departing packet.
    int etherType(Frame frame);

    /// Returns the number of bytes that [#write] writes.
    int bytes(Frame frame);

    /// Turns a departing packet into a packet of this kind, and writes its ICRC.
    void seal(Frame frame);

    /// Writes the headers right before a sealed packet in its own slot.
    void write(Frame frame);

    /// Reads headers. Their fields are in the frame then, and the packet's length; its bytes stay where they are.
    /// Bytes behind the length that the headers give are padding.
    ///
    /// @param etherType their type in the Ethernet header
    /// @param at the first byte behind the Ethernet header
    /// @param end behind the last byte
    /// @return where the packet begins, [#FOREIGN] or [#MALFORMED]
    int read(int etherType, MemorySegment memory, int at, int end, Frame frame);

    /// Returns whether the ICRC is right, exactly: with the headers of the last [#read], and those of [#write]
    /// before any.
    boolean verify(Frame frame);

    /// Returns whether a packet can have this length, when `there` bytes are available.
    static boolean isPossible(int length, int there) {
        return length >= PACKET_MIN && length <= Frame.PACKET_MAX && length <= there;
    }

    /// Returns the hop limit of a departing packet.
    static int hopLimit(Frame frame) {
        if (frame.hopLimit != 0) {
            return frame.hopLimit;
        }
        return RoceV2.isMulticast(frame.destinationHigh, frame.destinationLow)
                ? GROUP_HOP_LIMIT_DEFAULT
                : HOP_LIMIT_DEFAULT;
    }
}
