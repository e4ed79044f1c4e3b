package verbena.sim.ethernet;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/// The fields that a switch reads in an Ethernet frame, and the mark that it writes. Every method takes any bytes: a
/// frame that is cut short has the fields that are there.
final class FrameHeaders {
    /// Two addresses and a type.
    static final int MAC_BYTES = 14;
    /// The shortest frame, without check sequence.
    static final int FRAME_MIN = 60;
    /// The offset of the sender's address.
    static final int SOURCE = 6;

    private static final ValueLayout.OfShort SHORT = JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int TYPE = 12;
    private static final int TAG_BYTES = 4;
    private static final int TAG = 0x8100;
    private static final int IPV4 = 0x0800;
    private static final int IPV6 = 0x86DD;
    private static final int ROCE_V1 = 0x8915;
    private static final int TCP = 6;
    private static final int UDP = 17;
    private static final int IPV4_BYTES = 20;
    private static final int IPV6_BYTES = 40;
    /// The value for not capable of marks, and the mark itself (RFC 3168, 5).
    private static final int NOT_ECT = 0;
    private static final int CE = 3;

    private FrameHeaders() {}

    static long mac(MemorySegment frame, int at) {
        return (long) u16(frame, at) << 32 | (long) u16(frame, at + 2) << 16 | u16(frame, at + 4);
    }

    static boolean isGroup(long mac) {
        return (mac >>> 40 & 1) != 0;
    }

    /// Returns the priority, 0 to 7.
    static int priority(MemorySegment frame, int length) {
        if (u16(frame, TYPE) == TAG && length >= MAC_BYTES + TAG_BYTES) {
            return u16(frame, MAC_BYTES) >>> 13;
        }
        return trafficClass(frame, length) >>> 5;
    }

    static boolean isMarkable(MemorySegment frame, int length) {
        return (trafficClass(frame, length) & CE) != NOT_ECT;
    }

    /// Writes the mark; does nothing to a frame that is not [markable][#isMarkable].
    static void mark(MemorySegment frame, int length) {
        if (!isMarkable(frame, length)) {
            return;
        }
        int at = network(frame, length);
        if (type(frame, length) == IPV4) {
            int before = u16(frame, at);
            int after = before | CE;
            frame.set(SHORT, at, (short) after);
            frame.set(SHORT, at + 10, (short) checksum(u16(frame, at + 10), before, after));
        } else {
            frame.set(SHORT, at, (short) (u16(frame, at) | CE << 4));
        }
    }

    /// Returns a checksum after one word has changed (RFC 1624).
    private static int checksum(int old, int before, int after) {
        int sum = (~old & 0xFFFF) + (~before & 0xFFFF) + after;
        sum = (sum & 0xFFFF) + (sum >>> 16);
        sum = (sum & 0xFFFF) + (sum >>> 16);
        return ~sum & 0xFFFF;
    }

    /// Returns a number that is the same for all frames of a flow: of addresses and ports, where there are any.
    static int flow(MemorySegment frame, int length) {
        int at = network(frame, length);
        int hash = 0;
        switch (type(frame, length)) {
            case IPV4 -> {
                if (length < at + IPV4_BYTES) {
                    break;
                }
                hash = hash(frame, at + 12, 8, hash);
                boolean isFragment = (u16(frame, at + 6) & 0x3FFF) != 0;
                int header = (frame.get(JAVA_BYTE, at) & 0xF) * 4;
                hash = isFragment ? hash : ports(frame, length, frame.get(JAVA_BYTE, at + 9), at + header, hash);
            }
            case IPV6 -> {
                if (length < at + IPV6_BYTES) {
                    break;
                }
                hash = hash(frame, at + 8, 32, hash);
                hash = ports(frame, length, frame.get(JAVA_BYTE, at + 6), at + IPV6_BYTES, hash);
            }
            // The addresses are those of a GRH, which has the shape of an IPv6 header; the flow is its flow label.
            case ROCE_V1 -> hash = length < at + IPV6_BYTES ? hash : hash(frame, at + 8, 32, u16(frame, at + 2));
            default -> hash = hash(frame, 0, 2 * SOURCE, hash);
        }
        return hash;
    }

    private static int ports(MemorySegment frame, int length, int protocol, int at, int hash) {
        return (protocol == TCP || protocol == UDP) && length >= at + 4 ? hash(frame, at, 4, hash) : hash;
    }

    private static int hash(MemorySegment frame, int at, int bytes, int hash) {
        int result = hash;
        for (int i = 0; i < bytes; i += 2) {
            result = (result ^ u16(frame, at + i)) * 0x0100_0193;
        }
        return result;
    }

    /// Returns the eight bits with DSCP and ECN; 0 for a frame that is not IP.
    private static int trafficClass(MemorySegment frame, int length) {
        int at = network(frame, length);
        return switch (type(frame, length)) {
            case IPV4 -> length < at + IPV4_BYTES ? 0 : frame.get(JAVA_BYTE, at + 1) & 0xFF;
            case IPV6 -> length < at + IPV6_BYTES ? 0 : u16(frame, at) >>> 4 & 0xFF;
            default -> 0;
        };
    }

    private static int type(MemorySegment frame, int length) {
        int at = network(frame, length) - 2;
        return length < at + 2 ? 0 : u16(frame, at);
    }

    /// Returns the offset of the network's header: behind the type.
    private static int network(MemorySegment frame, int length) {
        return u16(frame, TYPE) == TAG && length >= MAC_BYTES + TAG_BYTES ? MAC_BYTES + TAG_BYTES : MAC_BYTES;
    }

    private static int u16(MemorySegment frame, int at) {
        return frame.get(SHORT, at) & 0xFFFF;
    }
}
