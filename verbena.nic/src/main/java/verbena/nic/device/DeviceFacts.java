package verbena.nic.device;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import verbena.nic.engine.Engine;
import verbena.nic.engine.Engines;
import verbena.nic.kind.DeviceKind;
import verbena.nic.kind.DeviceLimits;
import verbena.nic.kind.DeviceProfile;
import verbena.nic.kind.GidTable;
import verbena.verbs.AtomicCapability;
import verbena.verbs.Capability;
import verbena.verbs.Device;
import verbena.verbs.DeviceAttributes;
import verbena.verbs.LinkLayer;
import verbena.verbs.Mtu;
import verbena.verbs.OnDemandPaging;
import verbena.verbs.OnDemandPaging.Use;
import verbena.verbs.PortAttributes;
import verbena.verbs.PortAttributes.Link;
import verbena.verbs.PortState;
import verbena.verbs.QpType;

/// Answers what a program asks an open device about itself: attributes, port, counters (IBTA 11.2.1.2). Any thread.
///
/// @param mtu largest path MTU
record DeviceFacts(Device device, Mtu mtu, DeviceKind kind, Engines engines, GidTable gids) {
    /// The vendor number that rxe and siw report when there is no company (IEEE OUI); zero is a company's number.
    private static final int NO_VENDOR = 0xFF_FFFF;

    private static final String FIRMWARE = "verbena 0.1";
    private static final long PAGE_SIZES = 0xFFFF_F000L;
    private static final int ACK_DELAY = 15; // 4.096 us * 2^15

    DeviceAttributes attributes() {
        DeviceProfile profile = kind.profile();
        return new DeviceAttributes(
                new DeviceAttributes.Identity(FIRMWARE, device.nodeGuid(), device.nodeGuid(), NO_VENDOR, 0, 0),
                new DeviceAttributes.QueueLimits(
                        engines.queuePairsMax(),
                        DeviceLimits.QP_WR_MAX,
                        DeviceLimits.SGE_MAX,
                        DeviceLimits.SGE_MAX,
                        DeviceLimits.INLINE_MAX,
                        DeviceLimits.CQ_MAX,
                        DeviceLimits.CQE_MAX,
                        DeviceLimits.SRQ_MAX,
                        DeviceLimits.QP_WR_MAX,
                        DeviceLimits.SGE_MAX),
                new DeviceAttributes.MemoryLimits(
                        DeviceLimits.PD_MAX,
                        DeviceLimits.MR_MAX,
                        DeviceLimits.MR_MAX,
                        Long.MAX_VALUE,
                        DeviceLimits.DEVICE_MEMORY_BYTES_MAX,
                        PAGE_SIZES,
                        onDemandPaging(profile)),
                new DeviceAttributes.TransportLimits(
                        DeviceLimits.MESSAGE_BYTES_MAX,
                        DeviceLimits.READ_ATOMIC_MAX,
                        DeviceLimits.READ_ATOMIC_MAX * engines.queuePairsMax(),
                        DeviceLimits.READ_ATOMIC_MAX,
                        AtomicCapability.HCA,
                        ACK_DELAY),
                new DeviceAttributes.DatagramLimits(
                        profile.addressHandles(),
                        profile.multicastGroups(),
                        profile.multicastAttached(),
                        profile.multicastGroups() * profile.multicastAttached()),
                DeviceAttributes.Clock.NONE,
                1,
                1,
                profile.capabilities());
    }

    /// Returns the uses of such memory: all that requests do with any memory.
    private static OnDemandPaging onDemandPaging(DeviceProfile profile) {
        if (!profile.capabilities().contains(Capability.ON_DEMAND_PAGING)) {
            return OnDemandPaging.NONE;
        }
        var uses = new EnumMap<QpType, Set<Use>>(QpType.class);
        for (QpType type : QpType.values()) {
            if (profile.capabilities().contains(type.capability())) {
                uses.put(type, uses(type, profile.capabilities()));
            }
        }
        return new OnDemandPaging(true, uses);
    }

    private static Set<Use> uses(QpType type, Set<Capability> capabilities) {
        var uses = EnumSet.of(Use.SEND, Use.RECEIVE, Use.SHARED_RECEIVE);
        if (type == QpType.UD) {
            return uses;
        }
        uses.add(Use.WRITE);
        if (type != QpType.UC) {
            uses.addAll(EnumSet.of(Use.READ, Use.ATOMIC));
            add(uses, Use.FLUSH, capabilities.contains(Capability.FLUSH));
            add(uses, Use.ATOMIC_WRITE, capabilities.contains(Capability.ATOMIC_WRITE));
        }
        return uses;
    }

    private static void add(Set<Use> uses, Use use, boolean is) {
        if (is) {
            uses.add(use);
        }
    }

    /// @param isOpen whether the device is open; the port of a closed device is down
    PortAttributes port(boolean isOpen) {
        boolean active = isOpen && gids.isLive();
        return kind.port(new PortAttributes(
                active ? PortState.ACTIVE : PortState.DOWN,
                LinkLayer.ETHERNET,
                new Link(active ? Link.State.LINK_UP : Link.State.DISABLED, Link.Width.X1, Link.Speed.SDR),
                PortAttributes.Lids.NONE,
                Mtu.MTU_4096,
                mtu,
                gids.entries().size(),
                1,
                DeviceLimits.MESSAGE_BYTES_MAX,
                0));
    }

    /// Returns the counters of all engines and links, summed by name, and those of the kind of device.
    SortedMap<String, Long> counters() {
        SortedMap<String, Long> all = new TreeMap<>();
        for (Engine engine : engines.all()) {
            var link = engine.link();
            engine.counters().snapshot().forEach((name, count) -> all.merge(name, count, Long::sum));
            all.merge("dropped.malformed", link.malformed(), Long::sum);
            all.merge("received.packets", link.malformed(), Long::sum);
            all.merge("unsendable", link.unsendable(), Long::sum);
            link.counters().forEach((name, count) -> all.merge(name, count, Long::sum));
        }
        all.putAll(kind.counters());
        return all;
    }
}
