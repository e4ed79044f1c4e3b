package verbena.nic.link.ethernet;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxAbi.Iovec;
import verbena.foreign.linux.LinuxAbi.Mmsghdr;
import verbena.foreign.linux.LinuxAbi.TpacketStats;
import verbena.foreign.linux.LinuxSockets;
import verbena.foreign.linux.PacketRing;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.link.LinkException;
import verbena.nic.link.NativeAccess;
import verbena.nic.link.sharing.Steering;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.Frame;
import verbena.wire.roce.Ethernet;
import verbena.wire.roce.RoceV2;

/// The frames of one interface through a packet socket of Linux (packet(7)). Arrivals are in a ring that the
/// kernel fills without a system call of ours; up to [#BATCH] departures leave by one call.
///
/// The kernel goes on handing the same frames to its own protocols. A filter in the kernel keeps all frames
/// away that are not RoCE.
public final class PacketWire implements Wire {
    private static final int BATCH = 64;
    private static final int RING_BYTES = 8 << 20;
    private static final int SEND_BUFFER_BYTES = 4 << 20;
    /// The bytes of the largest frame with a packet of ours: two tags, IPv6 and UDP.
    private static final int FRAME_MAX =
            Ethernet.BYTES + 2 * Ethernet.TAG_BYTES + RoceV2.IPV6_OVERHEAD + Frame.PACKET_MAX;
    /// The capability that a program needs to open one.
    private static final String RIGHT = "CAP_NET_RAW";

    private static final int RIGHT_BIT = 13;
    private static final Path STATUS = Path.of("/proc/self/status");

    private final Arena arena = Arena.ofShared();
    private final LinuxSockets linux = new LinuxSockets(arena);
    private final HostInterface host;
    private final List<Integer> ports;
    private final int fd;
    private final PacketRing ring;
    private final PacketMembership membership;
    private final EthernetClaim claim;
    private final ByteBuffer bytes;

    private final MemorySegment messages = arena.allocate((long) BATCH * Mmsghdr.BYTES, 8);
    private final MemorySegment iovecs = arena.allocate((long) BATCH * Iovec.BYTES, 8);
    /// The messages from each one on.
    private final MemorySegment[] from = new MemorySegment[BATCH];

    private final Frame[] leaving = new Frame[BATCH];
    private int put;
    private volatile boolean wasFull; // the thread that sleeps clears it
    private final AtomicLong refused = new AtomicLong();
    private final AtomicLong crowdedOut = new AtomicLong();
    private long dropped; // under the lock of `statistics`

    private final MemorySegment statistics = arena.allocate(TpacketStats.BYTES, 4);
    /// Any thread may ask for the counters, but errors come back through memory that is one thread's.
    private final LinuxSockets counting = new LinuxSockets(arena);

    private boolean isOpen = true; // under the lock of `statistics`

    /// Opens the wire of an interface, for a link with these addresses there.
    ///
    /// @param ports of UDP whose packets arrive; none for frames of RoCE v1
    /// @throws LinkException when the system does not permit it
    static PacketWire open(HostInterface host, List<Integer> ports, List<GidEntry> gids) {
        String why = NativeAccess.whyPortable();
        if (why != null) {
            throw new LinkException(LinkException.Kind.UNSUPPORTED, "raw Ethernet: " + why);
        }
        if (host.loopback() || host.mac() == 0) {
            throw new LinkException(
                    LinkException.Kind.UNSUPPORTED, "raw Ethernet: " + host.name() + " is no Ethernet interface");
        }
        return new PacketWire(host, ports, gids);
    }

    /// Returns whether this process may open one here.
    public static boolean isPermitted() {
        if (NativeAccess.whyPortable() != null) {
            return false;
        }
        try {
            return Files.readAllLines(STATUS).stream()
                    .filter(line -> line.startsWith("CapEff:"))
                    .anyMatch(line -> (Long.parseUnsignedLong(line.substring(7).strip(), 16) >>> RIGHT_BIT & 1) != 0);
        } catch (IOException | NumberFormatException _) {
            return false;
        }
    }

