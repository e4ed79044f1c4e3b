package verbena.nic.link;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.Cmsghdr;
import verbena.foreign.linux.LinuxAbi.Iovec;
import verbena.foreign.linux.LinuxAbi.Mmsghdr;
import verbena.foreign.linux.LinuxAbi.SockaddrIn;
import verbena.foreign.linux.LinuxAbi.SockaddrIn6;
import verbena.foreign.linux.LinuxAbi.Timespec;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// The memory of one `sendmmsg` or `recvmmsg` call: [#COUNT] messages, each with a socket address and room for
/// control messages, and [#COUNT] buffers. A buffer is a frame's packet, in place, or memory of the link. A message
/// has one buffer, or several in a row when it is to be cut into segments. The memory is laid out once, and constant
/// fields are written once.
public final class MessageBlock {
    /// The number of messages of one call.
    public static final int COUNT = 64;

    private static final int NAME_BYTES = 32; // a sockaddr_in6, rounded up
    // Traffic class, hop limit, segment size, and arrival time.
    private static final int CONTROL_BYTES = 3 * Cmsghdr.SPACE_OF_INT + Cmsghdr.BYTES + Timespec.BYTES;
    private static final int IPV4_IN_GID = 0xFFFF;

    private final MemorySegment headers;
    private final MemorySegment vectors;
    private final MemorySegment names;
    private final MemorySegment controls;
    // The headers after the first i messages, so that a resumed sendmmsg allocates no slice.
    private final MemorySegment[] headersFrom = new MemorySegment[COUNT];

    public MessageBlock(Arena arena) {
        headers = arena.allocate((long) COUNT * Mmsghdr.BYTES, 8);
        vectors = arena.allocate((long) COUNT * Iovec.BYTES, 8);
        names = arena.allocate((long) COUNT * NAME_BYTES, 8);
        controls = arena.allocate((long) COUNT * CONTROL_BYTES, 8);
        for (int i = 0; i < COUNT; i++) {
            long header = header(i);
            headersFrom[i] = headers.asSlice(header);
            headers.set(JAVA_LONG, header + Mmsghdr.MSG_NAME, names.address() + name(i));
            headers.set(JAVA_LONG, header + Mmsghdr.MSG_IOV, vectors.address() + vector(i));
            headers.set(JAVA_LONG, header + Mmsghdr.MSG_IOVLEN, 1);
            headers.set(JAVA_LONG, header + Mmsghdr.MSG_CONTROL, controls.address() + control(i));
        }
    }

    private static long header(int i) {
        return (long) i * Mmsghdr.BYTES;
    }

    private static long vector(int i) {
        return (long) i * Iovec.BYTES;
    }

    private static long name(int i) {
        return (long) i * NAME_BYTES;
    }

    private static long control(int i) {
        return (long) i * CONTROL_BYTES;
    }

    /// Returns the `mmsghdr`s from the i-th on.
    public MemorySegment headersFrom(int i) {
        assert i >= 0 && i < COUNT : i;
        return headersFrom[i];
    }

    // --- sending

    /// Prepares message `i` to carry the packet in the buffer of this number to where its socket is connected to.
    public void prepareSend(int i, int buffer, Frame frame) {
        long header = header(i);
        headers.set(JAVA_LONG, header + Mmsghdr.MSG_IOV, vectors.address() + vector(buffer));
        headers.set(JAVA_LONG, header + Mmsghdr.MSG_IOVLEN, 1);
        putPacket(buffer, frame);
        headers.set(JAVA_INT, header + Mmsghdr.MSG_NAMELEN, 0);
        headers.set(JAVA_LONG, header + Mmsghdr.MSG_CONTROLLEN, 0);
    }

    /// Sends message `i` to the frame's destination.
    public void address(int i, Frame frame, int port, int scopeId) {
        headers.set(
                JAVA_INT,
                header(i) + Mmsghdr.MSG_NAMELEN,
                putAddress(names, name(i), frame.destinationHigh, frame.destinationLow, port, scopeId));
    }

    /// Adds this packet to message `i`, as one more segment in the buffer after its last.
    public void addSegment(int i, int buffer, Frame frame) {
        long at = header(i) + Mmsghdr.MSG_IOVLEN;
        headers.set(JAVA_LONG, at, headers.get(JAVA_LONG, at) + 1);
        putPacket(buffer, frame);
    }

    private void putPacket(int buffer, Frame frame) {
        assert buffer < COUNT && frame.length > 0 && frame.start + frame.length <= frame.slot.byteSize();
        long vector = vector(buffer);
        vectors.set(JAVA_LONG, vector + Iovec.IOV_BASE, frame.slot.address() + frame.start);
        vectors.set(JAVA_LONG, vector + Iovec.IOV_LEN, frame.length);
    }

