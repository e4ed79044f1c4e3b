package verbena.nic.roce;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.nic.capture.CaptureFile;
import verbena.nic.kind.HostProvider;
import verbena.nic.link.Faults;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.link.LinkKind;
import verbena.nic.link.NativeAccess;
import verbena.nic.link.ethernet.EthernetWay;
import verbena.nic.link.udp.UdpOptions;
import verbena.transport.congestion.CongestionRule;
import verbena.transport.weak.Weakness;
import verbena.verbs.Mtu;
import verbena.wire.roce.Ethernet;

/// The options behind the first comma of a device's name.
///
/// @param engines how many share its queue pairs, 0 for what the processors suggest
/// @param link how its sockets are made
/// @param way how frames of its own making come and go, null for a device that has sockets
/// @param vlan the number of the VLAN of these frames, [Ethernet#NO_TAG] for none
/// @param mtu path MTU not to exceed, null for what the interface carries
/// @param congestion what its reliable connections do about congestion
/// @param faults what is done to its packets, null for nothing
/// @param capture where its packets are written, null for nowhere
/// @param protection whether its packets are encrypted
/// @param weakness the freedoms that it takes, null for none
record DeviceOptions(
        int engines,
        UdpOptions link,
        @Nullable EthernetWay way,
        int vlan,
        @Nullable Mtu mtu,
        CongestionRule congestion,
        @Nullable Faults faults,
        @Nullable CaptureFile capture,
        Protection protection,
        @Nullable Weakness weakness) {
    private static final Set<String> ON_ETHERNET =
            Set.of("busy-poll", "capture", "engines", "faults", "link", "mtu", "queue", "vlan");
    /// 4095 is reserved (IEEE 802.1Q, table 9-2).
    private static final int VLAN_LAST = 4_094;

    private static final int QUEUE_LAST = 4_095;

    static final DeviceOptions NONE = new DeviceOptions(
            0, UdpOptions.DEFAULT, null, Ethernet.NO_TAG, null, CongestionRule.NONE, null, null, Protection.NONE, null);
    /// The options of a device that is on Ethernet itself.
    private static final DeviceOptions NONE_ON_ETHERNET = NONE.withWay(EthernetWay.PACKET_SOCKET);

    /// Reads the options of `name`. A part without `=` goes on with the option before it.
    ///
    /// @throws IllegalArgumentException when there is no such option or it has no such value
    static DeviceOptions parse(String name) {
        int comma = name.indexOf(',');
        DeviceOptions none = NONE.withProtection(Protection.ofSurroundings());
        DeviceOptions options =
                HostProvider.options(name, comma < 0 ? "" : name.substring(comma + 1), none, DeviceOptions::with);
        if (options.way == null && options.vlan != Ethernet.NO_TAG) {
            throw new IllegalArgumentException("device " + name + ": option \"vlan=" + options.vlan
                    + "\" needs link=raw or link=xdp; sockets use the VLAN's own interface");
        }
        return options.checked(name);
    }

    /// Checks that the options fit together: a packet socket has all queues. A device with PSP has an address for
    /// itself.
    private DeviceOptions checked(String name) {
        protection.check(name);
        if (protection.isOn() && engines > 1) {
            throw new IllegalArgumentException("device " + name + ": option \"engines=" + engines
                    + "\": with psp=on a device has one engine, because several would share an address");
        }
        if (weakness != null && engines > 1) {
            throw new IllegalArgumentException(
                    "device " + name + ": option \"engines=" + engines + "\": with weak a device has one engine");
        }
        if (way != null && !way.isXdp() && engines > 1) {
            throw new IllegalArgumentException(
                    "device " + name + ": option \"engines=" + engines + "\": link=raw has one engine");
        }
        return this;
    }

    /// Reads the options of a device that is on Ethernet itself.
    ///
    /// @throws IllegalArgumentException when there is no such option or it has no such value
    static DeviceOptions parseOnEthernet(String name, String text) {
        return HostProvider.options(name, text, NONE_ON_ETHERNET, (options, setting) -> {
                    String option = setting.split("=", 2)[0];
                    if (option.equals("psp")) {
                        throw new IllegalArgumentException("PSP protects packets of UDP, and RoCE v1 has none");
                    }
                    if (!ON_ETHERNET.contains(option)) {
                        throw new IllegalArgumentException("there is no option \"" + option
                                + "\"; there are busy-poll, capture, engines, faults, link, mtu, queue and vlan");
                    }
                    if (option.equals("link") && !setting.equals("link=raw") && !setting.equals("link=xdp")) {
                        throw new IllegalArgumentException("link: raw or xdp");
                    }
                    return options.with(setting);
                })
                .checked(name);
    }

    private DeviceOptions with(String setting) {
        String[] pair = setting.split("=", 2);
        String value = pair.length == 2 ? pair[1] : "";
        return switch (pair[0]) {
            case "link" ->
                switch (value) {
                    case "raw" -> withWay(EthernetWay.PACKET_SOCKET);
                    case "xdp" -> withWay(EthernetWay.XDP);
                    default ->
                        new DeviceOptions(
                                engines,
                                link.with(LinkKind.parse(value)),
                                null,
                                vlan,
                                mtu,
                                congestion,
                                faults,
                                capture,
                                protection,
                                weakness);
                };
            case "mtu" ->
                new DeviceOptions(
                        engines,
                        link,
                        way,
                        vlan,
                        Mtu.ofBytes(Integer.parseInt(value)),
                        congestion,
                        faults,
                        capture,
                        protection,
                        weakness);
            case "faults" ->
                new DeviceOptions(
                        engines, link, way, vlan, mtu, congestion, Faults.parse(value), capture, protection, weakness);
            case "engines" ->
                new DeviceOptions(
                        HostProvider.parseEngines(value),
                        link,
                        way,
                        vlan,
                        mtu,
                        congestion,
                        faults,
                        capture,
                        protection,
                        weakness);
            case "capture" ->
                new DeviceOptions(
                        engines,
                        link,
                        way,
                        vlan,
                        mtu,
                        congestion,
                        faults,
                        CaptureFile.parse(value),
                        protection,
                        weakness);
            case "vlan" ->
                new DeviceOptions(
                        engines, link, way, parseVlan(value), mtu, congestion, faults, capture, protection, weakness);
            case "queue" -> withWay(new EthernetWay(parseQueue(value), xdp().pollsBusily()));
            case "busy-poll" -> withWay(new EthernetWay(xdp().queue(), parseSwitch(value)));
            case "congestion" -> {
                CongestionRule rule = CongestionRule.parse(value);
                yield withCongestion(rule.withMarks(rule.marks() || congestion.marks()));
            }
            case "psp" -> withProtection(protection.withVersion(value));
            case "secret" -> withProtection(protection.withSecret(value));
            case "keylog" -> withProtection(protection.withKeyLog(value));
            case "weak" -> withWeakness(Weakness.parse(value, 0));
            case "seed" -> withWeakness(HostProvider.parseSeed(weakness, value));
            case "ecn" -> withCongestion(congestion.withMarks(parseSwitch(value)));
            default ->
                throw new IllegalArgumentException("there is no option \"" + pair[0]
                        + "\"; there are busy-poll, capture, congestion, ecn, engines, faults, link, mtu, psp,"
                        + " queue, secret, seed, vlan and weak");
        };
    }

    private DeviceOptions withCongestion(CongestionRule rule) {
        return new DeviceOptions(engines, link, way, vlan, mtu, rule, faults, capture, protection, weakness);
    }

    private DeviceOptions withProtection(Protection chosen) {
        return new DeviceOptions(engines, link, way, vlan, mtu, congestion, faults, capture, chosen, weakness);
    }

    private DeviceOptions withWeakness(Weakness chosen) {
        return new DeviceOptions(engines, link, way, vlan, mtu, congestion, faults, capture, protection, chosen);
    }

    private static boolean parseSwitch(String value) {
        return switch (value) {
            case "on" -> true;
            case "off" -> false;
            default -> throw new IllegalArgumentException("on or off, got \"" + value + "\"");
        };
    }

    private DeviceOptions withWay(EthernetWay chosen) {
        return new DeviceOptions(engines, link, chosen, vlan, mtu, congestion, faults, capture, protection, weakness);
    }

    private EthernetWay xdp() {
        if (way == null || !way.isXdp()) {
            throw new IllegalArgumentException("needs link=xdp before it");
        }
        return way;
    }

    private static int parseQueue(String value) {
        int number = Integer.parseInt(value);
        if (number < 0 || number > QUEUE_LAST) {
            throw new IllegalArgumentException("0 to " + QUEUE_LAST + ", got " + number);
        }
        return number;
    }

    private static int parseVlan(String value) {
        int vlan = Integer.parseInt(value);
        if (vlan < 0 || vlan > VLAN_LAST) {
            throw new IllegalArgumentException("0 to " + VLAN_LAST + ", got " + vlan);
        }
        return vlan;
    }

    /// Returns the congestion rule of connections on this interface.
    ///
    /// @throws IllegalArgumentException when that needs marks, and the sockets cannot read them
    CongestionRule congestionOn(HostInterface host) {
        String why =
                way != null ? null : link.kind() == LinkKind.PORTABLE ? "link=portable" : NativeAccess.whyPortable();
        if (congestion.marks() && why != null) {
            throw new IllegalArgumentException("option \"ecn\", or \"congestion=dcqcn\", which needs it: marks of"
                    + " switches are read by Linux system calls, and there are none: " + why);
        }
        return host.bitsPerSecond().isPresent()
                ? congestion.onLink((double) host.bitsPerSecond().getAsLong())
                : congestion;
    }

    /// Returns the number of engines of a device: the one in the options, else as many as fit. Several need the
    /// Linux link: without it they cannot have sockets at one address.
    ///
    /// @throws IllegalArgumentException when several are asked for and cannot be had
    int enginesToOpen() {
        if (protection.isOn() || weakness != null) {
            return 1;
        }
        String why = link.kind() == LinkKind.PORTABLE ? "link=portable" : NativeAccess.whyPortable();
        if (why == null) {
            return engines > 0 ? engines : HostProvider.fittingEngines();
        }
        if (engines > 1) {
            throw new IllegalArgumentException("option \"engines=" + engines
                    + "\": several engines need Linux system calls, and there are none: " + why);
        }
        return 1;
    }
}
