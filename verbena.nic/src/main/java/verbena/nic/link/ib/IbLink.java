package verbena.nic.link.ib;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.fabric.FabricPort;
import verbena.nic.fabric.FabricSocket;
import verbena.nic.link.Claimable;
import verbena.nic.link.LinkException;
import verbena.nic.link.Occupancy;
import verbena.nic.link.PolledLink;
import verbena.subnet.node.NodePort;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.NativePacket;
import verbena.wire.ib.Vcrc;

/// The packets of InfiniBand, LRH through VCRC, to and from an adapter of the soft fabric of this user
/// ([verbena.nic.fabric.FabricServer]), over a local socket that keeps messages apart. Any number of links hear of
/// an adapter; its packets are for the one that claims it ([#claim()]), until that is closed.
///
/// A packet without GRH arrives with its sender's LID in place of a GID (`::7`), and with this link's GID as its
/// destination. When the fabric ends, the port is down for good.
///
/// Threads as in [verbena.nic.link.Link]. Linux only.
public final class IbLink extends PolledLink implements Claimable {
    /// The subnet prefix of a port before a subnet manager has given it another (IBTA 4.1.1).
    public static final long PREFIX_DEFAULT = 0xFE80_0000_0000_0000L;
    private static final int BATCH = 64;
    private static final int PLACE_BYTES = 4_608;
    private static final int START = 128; // a multiple of 64, and room for a frame's scratch space
    private static final int ACTIVE = 4;
    private static final int CLOSED = -1;

    private final List<GidEntry> gids;
    private final Gid own;
    private final MemorySegment memory = arena.allocate((long) BATCH * PLACE_BYTES, 64);
    private final ByteBuffer buffer = NativePacket.buffer(memory);
    private final MemorySegment[] places = new MemorySegment[BATCH];
    private final NativePacket packets = new NativePacket();
    private final Set<Gid> groups = new HashSet<>();
    /// The LID that the packets of each multicast group go to.
    private final Map<Gid, Integer> groupLids = new HashMap<>();

    private final IbSocket socket;
    private volatile boolean wasFull; // the thread that sleeps reads it
    /// The last report about the port, written by the owner and read by any thread.
    private volatile FabricPort port;
    /// The P_Key table as the fabric last reported it.
    private final int[] pkeys = new int[NodePort.PKEYS];

    private final List<Consumer<AsyncEvent.Type>> listeners = new CopyOnWriteArrayList<>();
    private volatile GroupWatch groupWatch = (_, _) -> {};
    private volatile boolean isLost;
    private final AtomicLong malformed = new AtomicLong();
    private final AtomicLong foreign = new AtomicLong();
    private final AtomicLong unsendable = new AtomicLong();

    /// Watches an adapter.
    ///
    /// @param place of the socket ([FabricSocket#place()])
    /// @param number of the adapter, from 0
    /// @param name of the device
    /// @throws LinkException when there is no fabric, or no such adapter
    public static IbLink open(Path place, int number, String name) {
        return new IbLink(place, number, name);
    }

    private IbLink(Path place, int number, String name) {
        super(1);
        boolean isOpen = false;
        try {
            socket = IbSocket.open(linux, place, number);
            port = socket.said();
            takePkeys(port);
            own = new Gid(PREFIX_DEFAULT, port.portGuid());
            gids = List.of(new GidEntry(0, own, GidType.IB, name, 0));
            for (int i = 0; i < BATCH; i++) {
                places[i] = memory.asSlice((long) i * PLACE_BYTES + START, PLACE_BYTES - START);
            }
            isOpen = true;
        } finally {
            if (!isOpen) {
                free();
            }
        }
    }

    @Override
    public void claim() {
        if (!isLost) {
            socket.claim();
        }
    }

    /// Returns the last report of the fabric about the port. Any thread.
    public FabricPort port() {
        FabricPort said = port;
        return isLost ? said.down() : said;
    }

    /// Returns the P_Key table of the port, which the owner changes. Any thread.
    public int[] pkeys() {
        return pkeys;
    }