    /// Makes the kernel cut message `i` into packets of `bytes`, the last of which may be shorter (udp(7),
    /// UDP_SEGMENT).
    public void cutIntoSegments(int i, int bytes) {
        long at = control(i) + addControlHeader(i, Cmsghdr.LEN_OF_SHORT, LinuxAbi.IPPROTO_UDP, LinuxAbi.UDP_SEGMENT);
        controls.set(JAVA_SHORT, at, (short) bytes);
    }

    /// Prepares message `i` to carry the frame's packet with its envelope to a neighbour, on a connected socket.
    public void prepareEnvelope(int i, Frame frame) {
        long header = header(i);
        long vector = vector(i);
        headers.set(JAVA_LONG, header + Mmsghdr.MSG_IOV, vectors.address() + vector);
        headers.set(JAVA_LONG, header + Mmsghdr.MSG_IOVLEN, 1);
        vectors.set(JAVA_LONG, vector + Iovec.IOV_BASE, frame.slot.address() + Envelope.START);
        vectors.set(JAVA_LONG, vector + Iovec.IOV_LEN, (long) Envelope.BYTES + frame.length);
        headers.set(JAVA_INT, header + Mmsghdr.MSG_NAMELEN, 0);
        headers.set(JAVA_LONG, header + Mmsghdr.MSG_CONTROLLEN, 0);
    }

    /// Adds a control message with an integer to message `i`.
    public void addControl(int i, int level, int type, int value) {
        controls.set(JAVA_INT, control(i) + addControlHeader(i, Cmsghdr.LEN_OF_INT, level, type), value);
    }

    // Adds the header of a control message; returns the position of its data.
    private long addControlHeader(int i, int length, int level, int type) {
        long lengthAt = header(i) + Mmsghdr.MSG_CONTROLLEN;
        long used = headers.get(JAVA_LONG, lengthAt);
        long at = control(i) + used;
        controls.set(JAVA_LONG, at + Cmsghdr.CMSG_LEN, length);
        controls.set(JAVA_INT, at + Cmsghdr.CMSG_LEVEL, level);
        controls.set(JAVA_INT, at + Cmsghdr.CMSG_TYPE, type);
        assert used + Cmsghdr.SPACE_OF_INT <= CONTROL_BYTES;
        headers.set(JAVA_LONG, lengthAt, used + Cmsghdr.SPACE_OF_INT);
        return used + Cmsghdr.BYTES;
    }

    /// Writes a socket address; returns its length.
    public static int putAddress(MemorySegment to, long at, long gidHigh, long gidLow, int port, int scopeId) {
        if (RoceV2.isIpv4(gidHigh, gidLow)) {
            to.set(JAVA_SHORT, at + SockaddrIn.SIN_FAMILY, (short) LinuxAbi.AF_INET);
            BigEndian.put16(to, at + SockaddrIn.SIN_PORT, port);
            BigEndian.put32(to, at + SockaddrIn.SIN_ADDR, (int) gidLow);
            return SockaddrIn.BYTES;
        }
        to.set(JAVA_SHORT, at + SockaddrIn6.SIN6_FAMILY, (short) LinuxAbi.AF_INET6);
        BigEndian.put16(to, at + SockaddrIn6.SIN6_PORT, port);
        BigEndian.put32(to, at + SockaddrIn6.SIN6_FLOWINFO, 0);
        BigEndian.put64(to, at + SockaddrIn6.SIN6_ADDR, gidHigh);
        BigEndian.put64(to, at + SockaddrIn6.SIN6_ADDR + 8, gidLow);
        to.set(JAVA_INT, at + SockaddrIn6.SIN6_SCOPE_ID, scopeId);
        return SockaddrIn6.BYTES;
    }

    // --- receiving

    /// Sets the memory in which message `i` will be received, once it is prepared: `bytes` at `address`.
    public void landAt(int i, long address, long bytes) {
        vectors.set(JAVA_LONG, vector(i) + Iovec.IOV_BASE, address);
        vectors.set(JAVA_LONG, vector(i) + Iovec.IOV_LEN, bytes);
    }

    /// Prepares message `i` to be received in its memory, with all control messages that the system sends. It stays
    /// prepared until something arrives in it.
    public void prepareReceive(int i) {
        long header = header(i);
        headers.set(JAVA_INT, header + Mmsghdr.MSG_NAMELEN, NAME_BYTES);
        headers.set(JAVA_LONG, header + Mmsghdr.MSG_CONTROLLEN, CONTROL_BYTES);
    }

