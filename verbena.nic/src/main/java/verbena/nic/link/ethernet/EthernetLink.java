package verbena.nic.link.ethernet;

import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import verbena.foreign.linux.LinuxAbi;
import verbena.nic.link.Claimable;
import verbena.nic.link.FrameRing;
import verbena.nic.link.HeaderSeal;
import verbena.nic.link.Interfaces;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.link.LinkException;
import verbena.nic.link.LoopbackAddress;
import verbena.nic.link.Occupancy;
import verbena.nic.link.OwnSeal;
import verbena.nic.link.PlainSeal;
import verbena.nic.link.PolledLink;
import verbena.nic.link.Seal;
import verbena.nic.link.SecondPort;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.wire.Frame;
import verbena.wire.ib.Grh;
import verbena.wire.roce.Ethernet;
import verbena.wire.roce.GrhHeaders;
import verbena.wire.roce.NetworkHeaders;
import verbena.wire.roce.RoceV2;
import verbena.wire.roce.UdpHeaders;

/// RoCE in Ethernet frames of its own making, over a [Wire]: RoCE v1, or RoCE v2 with IP and UDP headers that
/// no socket writes ([decision 04](../../../../../../../../docs/decisions/04-raw-ethernet.md)).
///
/// A packet is sealed, gets its true headers where the masked ones were, and leaves from its own slot. The
/// Ethernet address of a peer comes from its GID or from a [Resolver]; packets wait for it, up to
/// [WaitingFrames#CAPACITY] of them. What this link sends to its own addresses, and to groups that it has
/// joined, does not leave the process.
///
/// Threads as in [verbena.nic.link.Link]. Linux only. Allocates nothing for a packet, except for the first one to a
/// peer.
public final class EthernetLink extends PolledLink implements Claimable, OwnSeal, SecondPort {
    private static final int SELF_BYTES = 1 << 18;
    /// The number of calls of [#receive] after which the link looks for changed addresses without a report.
    private static final int LOOKS = 4_096;

    private static final int LOOKS_WAITING = 64;
    /// The second descriptor that ends a sleep.
    private static final int NEWS = 1;

    /// The identity of a link on its wire.
    ///
    /// @param gids of one interface; their type decides between RoCE v1 and RoCE v2
    /// @param mac the address of the interface
    /// @param mtu of the interface
    /// @param vlan the number of the VLAN, 0 for tags that have a priority only, [Ethernet#NO_TAG] for no tags
    /// @param isWrapped whether a link around it seals packets, which then leave and arrive as they are
    /// @param secondPort of UDP beside that of RoCE; 0 for none
    public record Station(List<GidEntry> gids, long mac, int mtu, int vlan, boolean isWrapped, int secondPort) {
        public Station {
            if (gids.isEmpty()) {
                throw new LinkException(
                        LinkException.Kind.UNSUPPORTED,
                        "raw Ethernet: needs an interface with an address: name it, as in rocev2_eth0,link=raw");
            }
            gids = List.copyOf(gids);
        }

        boolean isRoceV1() {
            return gids.getFirst().type() == GidType.ROCE_V1;
        }

        NetworkHeaders headers() {
            return isRoceV1() ? new GrhHeaders() : new UdpHeaders(secondPort);
        }

        /// Returns the ports of UDP whose packets arrive.
        List<Integer> ports() {
            if (isRoceV1()) {
                return List.of();
            }
            return secondPort == 0 ? List.of(RoceV2.UDP_PORT) : List.of(RoceV2.UDP_PORT, secondPort);
        }

        Seal seal(NetworkHeaders headers) {
            return isWrapped ? new PlainSeal(new HeaderSeal(headers)) : new HeaderSeal(headers);
        }
    }

    private final Station station;
    private final Wire wire;
    private final Resolver resolver;
    private final EthernetInbox inbox;

    private final NetworkHeaders headers;
    private final Seal seal;
    private final int packetMax;
    private final WaitingFrames waiting = new WaitingFrames();
    private final WaitingFrames.Visitor sender = this::stillWaits;
    /// The ring for frames from this link to itself.
    private final FrameRing self = new FrameRing(arena.allocate(FrameRing.bytes(SELF_BYTES), 64));

    private int untilLook = LOOKS;
    private boolean mayHaveMore;
    /// Whether the sleeping thread has seen that the resolver has news.
    private volatile boolean hasNews;

