package verbena.nic.link.ethernet;

import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import verbena.nic.link.HeaderSeal;
import verbena.nic.link.Seal;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.roce.Ethernet;
import verbena.wire.roce.NetworkHeaders;
import verbena.wire.roce.RoceV2;

/// The search for packets in the frames that a wire brings. A frame may hold anything: a frame without a packet for
/// this link is counted and dropped.
///
/// A frame is for this link when each of these fits: its VLAN, its Ethernet address, its type, and the
/// addresses of its packet. One that claims to come from this link's own address is not: what this link sends
/// to itself never is on the wire.
///
/// For one thread at a time, except for the counters.
final class EthernetInbox {
    private final Wire wire;
    private final long mac;
    private final int vlan;
    private final NetworkHeaders headers;
    private final Seal seal;
    private final Gid[] own;
    private final Set<Gid> groups = new HashSet<>();
    private final DeviceGroups ofDevice;
    /// The count of malformed frames, written here and read by any thread.
    private final AtomicLong malformed = new AtomicLong();

    private final AtomicLong foreign = new AtomicLong();

    /// @param vlan the number of the only VLAN whose frames are taken; [Ethernet#NO_TAG] for frames without one
    EthernetInbox(Wire wire, long mac, int vlan, NetworkHeaders headers, List<GidEntry> gids) {
        this(wire, mac, vlan, headers, gids, new DeviceGroups(), new HeaderSeal(headers));
    }

    /// The same for one of several links of a device.
    ///
    /// @param ofDevice the groups of all of them
    /// @param seal judges arrivals
    EthernetInbox(
            Wire wire,
            long mac,
            int vlan,
            NetworkHeaders headers,
            List<GidEntry> gids,
            DeviceGroups ofDevice,
            Seal seal) {
        this.ofDevice = ofDevice;
        this.wire = wire;
        this.mac = mac;
        this.vlan = vlan;
        this.headers = headers;
        this.seal = seal;
        this.own = gids.stream().map(GidEntry::gid).toArray(Gid[]::new);
    }

    /// Returns the groups that the link is in.
    Set<Gid> groups() {
        return groups;
    }

    void join(Gid group) {
        groups.add(group);
        ofDevice.join(group);
    }

    /// Leaves a group; returns false when it was in no such group.
    boolean leave(Gid group) {
        boolean wasMember = groups.remove(group);
        if (wasMember) {
            ofDevice.leave(group);
        }
        return wasMember;
    }

    long malformed() {
        return malformed.get();
    }

    /// Returns how many frames were of another kind, or for others.
    long foreign() {
        return foreign.get();
    }

    /// Fills frames with packets, at most `count`; returns how many. They lie in the wire's memory.
    int take(Frame[] frames, int from, int count) {
        int taken = 0;
        while (taken < count && wire.next()) {
            Frame frame = frames[from + taken];
            int start = wire.kept() < wire.length() ? NetworkHeaders.MALFORMED : open(frame);
            if (start >= 0) {
                frame.view(wire.memory(), wire.bytes(), start);
                seal.judge(frame, 0);
                taken++;
            } else if (start == NetworkHeaders.MALFORMED) {
                malformed.incrementAndGet();
            } else {
                foreign.incrementAndGet();
            }
        }
        return taken;
    }

    /// Returns where the packet of the wire's arrival begins, or the reason why there is none for this link.
    private int open(Frame frame) {
        MemorySegment memory = wire.memory();
        int at = wire.start();
        int end = at + wire.length();
        if (wire.length() < Ethernet.BYTES) {
            return NetworkHeaders.MALFORMED;
        }
        int type = Ethernet.type(memory, at);
        int tag = wire.tag();
        int network = at + Ethernet.BYTES;
        if (tag == Ethernet.NO_TAG && type == Ethernet.TYPE_VLAN) {
            if (end < network + Ethernet.TAG_BYTES) {
                return NetworkHeaders.MALFORMED;
            }
            tag = BigEndian.u16(memory, network);
            type = BigEndian.u16(memory, network + 2L);
            network += Ethernet.TAG_BYTES;
        }
        // Another tag behind the first one is a type that no headers have.
        if (!isOurs(tag)) {
            return NetworkHeaders.FOREIGN;
        }
        frame.local.destinationMac = Ethernet.destination(memory, at);
        frame.local.sourceMac = Ethernet.source(memory, at);
        frame.local.vlanTag = tag;
        int start = headers.read(type, memory, network, end, frame);
        return start < 0 || isForThisLink(frame) ? start : NetworkHeaders.FOREIGN;
    }

    /// Returns whether a frame with this tag is of the link's VLAN. A tag of VLAN 0 has a priority only.
    private boolean isOurs(int tag) {
        int number = tag == Ethernet.NO_TAG ? 0 : tag & Ethernet.VLAN_MASK;
        return number == Math.max(vlan, 0);
    }

    private boolean isForThisLink(Frame frame) {
        if (isOwn(frame.sourceHigh, frame.sourceLow) || RoceV2.isMulticast(frame.sourceHigh, frame.sourceLow)) {
            return false;
        }
        long high = frame.destinationHigh;
        long low = frame.destinationLow;
        return RoceV2.isMulticast(high, low)
                ? frame.local.destinationMac == Ethernet.groupMac(high, low) && isMember(high, low)
                : frame.local.destinationMac == mac && isOwn(high, low);
    }

    /// Returns whether an address is one of this link's.
    boolean isOwn(long high, long low) {
        for (int i = 0; i < own.length; i++) {
            if (own[i].low() == low && own[i].high() == high) {
                return true;
            }
        }
        return false;
    }

    /// Returns whether packets to a group are taken.
    boolean isMember(long high, long low) {
        return ofDevice.isMember(high, low);
    }
}
