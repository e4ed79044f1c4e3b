package verbena.nic.link;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import verbena.nic.link.udp.UdpLink;
import verbena.nic.link.udp.UdpLinks;
import verbena.nic.link.udp.UdpOptions;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// Shared by the tests of links: links at addresses of their own, and frames with recognizable contents.
public final class LinkBench {
    public static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    /// A test that waits longer than this for an event that must come has failed.
    public static final long TIMEOUT_NANOS = 20 * SECOND;

    private static final int OPCODE_UC_SEND_ONLY = 0x24;

    private LinkBench() {}

    public static UdpOptions options(LinkKind kind) {
        return UdpOptions.DEFAULT.with(kind);
    }

    /// A link at a loopback address and port 4791 that no other link uses.
    public static UdpLink openAnywhere(UdpOptions options) {
        return LoopbackAddress.claim(address -> open(address, RoceV2.UDP_PORT, options));
    }

    public static UdpLink open(InetAddress address, int port, UdpOptions options) {
        return UdpLinks.open(List.of(entry(0, address)), port, options);
    }

    public static GidEntry entry(int index, InetAddress address) {
        return Interfaces.loopback().withOnly(address).gids().stream()
                .map(e -> new GidEntry(index, e.gid(), GidType.ROCE_V2, e.networkInterface(), e.interfaceIndex()))
                .findFirst()
                .orElseThrow();
    }

    public static Inet4Address addressOf(UdpLink link) {
        return (Inet4Address) link.gids().getFirst().gid().address();
    }

    public static Gid gidOf(Link link) {
        return link.gids().getFirst().gid();
    }

    /// This many frames, in memory that lives as long as they do.
    public static Frame[] frames(int count) {
        return Frame.allocate(Arena.ofAuto().allocate((long) count * Frame.SLOT_BYTES, 64));
    }

    /// Fills in a packet whose PSN is `number` and whose payload depends on it; `length` counts from BTH to ICRC.
    public static void fill(Frame frame, Gid source, Gid destination, int number, int length) {
        frame.slot.asSlice(frame.start, length).fill((byte) number);
        BigEndian.put8(frame.slot, frame.start, OPCODE_UC_SEND_ONLY);
        BigEndian.put24(frame.slot, frame.start + 9, number);
        frame.length = length;
        frame.sourceHigh = source.high();
        frame.sourceLow = source.low();
        frame.destinationHigh = destination.high();
        frame.destinationLow = destination.low();
        frame.sourcePort = 0;
        frame.trafficClass = 0;
        frame.hopLimit = 0;
    }

    public static Frame[] filled(int count, Gid source, Gid destination, int length) {
        Frame[] frames = frames(count);
        for (int i = 0; i < count; i++) {
            fill(frames[i], source, destination, i, length);
        }
        return frames;
    }

    public static int number(Frame frame) {
        return BigEndian.u24(frame.slot, frame.start + 9);
    }

    /// The last byte before the ICRC, which depends on the number that [#fill] was given.
    public static byte lastByte(Frame frame) {
        return frame.slot.get(ValueLayout.JAVA_BYTE, frame.start + frame.length - 5);
    }

    /// Receives until `count` frames have arrived, sleeping in between; returns how many have arrived when the
    /// time is over.
    public static int receiveAll(Link link, Frame[] frames, int count) {
        long deadline = System.nanoTime() + TIMEOUT_NANOS;
        int received = receive(link, frames, 0, count);
        while (received < count && System.nanoTime() < deadline) {
            link.await(deadline - System.nanoTime());
            received += receive(link, frames, received, count - received);
        }
        return received;
    }

    /// A group that no other program on this host is likely to be in, among those for one organization (RFC 2365,
    /// 6.2).
    public static Gid anyGroup() {
        return new Gid(0, 0xFFFF_EFC0_0000L | ThreadLocalRandom.current().nextInt(1 << 18));
    }

    /// Receives until no frame is left. On loopback, sent packets have arrived, or were dropped, when the send
    /// returns.
    public static int drain(Link link, Frame[] frames) {
        int received = 0;
        int more = receive(link, frames, 0, frames.length);
        while (more > 0) {
            received += more;
            more = receive(link, frames, received, frames.length - received);
        }
        return received;
    }

    /// As [Link#receive], but arrivals stay valid beyond the next call.
    public static int receive(Link link, Frame[] frames, int from, int count) {
        int received = link.receive(frames, from, count);
        for (int i = from; i < from + received; i++) {
            frames[i].moveToOwn();
        }
        return received;
    }
}