    // Written here, read by any thread.
    private final AtomicLong unsendable = new AtomicLong();
    private final AtomicLong unresolved = new AtomicLong();
    private final AtomicLong selfFull = new AtomicLong();

    /// Opens a link on an interface of this host.
    ///
    /// @param gids its addresses, of one type
    /// @param vlan as in [Station]
    /// @param isWrapped as in [Station]
    /// @param secondPort that the link would like beside the port of RoCE, where the system permits it; 0 for none
    /// @throws LinkException when the system does not permit it; [#claim()] says whether another link has the
    ///     interface or an address
    public static EthernetLink open(
            HostInterface host, List<GidEntry> gids, int vlan, EthernetWay way, boolean isWrapped, int secondPort) {
        int second = secondPort != 0 && mayHave(secondPort) ? secondPort : 0;
        var station = new Station(gids, host.mac(), host.mtu(), vlan, isWrapped, second);
        Wire wire = way.isXdp()
                ? XdpWire.open(host, station.ports(), gids, way, 1).getFirst()
                : PacketWire.open(host, station.ports(), gids);
        return over(List.of(wire), station, host).getFirst();
    }

    /// Opens links of one device, each with a queue of its own by AF_XDP.
    ///
    /// @param way with the first of the queues
    /// @param count how many, at least two
    /// @throws LinkException as [#open] does
    public static List<QueueLink> openQueues(
            HostInterface host, List<GidEntry> gids, int vlan, EthernetWay way, int count) {
        var station = new Station(gids, host.mac(), host.mtu(), vlan, false, 0);
        return QueueLink.join(over(XdpWire.open(host, station.ports(), gids, way, count), station, host));
    }

    /// Links over wires, which are closed when a link cannot be made.
    private static List<EthernetLink> over(List<? extends Wire> wires, Station station, HostInterface host) {
        var groups = new DeviceGroups();
        var links = new ArrayList<EthernetLink>();
        try {
            while (links.size() < wires.size()) {
                links.add(over(wires.get(links.size()), station, host, groups));
            }
            return links;
        } finally {
            if (links.size() < wires.size()) {
                links.forEach(EthernetLink::close);
                wires.subList(links.size(), wires.size()).forEach(Wire::close);
            }
        }
    }

    private static EthernetLink over(Wire wire, Station station, HostInterface host, DeviceGroups groups) {
        var resolver = new KernelNeighbours(host.index());
        EthernetLink link = null;
        try {
            link = new EthernetLink(station, wire, resolver, groups);
            return link;
        } finally {
            if (link == null) {
                resolver.close();
            }
        }
    }

    /// A link over any wire; closes both when it is closed.
    EthernetLink(Station station, Wire wire, Resolver resolver) {
        this(station, wire, resolver, new DeviceGroups());
    }

    private EthernetLink(Station station, Wire wire, Resolver resolver, DeviceGroups ofDevice) {
        super(2);
        this.station = station;
        this.wire = wire;
        this.resolver = resolver;
        headers = station.headers();
        seal = station.seal(headers);
        NetworkHeaders arriving = station.headers();
        inbox = new EthernetInbox(
                wire, station.mac(), station.vlan(), arriving, station.gids(), ofDevice, station.seal(arriving));
        boolean isOnlyIpv4 =
                station.gids().stream().allMatch(entry -> entry.gid().isIpv4());
        int overhead = station.isRoceV1() ? Grh.BYTES : isOnlyIpv4 ? RoceV2.IPV4_OVERHEAD : RoceV2.IPV6_OVERHEAD;
        packetMax = Math.min(Frame.PACKET_MAX, station.mtu() - overhead) & ~3; // whole words (IBTA 9.2, PadCnt)
    }

    /// Returns whether this process may bind a port.
    private static boolean mayHave(int port) {
        try {
            var _ = LoopbackAddress.find(port);
            return true;
        } catch (LinkException _) {
            return false;
        }
    }

    @Override
    public int secondPort() {
        return station.secondPort();
    }

    @Override
    public void claim() {
        wire.claim();
    }

    // ---- receiving

    @Override
    public int receive(Frame[] frames, int from, int count) {
        try (Occupancy.Stay stay = occupancy.move()) {
            if (stay == null) {
                return 0;
            }
            wire.release();
            if (hasNews || --untilLook <= 0) {
                look();
            }
            int received = self.take(frames, from, count);
            for (int i = from; i < from + received; i++) {
                describeOwn(frames[i]);
            }
            received += inbox.take(frames, from + received, count - received);
            mayHaveMore = received == count && wire.hasNext();
            return received;
        }
    }

