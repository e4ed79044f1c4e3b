package verbena.nic.link.ethernet;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxSockets;
import verbena.foreign.linux.XdpSocket;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.link.LinkException;
import verbena.nic.link.NativeAccess;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.Frame;
import verbena.wire.roce.Ethernet;
import verbena.wire.roce.RoceV2;

/// The frames of one queue of an interface through an AF_XDP socket
/// ([decision 04](../../../../../../../../docs/decisions/04-raw-ethernet.md)). A program in the kernel ([XdpProgram])
/// takes the frames of RoCE for this wire out before the network stack sees them. All others go on as before.
///
/// Arrivals stay where the kernel has put them; departures are copied into memory that the kernel knows. Up to
/// [#BATCH] of them leave by one system call. When the process ends, however that happens, the kernel detaches
/// the program.
final class XdpWire implements Wire {
    private static final int BATCH = 64;
    private static final int ARRIVALS = 2_048;
    private static final int DEPARTURES = 512;
    /// The bytes of the largest frame with a packet of ours: two tags, IPv6 and UDP.
    private static final int FRAME_MAX =
            Ethernet.BYTES + 2 * Ethernet.TAG_BYTES + RoceV2.IPV6_OVERHEAD + Frame.PACKET_MAX;

    private final Arena arena = Arena.ofShared();
    private final XdpQueue queue;
    private final XdpSocket socket;
    private final XdpQueues shared;
    /// Whether it reports the counters of all wires of its device.
    private final boolean isFirst;
    private final ByteBuffer bytes;

    private final Frame[] leaving = new Frame[BATCH];
    private int put;
    private int taken;
    private volatile boolean isDown; // the thread that sleeps reads it
    private final AtomicLong refused = new AtomicLong();

    /// Any thread may ask for the counters, but errors come back through memory that is one thread's.
    private final LinuxSockets counting = new LinuxSockets(arena);

    private final Object statistics = new Object();
    private boolean isOpen = true; // under the lock of `statistics`

    /// Opens wires of an interface, one for each of several queues.
    ///
    /// @param ports of UDP whose packets arrive; none for frames of RoCE v1
    /// @param way with the first of the interface's queues
    /// @param count how many queues
    /// @throws LinkException when the system does not permit it
    static List<XdpWire> open(
            HostInterface host, List<Integer> ports, List<GidEntry> gids, EthernetWay way, int count) {
        String why = NativeAccess.whyPortable();
        if (why != null) {
            throw new LinkException(LinkException.Kind.UNSUPPORTED, "AF_XDP: " + why);
        }
        if (host.loopback() || host.mac() == 0) {
            throw new LinkException(
                    LinkException.Kind.UNSUPPORTED, "AF_XDP: " + host.name() + " is no Ethernet interface");
        }
        var size = new XdpSocket.Size(
                Math.min(host.mtu() + Ethernet.BYTES + 2 * Ethernet.TAG_BYTES, FRAME_MAX), ARRIVALS, DEPARTURES);
        var shared = new XdpQueues(host, ports, gids, way.queue(), count, size.inPieces());
        var wires = new ArrayList<XdpWire>();
        boolean isReady = false;
        try {
            while (wires.size() < count) {
                int queue = way.queue() + wires.size();
                wires.add(new XdpWire(host, shared, size, queue, way.pollsBusily(), wires.isEmpty()));
            }
            isReady = true;
        } finally {
            if (!isReady && wires.isEmpty()) {
                shared.close();
            } else if (!isReady) {
                wires.forEach(XdpWire::close);
            }
        }
        return wires;
    }

    private XdpWire(
            HostInterface host,
            XdpQueues shared,
            XdpSocket.Size size,
            int number,
            boolean pollsBusily,
            boolean isFirst) {
        this.shared = shared;
        this.isFirst = isFirst;
        boolean isReady = false;
        try {
            queue = new XdpQueue(new LinuxSockets(arena), arena, host, size, number, pollsBusily);
            isReady = true;
        } finally {
            if (!isReady) {
                arena.close();
            }
        }
        socket = queue.socket();
        bytes = socket.memory().asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
        shared.use(queue);
    }

    @Override
    public void claim() {
        shared.claim();
    }

    // ---- arrivals

    @Override
    public boolean next() {
        return socket.next();
    }

    @Override
    public MemorySegment memory() {
        return socket.memory();
    }

    @Override
    public ByteBuffer bytes() {
        return bytes;
    }

    @Override
    public int start() {
        return socket.start();
    }

    @Override
    public int length() {
        return socket.length();
    }

    @Override
    public int kept() {
        return socket.kept();
    }

    /// Returns no tag: a program sees frames as they are, and does not learn of a tag that the card has taken out.
    @Override
    public int tag() {
        return Ethernet.NO_TAG;
    }

    @Override
    public boolean hasNext() {
        return socket.hasNext();
    }

    @Override
    public void release() {
        socket.release();
    }

    // ---- departures

    @Override
    public int batch() {
        return BATCH;
    }

    @Override
    public void put(Frame frame, int headerBytes) {
        leaving[put] = frame;
        if (taken == put && socket.put(frame.slot, frame.start - headerBytes, headerBytes + frame.length)) {
            taken++;
        }
        put++;
    }

    @Override
    public int transmit() {
        if (put == 0) {
            return 0;
        }
        int sent = taken;
        int result = socket.send();
        isDown = result < 0 && result != -LinuxAbi.EAGAIN && result != -LinuxAbi.EBUSY && result != -LinuxAbi.ENOBUFS;
        if (isDown) { // ENETDOWN, ENXIO (the interface has gone), …
            sent = put;
            for (int i = 0; i < put; i++) {
                leaving[i].marks.unsendable = true;
            }
            refused.addAndGet(put);
        }
        put = 0;
        taken = 0;
        return sent;
    }

    /// Returns whether the interface has refused frames for now. They leave when poll(2) is called, which then
    /// returns at once. No thread can wait for free chunks: a caller that found none tries again.
    @Override
    public boolean wasFull() {
        return !isDown && socket.isStuck();
    }

    @Override
    public long refused() {
        return refused.get();
    }

    // ---- groups, and the rest

    @Override
    public void join(Gid group, long mac) {
        shared.join(group, mac);
    }

    @Override
    public void leave(Gid group, long mac) {
        shared.leave(group, mac);
    }

    @Override
    public int descriptor() {
        return socket.fd();
    }

    /// Returns the counters: arrivals that found no room. The first wire of a device also reports frames that came
    /// by queues without a wire, and the mode of the interface: whether its driver runs the program, and shares the
    /// memory.
    @Override
    public Map<String, Long> counters() {
        synchronized (statistics) {
            long dropped = isOpen ? Math.max(0, socket.dropped(counting)) : 0;
            return isFirst
                    ? Map.of(
                            "ethernet.dropped.ring",
                            dropped,
                            "ethernet.xdp.other.queue",
                            shared.elsewhere(),
                            "ethernet.xdp.in.driver",
                            shared.isNative() ? 1L : 0L,
                            "ethernet.xdp.zero.copy",
                            socket.isZeroCopy() ? 1L : 0L)
                    : Map.of("ethernet.dropped.ring", dropped);
        }
    }

    @Override
    public void close() {
        synchronized (statistics) {
            if (isOpen) {
                isOpen = false;
                shared.release(queue); // first: with the last wire, frames go to the network stack again
                LinuxSockets.close(socket.fd());
                arena.close();
            }
        }
    }
}
