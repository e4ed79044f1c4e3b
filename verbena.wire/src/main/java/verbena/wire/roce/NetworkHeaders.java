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
    /// What [#read] found is not RoCE, or not of this kind.
    int FOREIGN = -1;
    /// What [#read] found has lengths or fields that cannot be.
    int MALFORMED = -2;

    /// The hop limit of a packet that has none of its own.
    int HOP_LIMIT_DEFAULT = 64;
    /// The hop limit of a multicast that has none of its own (RFC 1112, 6.1).
    int GROUP_HOP_LIMIT_DEFAULT = 1;

    /// The length of the smallest packet: BTH and ICRC.
    int PACKET_MIN = Bth.BYTES + 4;

    /// The type in the Ethernet header of a departing packet.
    int etherType(Frame frame);

    /// How many bytes [#write] writes.
    int bytes(Frame frame);

    /// Makes a departing packet one of this kind, and writes its ICRC.
    void seal(Frame frame);

    /// Writes the headers right before a sealed packet in its own slot.
    void write(Frame frame);

    /// Reads headers. What they say of the packet is in the frame then, and its length; its bytes stay where
    /// they are. Bytes behind the length that the headers tell are padding.
    ///
    /// @param etherType what the Ethernet header says of them
    /// @param at the first byte behind the Ethernet header
    /// @param end behind the last byte
    /// @return where the packet begins, [#FOREIGN] or [#MALFORMED]
    int read(int etherType, MemorySegment memory, int at, int end, Frame frame);

    /// Whether the ICRC is right, exactly: with the headers of the last [#read], and those of [#write] before
    /// any.
    boolean verify(Frame frame);

    /// Whether a packet has this length and there are so many bytes.
    static boolean isPossible(int length, int there) {
        return length >= PACKET_MIN && length <= Frame.PACKET_MAX && length <= there;
    }

    /// The hop limit that a departing packet gets.
    static int hopLimit(Frame frame) {
        if (frame.hopLimit != 0) {
            return frame.hopLimit;
        }
        return RoceV2.isMulticast(frame.destinationHigh, frame.destinationLow)
                ? GROUP_HOP_LIMIT_DEFAULT
                : HOP_LIMIT_DEFAULT;
    }
}