    /// Prepares message `i` to be received in the frame's slot, with the envelope before the packet.
    public void prepareEnvelopeReceive(int i, Frame frame) {
        long header = header(i);
        long vector = vector(i);
        vectors.set(JAVA_LONG, vector + Iovec.IOV_BASE, frame.slot.address() + Envelope.START);
        vectors.set(JAVA_LONG, vector + Iovec.IOV_LEN, (long) Envelope.BYTES + Frame.PACKET_MAX);
        headers.set(JAVA_INT, header + Mmsghdr.MSG_NAMELEN, 0);
        headers.set(JAVA_LONG, header + Mmsghdr.MSG_CONTROLLEN, 0);
    }

    /// Returns the length of message `i` as received.
    public int length(int i) {
        return headers.get(JAVA_INT, header(i) + Mmsghdr.MSG_LEN);
    }

    /// Returns whether message `i` was longer than its buffer.
    public boolean isTruncated(int i) {
        return (headers.get(JAVA_INT, header(i) + Mmsghdr.MSG_FLAGS) & LinuxAbi.MSG_TRUNC) != 0;
    }

    /// Fills in the frame's source, traffic class and hop limit from message `i`. Returns the length of each of its
    /// packets, of which the last may be shorter; for one packet, the length of the message.
    public int takeReceived(int i, Frame frame) {
        long name = name(i);
        if (names.get(JAVA_SHORT, name) == LinuxAbi.AF_INET) {
            frame.sourcePort = BigEndian.u16(names, name + SockaddrIn.SIN_PORT);
            frame.sourceHigh = 0;
            frame.sourceLow = (long) IPV4_IN_GID << 32 | BigEndian.u32(names, name + SockaddrIn.SIN_ADDR);
        } else {
            frame.sourcePort = BigEndian.u16(names, name + SockaddrIn6.SIN6_PORT);
            frame.sourceHigh = BigEndian.i64(names, name + SockaddrIn6.SIN6_ADDR);
            frame.sourceLow = BigEndian.i64(names, name + SockaddrIn6.SIN6_ADDR + 8);
        }
        frame.trafficClass = 0;
        frame.hopLimit = 0;
        long at = control(i);
        long end = at + headers.get(JAVA_LONG, header(i) + Mmsghdr.MSG_CONTROLLEN);
        int segment = length(i);
        for (; at + Cmsghdr.BYTES < end; at = next(at)) {
            int level = controls.get(JAVA_INT, at + Cmsghdr.CMSG_LEVEL);
            int type = controls.get(JAVA_INT, at + Cmsghdr.CMSG_TYPE);
            if (level == LinuxAbi.IPPROTO_UDP && type == LinuxAbi.UDP_GRO) {
                segment = Math.max(1, controls.get(JAVA_INT, at + Cmsghdr.BYTES));
            } else if (level != LinuxAbi.SOL_SOCKET) {
                takeControl(level, type, controls.get(JAVA_BYTE, at + Cmsghdr.BYTES) & 0xFF, frame);
            }
        }
        return segment;
    }

    // Each control message begins at a multiple of 8.
    private long next(long control) {
        return control + ((controls.get(JAVA_LONG, control + Cmsghdr.CMSG_LEN) + 7) & ~7L);
    }

    /// Returns when message `i` came to this host, in milliseconds of the wall clock; 0 when the message has no
    /// time stamp ([LinuxAbi#SO_TIMESTAMPNS]).
    public long arrivalMillis(int i) {
        long at = control(i);
        long end = at + headers.get(JAVA_LONG, header(i) + Mmsghdr.MSG_CONTROLLEN);
        for (; at + Cmsghdr.BYTES < end; at = next(at)) {
            if (controls.get(JAVA_INT, at + Cmsghdr.CMSG_LEVEL) == LinuxAbi.SOL_SOCKET
                    && controls.get(JAVA_INT, at + Cmsghdr.CMSG_TYPE) == LinuxAbi.SO_TIMESTAMPNS) {
                return controls.get(JAVA_LONG, at + Cmsghdr.BYTES + Timespec.TV_SEC) * 1_000
                        + controls.get(JAVA_LONG, at + Cmsghdr.BYTES + Timespec.TV_NSEC) / 1_000_000;
            }
        }
        return 0;
    }

    // The IPv4 traffic class is one byte, all other values are an int. The host is little-endian, so the byte is the
    // first of an int.
    private static void takeControl(int level, int type, int value, Frame frame) {
        boolean ipv4 = level == LinuxAbi.IPPROTO_IP;
        if (type == (ipv4 ? LinuxAbi.IP_TOS : LinuxAbi.IPV6_TCLASS)) {
            frame.trafficClass = value;
        } else if (type == (ipv4 ? LinuxAbi.IP_TTL : LinuxAbi.IPV6_HOPLIMIT)) {
            frame.hopLimit = value;
        }
    }
}