    /// Sets the headers that a packet to this link itself would have had.
    private void describeOwn(Frame frame) {
        frame.local.isRoceV1 = station.isRoceV1();
        frame.secondPort = 0;
        frame.sourcePort = frame.local.isRoceV1 ? 0 : RoceV2.UDP_PORT;
        describe(frame, station.mac());
    }

    private void describe(Frame frame, long destinationMac) {
        frame.local.sourceMac = station.mac();
        frame.local.destinationMac = destinationMac;
        frame.local.vlanTag =
                station.vlan() == Ethernet.NO_TAG ? Ethernet.NO_TAG : Ethernet.tag(station.vlan(), frame.serviceLevel);
    }

    @Override
    public boolean mayHaveMore() {
        return mayHaveMore;
    }

    /// Gives the memory of the last arrivals back before it looks: while some is held, the wire's descriptor is
    /// readable.
    @Override
    public boolean hasArrivals() {
        try (Occupancy.Stay stay = occupancy.move()) {
            if (stay == null) {
                return false;
            }
            wire.release();
            return self.hasRecords();
        }
    }

    // ---- sending

    @Override
    public int transmit(Frame[] frames, int from, int count) {
        try (Occupancy.Stay stay = occupancy.move()) {
            if (stay == null) {
                return 0;
            }
            int sent = send(frames, from, count);
            boolean _ = self.publish();
            return sent;
        }
    }

    private int send(Frame[] frames, int from, int count) {
        int sent = 0;
        int put = 0;
        for (int i = 0; i < count; i++) {
            Frame frame = frames[from + i];
            long mac = macOf(frame);
            boolean isApart = mac < 0 || isForSelf(frame);
            if (!isApart) {
                put(frame, mac);
                put++;
            }
            if (isApart || put == wire.batch() || i == count - 1) {
                sent += wire.transmit();
                put = 0;
                if (sent < (isApart ? i : i + 1) || (isApart && !sendApart(frame, mac))) {
                    return sent;
                }
                sent = i + 1;
            }
        }
        return sent;
    }

    /// Returns whether a packet goes to this link itself, alone or as one of a group.
    private boolean isForSelf(Frame frame) {
        return RoceV2.isMulticast(frame.destinationHigh, frame.destinationLow)
                ? inbox.isMember(frame.destinationHigh, frame.destinationLow)
                : inbox.isOwn(frame.destinationHigh, frame.destinationLow);
    }

    /// Returns the Ethernet address of the frame's destination, or a constant of the resolver.
    private long macOf(Frame frame) {
        long high = frame.destinationHigh;
        long low = frame.destinationLow;
        if (RoceV2.isMulticast(high, low)) {
            return Ethernet.groupMac(high, low);
        }
        if (inbox.isOwn(high, low)) {
            return station.mac();
        }
        return station.isRoceV1() && Ethernet.isOfMac(high, low) ? Ethernet.macOf(low) : resolver.mac(high, low, true);
    }

    /// Sends a frame that this link gets too, or whose address is not known; false when there is no room.
    private boolean sendApart(Frame frame, long mac) {
        if (mac == Resolver.NONE) {
            refuse(frame);
        } else if (mac == Resolver.UNKNOWN) {
            if (!waiting.add(frame)) {
                unresolved.incrementAndGet();
            }
        } else {
            if (RoceV2.isMulticast(frame.destinationHigh, frame.destinationLow)) {
                put(frame, mac);
                if (wire.transmit() == 0) {
                    return false;
                }
            }
            sendToSelf(frame);
        }
        return true;
    }

    private void sendToSelf(Frame frame) {
        if (!station.isRoceV1()) {
            frame.sourcePort = RoceV2.UDP_PORT;
        }
        seal.seal(frame, 0);
        describe(frame, station.mac());
        if (!self.put(frame)) {
            selfFull.incrementAndGet();
        }
    }

    /// Completes a frame and puts it on the wire.
    private void put(Frame frame, long mac) {
        frame.moveToOwn();
        seal.seal(frame, 0);
        headers.write(frame);
        describe(frame, mac);
        int before = headers.bytes(frame) + Ethernet.bytes(frame.local.vlanTag);
        int start = frame.start - before;
        Ethernet.write(frame.slot, start, mac, station.mac(), frame.local.vlanTag, headers.etherType(frame));
        wire.put(frame, before);
    }

