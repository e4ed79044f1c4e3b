package verbena.wire.psp;

import java.lang.foreign.MemorySegment;
import verbena.wire.BigEndian;
import verbena.wire.InternetChecksum;
import verbena.wire.roce.RoceV2;

/// Packets of IP around PSP, where all headers from IP on are ours to read and write: they are put into PSP and
/// taken out where they lie. In transport mode a packet keeps its header of IP; in tunnel mode the whole packet
/// is the text, and a copy of its header stands before it. No extension headers of IPv6; no allocation.
public final class PspIp {
    /// The most bytes that [#seal] writes before a packet.
    public static final int ROOM_BEFORE = 60 + 8 + PspHeader.BYTES; // the longest header of IPv4
    /// The answer of [#find] for a packet that is no PSP.
    public static final int NOT_PSP = -1;
    /// The answer of [#find] when lengths contradict one another.
    public static final int BAD_LENGTH = -2;
    /// The answer of [#strip] when the header names IP as the next header, and no IP follows.
    public static final int NOT_IP = -3;

    private static final int IPV4_IN_IP = 4;
    private static final int IPV6_IN_IP = 41;
    private static final int IPV4_BYTES = 20;
    private static final int IPV6_BYTES = 40;

    private PspIp() {}

    /// Finds the header of PSP in a packet of IP; how long all of PSP is stands in UDP ([#bytes]).
    ///
    /// @param ip where its header begins
    /// @param end of what is there of the packet
    /// @param port of UDP that is PSP's
    public static long find(MemorySegment memory, long ip, long end, int port) {
        if (end < ip + IPV4_BYTES) {
            return NOT_PSP;
        }
        boolean isIpv4 = isIpv4(memory, ip);
        if (!isIpv4 && (end < ip + IPV6_BYTES || BigEndian.u8(memory, ip) >>> 4 != 6)) {
            return NOT_PSP;
        }
        long udp = ip + headerBytes(memory, ip);
        int protocol = BigEndian.u8(memory, ip + (isIpv4 ? 9 : 6));
        boolean isFragment = isIpv4 && (BigEndian.u16(memory, ip + 6) & RoceV2.FRAGMENT_BITS) != 0;
        if (protocol != RoceV2.PROTOCOL_UDP || isFragment || udp < ip + IPV4_BYTES || udp + RoceV2.UDP_BYTES > end) {
            return NOT_PSP;
        }
        if (BigEndian.u16(memory, udp + 2) != port) {
            return NOT_PSP;
        }
        int udpBytes = BigEndian.u16(memory, udp + 4);
        long ipBytes = isIpv4 ? BigEndian.u16(memory, ip + 2) - (udp - ip) : BigEndian.u16(memory, ip + 4);
        return udpBytes != ipBytes || udpBytes < RoceV2.UDP_BYTES ? BAD_LENGTH : udp + RoceV2.UDP_BYTES;
    }

    /// Returns the length of a packet of PSP that [#find] has found, by its UDP header; fewer bytes may be there.
    public static int bytes(MemorySegment memory, long psp) {
        return BigEndian.u16(memory, psp - RoceV2.UDP_BYTES + 4) - RoceV2.UDP_BYTES;
    }

    /// Takes the text of an opened packet out: moves what is before it up to it. Answers where the packet begins
    /// then, that is `from` moved, or [#NOT_IP], with nothing moved.
    ///
    /// @param from where the headers before IP begin
    /// @param ip where IP begins
    /// @param psp as [#find] has found it
    public static long strip(MemorySegment memory, long from, long ip, long psp) {
        int nextHeader = PspHeader.nextHeader(memory, psp);
        long text = psp + PspHeader.bytes(memory, psp);
        long textBytes = psp + bytes(memory, psp) - PspHeader.ICV_BYTES - text;
        if (nextHeader == IPV4_IN_IP || nextHeader == IPV6_IN_IP) {
            boolean isIpv4 = nextHeader == IPV4_IN_IP;
            if (textBytes < (isIpv4 ? IPV4_BYTES : IPV6_BYTES)
                    || BigEndian.u8(memory, text) >>> 4 != (isIpv4 ? 4 : 6)) {
                return NOT_IP;
            }
            MemorySegment.copy(memory, from, memory, text - (ip - from), ip - from);
            return text - (ip - from);
        }
        long header = headerBytes(memory, ip);
        long moved = text - header - ip;
        MemorySegment.copy(memory, from, memory, from + moved, ip + header - from);
        writeLengths(memory, ip + moved, nextHeader, (int) textBytes);
        return from + moved;
    }

    /// Puts a packet of UDP in IP into PSP: moves what is before its text down, [#ROOM_BEFORE] at most, and
    /// writes an ICV of [PspHeader#ICV_BYTES] behind it. Answers where it begins then, that is `from` moved. The
    /// checksum of UDP is 0.
    ///
    /// @param from where the headers before IP begin
    /// @param ip where IP begins
    /// @param isTunnel whether all of the packet is the text, and not only what is behind its header of IP
    /// @param sourcePort of UDP around PSP, the same for packets that may not overtake each other
    public static long seal(
            MemorySegment memory, long from, long ip, boolean isTunnel, int sourcePort, PspSealer sealer) {
        boolean isIpv4 = isIpv4(memory, ip);
        long header = headerBytes(memory, ip);
        long all = isIpv4 ? BigEndian.u16(memory, ip + 2) : IPV6_BYTES + BigEndian.u16(memory, ip + 4);
        int nextHeader = isTunnel ? isIpv4 ? IPV4_IN_IP : IPV6_IN_IP : RoceV2.PROTOCOL_UDP;
        long text = isTunnel ? ip : ip + header;
        long moved = RoceV2.UDP_BYTES + PspHeader.BYTES + (isTunnel ? header : 0);
        MemorySegment.copy(memory, from, memory, from - moved, ip + header - from);
        long psp = text - PspHeader.BYTES;
        int bytes = sealer.seal(memory, psp, nextHeader, (int) (ip + all - text));
        long udp = psp - RoceV2.UDP_BYTES;
        BigEndian.put16(memory, udp, sourcePort);
        BigEndian.put16(memory, udp + 2, PspHeader.UDP_PORT);
        BigEndian.put16(memory, udp + 4, RoceV2.UDP_BYTES + bytes);
        BigEndian.put16(memory, udp + 6, 0);
        writeLengths(memory, ip - moved, RoceV2.PROTOCOL_UDP, RoceV2.UDP_BYTES + bytes);
        return from - moved;
    }

    /// Returns whether a header of IP is that of IPv4.
    public static boolean isIpv4(MemorySegment memory, long ip) {
        return BigEndian.u8(memory, ip) >>> 4 == 4;
    }

    private static int headerBytes(MemorySegment memory, long ip) {
        return isIpv4(memory, ip) ? 4 * (BigEndian.u8(memory, ip) & 0xF) : IPV6_BYTES;
    }

    private static void writeLengths(MemorySegment memory, long ip, int protocol, int textBytes) {
        if (isIpv4(memory, ip)) {
            int header = headerBytes(memory, ip);
            BigEndian.put16(memory, ip + 2, header + textBytes);
            BigEndian.put8(memory, ip + 9, protocol);
            BigEndian.put16(memory, ip + 10, 0);
            BigEndian.put16(memory, ip + 10, InternetChecksum.of(memory, ip, header));
        } else {
            BigEndian.put16(memory, ip + 4, textBytes);
            BigEndian.put8(memory, ip + 6, protocol);
        }
    }
}