    private PacketWire(HostInterface host, List<Integer> ports, List<GidEntry> gids) {
        this.host = host;
        this.ports = ports;
        claim = new EthernetClaim(ports, gids);
        fd = linux.packetSocket();
        membership = new PacketMembership(linux, fd, host.index());
        boolean isReady = false;
        try {
            if (fd < 0) {
                throw refused(-fd);
            }
            ring = PacketRing.open(linux, fd, Math.min(host.mtu() + Ethernet.BYTES + 8, FRAME_MAX), RING_BYTES, arena);
            require("SO_ATTACH_FILTER", setFilter(linux, EthernetFilter.NOTHING)); // until the claim
            if (linux.setOption(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_SNDBUFFORCE, SEND_BUFFER_BYTES) < 0) {
                int _ = linux.setOption(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_SNDBUF, SEND_BUFFER_BYTES);
            }
            require("bind to " + host.name(), ring.bind(linux, fd, host.index(), LinuxAbi.ETH_P_ALL));
            isReady = true;
        } catch (PacketRing.NoRingException e) {
            throw new LinkException(
                    LinkException.Kind.FAILED, "raw Ethernet on " + host.name() + ": " + e.getMessage(), e);
        } finally {
            if (!isReady) {
                closeAll();
            }
        }
        bytes = ring.memory().asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < BATCH; i++) {
            MemorySegment iovec = iovecs.asSlice((long) i * Iovec.BYTES, Iovec.BYTES);
            messages.set(JAVA_LONG, (long) i * Mmsghdr.BYTES + Mmsghdr.MSG_IOV, iovec.address());
            messages.set(JAVA_LONG, (long) i * Mmsghdr.BYTES + Mmsghdr.MSG_IOVLEN, 1);
            from[i] = messages.asSlice((long) i * Mmsghdr.BYTES);
        }
    }

    private LinkException refused(int errno) {
        boolean forbidden = errno == LinuxAbi.EPERM || errno == LinuxAbi.EACCES;
        return new LinkException(
                forbidden ? LinkException.Kind.NOT_PERMITTED : LinkException.Kind.FAILED,
                "raw Ethernet on " + host.name() + ": " + LinuxSockets.message(errno)
                        + (forbidden
                                ? ". It needs " + RIGHT + ": run as root, or in a network of one's own"
                                        + " (unshare --map-root-user --net)."
                                : ""));
    }

    private void require(String call, int result) {
        if (result < 0) {
            throw new LinkException(
                    LinkException.Kind.FAILED,
                    "raw Ethernet on " + host.name() + ": " + call + ": " + LinuxSockets.message(-result));
        }
    }

    private int setFilter(LinuxSockets calling, List<Steering.Instruction> filter) {
        return calling.setOption(fd, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_ATTACH_FILTER, Steering.layOut(filter, arena));
    }

    @Override
    public void claim() {
        synchronized (statistics) {
            if (claim.take()) {
                require(
                        "SO_ATTACH_FILTER",
                        setFilter(counting, ports.isEmpty() ? EthernetFilter.ROCE_V1 : EthernetFilter.roceV2(ports)));
            }
        }
    }

    // ---- arrivals

    @Override
    public boolean next() {
        return ring.next();
    }

    @Override
    public MemorySegment memory() {
        return ring.memory();
    }

    @Override
    public ByteBuffer bytes() {
        return bytes;
    }

    @Override
    public int start() {
        return ring.start();
    }

    @Override
    public int length() {
        return ring.length();
    }

    @Override
    public int kept() {
        return ring.kept();
    }

    @Override
    public int tag() {
        return ring.tag();
    }

    @Override
    public boolean hasNext() {
        return ring.hasNext();
    }

    @Override
    public void release() {
        ring.release();
    }

    // ---- departures

    @Override
    public int batch() {
        return BATCH;
    }

    @Override
    public void put(Frame frame, int headerBytes) {
        long at = (long) put * Iovec.BYTES;
        iovecs.set(JAVA_LONG, at + Iovec.IOV_BASE, frame.slot.address() + frame.start - headerBytes);
        iovecs.set(JAVA_LONG, at + Iovec.IOV_LEN, headerBytes + frame.length);
        leaving[put++] = frame;
    }

    @Override
    public int transmit() {
        int count = put;
        put = 0;
        int sent = 0;
        while (sent < count) {
            int result = linux.sendMessages(fd, from[sent], count - sent);
            if (result >= 0) {
                sent += result;
                continue;
            }
            switch (-result) {
                case LinuxAbi.EINTR -> {}
                case LinuxAbi.EAGAIN, LinuxAbi.ENOMEM -> {
                    wasFull = true;
                    return sent;
                }
                // The interface's queue is full: the frame is lost, as it would be in a switch.
                case LinuxAbi.ENOBUFS -> {
                    crowdedOut.incrementAndGet();
                    sent++;
                }
                // EMSGSIZE, ENETDOWN, ENXIO (the interface has gone), EPERM, …
                default -> {
                    leaving[sent++].marks.unsendable = true;
                    refused.incrementAndGet();
                }
            }
        }
        return sent;
    }

    @Override
    public boolean wasFull() {
        boolean was = wasFull;
        wasFull = false;
        return was;
    }

    @Override
    public long refused() {
        return refused.get();
    }

    // ---- groups, and the rest

    @Override
    public void join(Gid group, long mac) {
        require("PACKET_ADD_MEMBERSHIP", membership.join(mac));
        claim.join(group);
    }

    @Override
    public void leave(Gid group, long mac) {
        membership.leave(mac);
        claim.leave(group);
    }

    @Override
    public int descriptor() {
        return fd;
    }

    /// Returns what the kernel has dropped: arrivals that found the ring full, departures that found the
    /// interface's queue full.
    @Override
    public Map<String, Long> counters() {
        synchronized (statistics) {
            // The kernel counts from zero after each question.
            if (isOpen && counting.option(fd, LinuxAbi.SOL_PACKET, LinuxAbi.PACKET_STATISTICS, statistics) == 0) {
                dropped += statistics.get(JAVA_INT, TpacketStats.TP_DROPS) & 0xFFFF_FFFFL;
            }
            return Map.of("ethernet.dropped.ring", dropped, "ethernet.dropped.queue", crowdedOut.get());
        }
    }

    @Override
    public void close() {
        closeAll();
    }

    private void closeAll() {
        synchronized (statistics) {
            if (isOpen) {
                isOpen = false;
                claim.close();
                if (fd >= 0) {
                    LinuxSockets.close(fd);
                }
                arena.close();
            }
        }
    }
}