    private void refuse(Frame frame) {
        frame.marks.unsendable = true;
        unsendable.incrementAndGet();
    }

    // ---- addresses

    /// Looks for news of addresses, and sends what has waited for them.
    private void look() {
        hasNews = false; // before the look: later news set it again
        untilLook = waiting.isEmpty() ? LOOKS : LOOKS_WAITING;
        if (resolver.hasNews() && !waiting.isEmpty()) {
            waiting.visit(sender);
        }
    }

    private boolean stillWaits(Frame frame) {
        long mac = resolver.mac(frame.destinationHigh, frame.destinationLow, false);
        if (mac == Resolver.UNKNOWN) {
            return true;
        }
        if (mac == Resolver.NONE) {
            unresolved.incrementAndGet();
        } else {
            put(frame, mac);
            if (wire.transmit() == 0) {
                unresolved.incrementAndGet();
            }
        }
        return false;
    }

    // ---- groups

    @Override
    public void join(Gid group) {
        if (!group.isMulticast()) {
            throw new IllegalArgumentException("group: " + group + " is not a multicast address");
        }
        if (inbox.groups().contains(group)) {
            return;
        }
        if (inbox.groups().size() == GROUPS_MAX) {
            throw new LinkException(
                    LinkException.Kind.FAILED,
                    "multicast group " + group + ": this link is in " + GROUPS_MAX + " groups, and no more fit");
        }
        // A GRH carries any group; IP does not.
        if (!station.isRoceV1()
                && station.gids().stream().noneMatch(entry -> entry.gid().isIpv4() == group.isIpv4())) {
            throw new LinkException(
                    LinkException.Kind.UNSUPPORTED,
                    "multicast group " + group + ": none of this link's addresses is "
                            + (group.isIpv4() ? "an IPv4 one" : "an IPv6 one"));
        }
        wire.join(group, Ethernet.groupMac(group.high(), group.low()));
        inbox.join(group);
    }

    @Override
    public void leave(Gid group) {
        if (inbox.leave(group)) {
            wire.leave(group, Ethernet.groupMac(group.high(), group.low()));
        }
    }

    // ---- what it is

    @Override
    public List<GidEntry> gids() {
        return station.gids();
    }

    /// Returns the entries that can be used now. The address that is made from the Ethernet address is there while
    /// the interface is up.
    @Override
    public List<GidEntry> liveGids() {
        List<GidEntry> live = Interfaces.live(station.gids());
        return station.gids().stream()
                .filter(entry -> live.contains(entry)
                        || (entry.gid().low() == Ethernet.interfaceId(station.mac())
                                && entry.gid().isLinkLocal()
                                && isUp(entry)))
                .toList();
    }

    private static boolean isUp(GidEntry entry) {
        try {
            NetworkInterface at = NetworkInterface.getByIndex(entry.interfaceIndex());
            return at != null && at.isUp();
        } catch (SocketException e) {
            return false; // the interface has just gone
        }
    }

    @Override
    public int packetMax() {
        return packetMax;
    }

    @Override
    public Seal newSeal() {
        return new HeaderSeal(station.headers());
    }

    @Override
    public long malformed() {
        return inbox.malformed();
    }

    @Override
    public long unsendable() {
        return unsendable.get() + wire.refused();
    }

    @Override
    public Map<String, Long> counters() {
        var counters = new TreeMap<>(wire.counters());
        counters.put("ethernet.dropped.foreign", inbox.foreign());
        counters.put("ethernet.dropped.unresolved", unresolved.get());
        counters.put("ethernet.dropped.self", selfFull.get());
        return counters;
    }

    // ---- sleeping

    @Override
    protected long lastLook(long timeoutNanos) {
        if (self.hasRecords()) {
            return 0;
        }
        sleep.watch(wire.descriptor(), wire.wasFull() ? LinuxAbi.POLLIN | LinuxAbi.POLLOUT : LinuxAbi.POLLIN);
        sleep.watch(resolver.descriptor(), LinuxAbi.POLLIN);
        return timeoutNanos;
    }

    @Override
    protected void afterSleep() {
        if (sleep.isReadable(NEWS)) {
            hasNews = true;
        }
    }

    @Override
    protected void release() {
        resolver.close();
        wire.close();
    }
}
