package verbena.wire.roce;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;

/// The header of an Ethernet frame (IEEE 802.3), one VLAN tag (IEEE 802.1Q), and the addresses that GIDs stand
/// for. Addresses are the low 48 bits of a `long`.
public final class Ethernet {
    /// Size of the header without a tag, in bytes.
    public static final int BYTES = 14;
    /// Size of a tag, in bytes: it stands before the type.
    public static final int TAG_BYTES = 4;

    public static final int TYPE_IPV4 = 0x0800;
    public static final int TYPE_IPV6 = 0x86DD;
    /// The type of a VLAN tag.
    public static final int TYPE_VLAN = 0x8100;
    /// The type of an outer tag (IEEE 802.1ad).
    public static final int TYPE_SERVICE_VLAN = 0x88A8;

    /// No tag.
    public static final int NO_TAG = -1;
    /// The number of the VLAN in a tag; 0 for a tag that has a priority only.
    public static final int VLAN_MASK = 0xFFF;

    private static final int SOURCE = 6;
    private static final int TYPE = 12;
    private static final int PRIORITY_SHIFT = 13;

    private static final long MAC_MASK = 0xFFFF_FFFF_FFFFL;
    private static final long LINK_LOCAL = 0xFE80_0000_0000_0000L;
    private static final long EUI_64 = 0xFF_FE00_0000L; // between the halves of the address
    private static final long EUI_64_MASK = 0xFF_FF00_0000L;
    private static final long LOCAL_BIT = 0x0200_0000_0000_0000L; // inverted in an EUI-64
    private static final long IPV6_GROUPS = 0x3333_0000_0000L;
    private static final long IPV4_GROUPS = 0x0100_5E00_0000L;

    private Ethernet() {}

    public static long destination(MemorySegment segment, long offset) {
        return BigEndian.i64(segment, offset) >>> 16;
    }

    public static long source(MemorySegment segment, long offset) {
        return BigEndian.i64(segment, offset + SOURCE - 2) & MAC_MASK;
    }

    /// Returns the type, or that of the first tag.
    public static int type(MemorySegment segment, long offset) {
        return BigEndian.u16(segment, offset + TYPE);
    }

    /// Returns a tag of this VLAN, with the priority of a service level (IBTA A16.4.2 leaves the mapping open;
    /// Linux takes the same number).
    public static int tag(int vlan, int serviceLevel) {
        return (serviceLevel & 7) << PRIORITY_SHIFT | vlan;
    }

    /// Returns the number of bytes of a header.
    public static int bytes(int tag) {
        return tag == NO_TAG ? BYTES : BYTES + TAG_BYTES;
    }

    /// Writes a header.
    ///
    /// @param tag [#NO_TAG] for none
    public static void write(MemorySegment segment, long offset, long destination, long source, int tag, int type) {
        BigEndian.put64(segment, offset, destination << 16 | source >>> 32);
        BigEndian.put32(segment, offset + 8, (int) source);
        long at = offset + TYPE;
        if (tag != NO_TAG) {
            BigEndian.put32(segment, at, TYPE_VLAN << 16 | tag);
            at += TAG_BYTES;
        }
        BigEndian.put16(segment, at, type);
    }

    /// Returns the low half of the link-local GID of an address: its EUI-64 (RFC 4291, appendix A).
    public static long interfaceId(long mac) {
        return (((mac >>> 24) << 40) ^ LOCAL_BIT) | EUI_64 | (mac & 0xFF_FFFF);
    }

    /// Returns the high half of a link-local GID.
    public static long linkLocalPrefix() {
        return LINK_LOCAL;
    }

    /// Returns whether a GID is made from an address.
    public static boolean isOfMac(long gidHigh, long gidLow) {
        return gidHigh == LINK_LOCAL && (gidLow & EUI_64_MASK) == EUI_64;
    }

    /// Returns the address that a GID was made from.
    public static long macOf(long gidLow) {
        return ((gidLow ^ LOCAL_BIT) >>> 40 << 24) | (gidLow & 0xFF_FFFF);
    }

    /// Returns the address of a multicast group (RFC 1112, 6.4; RFC 2464, 7).
    public static long groupMac(long gidHigh, long gidLow) {
        return RoceV2.isIpv4(gidHigh, gidLow)
                ? IPV4_GROUPS | (gidLow & 0x7F_FFFF)
                : IPV6_GROUPS | (gidLow & 0xFFFF_FFFFL);
    }

    /// Returns whether frames to an address go to a group, or to all.
    public static boolean isGroup(long mac) {
        return (mac >>> 40 & 1) != 0;
    }
}