    /// Returns the P_Key of the default partition, as the port has it: of a full member, or of a limited one.
    public int defaultPkey() {
        for (int pkey : pkeys) {
            if ((pkey & 0x7FFF) == (Bth.PKEY_DEFAULT & 0x7FFF)) {
                return pkey;
            }
        }
        return Bth.PKEY_DEFAULT;
    }

    /// Adds a listener for changes of the port; the thread that receives calls it.
    public void onPortChange(Consumer<AsyncEvent.Type> listener) {
        listeners.add(listener);
    }

    /// A listener for groups whose packets are wanted; the owner calls it.
    public interface GroupWatch {
        void onGroup(Gid group, boolean isWanted);
    }

    /// Sets the listener for groups.
    public void onGroups(GroupWatch watch) {
        groupWatch = watch;
    }

    /// Sends packets for a group to a multicast LID from now on, where they do not name one themselves. The owner.
    ///
    /// @param lid 0: nowhere
    public void forward(Gid group, int lid) {
        if (lid == 0) {
            groupLids.remove(group);
        } else {
            groupLids.put(group, lid);
        }
    }

    // ---- receiving

    @Override
    public int receive(Frame[] frames, int from, int count) {
        try (Occupancy.Stay stay = occupancy.move()) {
            int received = 0;
            int fd = socket.fd();
            for (int i = 0; stay != null && !isLost && i < BATCH && received < count; i++) {
                int bytes = (int) LinuxSockets.read(fd, places[i]);
                if (bytes < 0 || (bytes == 0 && fd != socket.fd())) {
                    break;
                }
                if (bytes == 0) {
                    FabricPort before = port;
                    isLost = true;
                    tell(before, before.down());
                } else if (BigEndian.u8(places[i], 0) == FabricSocket.CONTROL) {
                    onNews(places[i], bytes);
                } else if (read(i * PLACE_BYTES + START, bytes, frames[from + received])) {
                    received++;
                }
            }
            return received;
        }
    }

    private void onNews(MemorySegment message, int bytes) {
        FabricPort news = bytes < FabricSocket.INFO_BYTES ? null : FabricPort.read(message);
        if (news != null) {
            FabricPort before = port;
            port = news;
            takePkeys(news);
            tell(before, news);
        }
    }

    private void takePkeys(FabricPort said) {
        for (int i = 0; i < pkeys.length; i++) {
            pkeys[i] = i < said.pkeys().size() ? said.pkeys().get(i) : 0;
        }
    }

    private void tell(FabricPort before, FabricPort now) {
        boolean wasActive = before.state() == ACTIVE;
        boolean isActive = now.state() == ACTIVE;
        tell(wasActive && !isActive, AsyncEvent.Type.PORT_ERR);
        tell(!isLost && before.lid() != now.lid(), AsyncEvent.Type.LID_CHANGE);
        tell(!isLost && before.subnetManagerLid() != now.subnetManagerLid(), AsyncEvent.Type.SM_CHANGE);
        tell(!before.pkeys().equals(now.pkeys()), AsyncEvent.Type.PKEY_CHANGE);
        tell(before.reregistrations() != now.reregistrations(), AsyncEvent.Type.CLIENT_REREGISTER);
        tell(isActive && !wasActive, AsyncEvent.Type.PORT_ACTIVE);
    }

    private void tell(boolean isSo, AsyncEvent.Type type) {
        if (isSo) {
            listeners.forEach(listener -> listener.accept(type));
        }
    }

    /// Reads a message; returns whether it is a packet for this link.
    private boolean read(int at, int bytes, Frame frame) {
        int start = NativePacket.read(memory, at, bytes, frame);
        if (start < 0) {
            malformed.incrementAndGet();
            return false;
        }
        boolean isLocal = NativePacket.isByLid(frame.destinationHigh, frame.destinationLow);
        boolean isMulticast = frame.destinationHigh >>> 56 == 0xFF;
        if (isMulticast && !groups.contains(new Gid(frame.destinationHigh, frame.destinationLow))) {
            if (frame.local.sourceLid != port.lid()) { // the adapter gives back what this port sends to a group
                foreign.incrementAndGet();
            }
            return false;
        }
        int paths = 1 << port.lmc();
        frame.local.pathBits = isMulticast ? 0 : frame.local.destinationLid & (paths - 1);
        if (isLocal) {
            frame.destinationHigh = own.high();
            frame.destinationLow = own.low();
        } else if (!isMulticast && (frame.destinationHigh != own.high() || frame.destinationLow != own.low())) {
            foreign.incrementAndGet();
            return false;
        }
        frame.view(memory, buffer, start);
        frame.icrcValid = packets.verify(memory, buffer, at, bytes);
        return true;
    }

    // ---- sending

    @Override
    public int transmit(Frame[] frames, int from, int count) {
        try (Occupancy.Stay stay = occupancy.move()) {
            if (wasFull) {
                wasFull = false;
            }
            for (int i = 0; i < count; i++) {
                if (stay == null) {
                    return i;
                }
                Frame frame = frames[from + i];
                if (frame.local.destinationLid == 0 && frame.destinationHigh >>> 56 == 0xFF) {
                    frame.local.destinationLid =
                            groupLids.getOrDefault(new Gid(frame.destinationHigh, frame.destinationLow), 0);
                }
                if (isLost || frame.local.destinationLid == 0 || frame.length > NativePacket.PACKET_MAX) {
                    frame.marks.unsendable = true;
                    unsendable.incrementAndGet();
                } else if (!send(frame)) {
                    wasFull = true;
                    return i;
                }
            }
            return count;
        }
    }

    private boolean send(Frame frame) {
        frame.moveToOwn();
        FabricPort now = port;
        frame.local.sourceLid = now.lid() | (frame.local.pathBits & ((1 << now.lmc()) - 1));
        packets.write(frame, 0); // the adapter chooses the lane
        int before = NativePacket.headerBytes(frame);
        return LinuxSockets.send(
                socket.fd(),
                frame.slot.asSlice((long) frame.start - before, (long) before + frame.length + Vcrc.BYTES));
    }

    /// Joins a group: packets for other groups are filtered here. Packets travel by the tables of the switches,
    /// which the subnet administration has written for the groups that it knows ([#onGroups]).
    @Override
    public void join(Gid group) {
        if (!group.isMulticast() || group.isIpv4()) {
            throw new IllegalArgumentException("group: " + group + " is not a multicast address of IPv6");
        }
        if (groups.size() == GROUPS_MAX && !groups.contains(group)) {
            throw new LinkException(
                    LinkException.Kind.FAILED,
                    "multicast group " + group + ": this link is in " + GROUPS_MAX + " groups, and no more fit");
        }
        if (groups.add(group)) {
            groupWatch.onGroup(group, true);
        }
    }

    @Override
    public void leave(Gid group) {
        if (groups.remove(group)) {
            groupWatch.onGroup(group, false);
        }
    }

    // ---- what it is

    @Override
    public List<GidEntry> gids() {
        return gids;
    }

    @Override
    public List<GidEntry> liveGids() {
        return port().state() == ACTIVE ? gids : List.of();
    }

    @Override
    public int packetMax() {
        return NativePacket.PACKET_MAX & ~3; // packets are whole words (IBTA 9.2, PadCnt)
    }

    @Override
    public long malformed() {
        return malformed.get();
    }

    @Override
    public long unsendable() {
        return unsendable.get();
    }

    @Override
    public Map<String, Long> counters() {
        var counters = new TreeMap<String, Long>();
        counters.put("ib.dropped.foreign", foreign.get());
        return counters;
    }

    // ---- sleeping

    @Override
    protected long lastLook(long timeoutNanos) {
        sleep.watch(isLost ? CLOSED : socket.fd(), wasFull ? LinuxAbi.POLLIN | LinuxAbi.POLLOUT : LinuxAbi.POLLIN);
        return timeoutNanos;
    }

    @Override
    protected void release() {
        socket.close();
    }
}
