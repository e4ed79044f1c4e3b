package verbena.nic.roce;

import java.util.List;
import java.util.Optional;
import verbena.nic.kind.HostProvider;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.link.LinkException;
import verbena.nic.link.LoopbackAddress;
import verbena.nic.link.NativeAccess;
import verbena.nic.link.sharing.Service;
import verbena.nic.link.sharing.SharedAddress;
import verbena.verbs.Device;
import verbena.verbs.Gid;
import verbena.verbs.GidType;
import verbena.wire.psp.PspHeader;
import verbena.wire.roce.RoceV2;

/// The provider of `rocev2` devices: one on loopback, one for each network interface with an address, and one for
/// any local address by name. [Device] tells the names; the options are
///
/// | option | value |
/// |---|---|
/// | `engines` | how many share the work, a thread each: 1 to 64; else one for four processors |
/// | `link` | `auto` (default), `linux`, `portable`: the JDK's channels; frames of Ethernet: `raw`, `xdp` |
/// | `busy-poll` | behind `link=xdp`, `on`: a look for frames works for the interface itself; default `off` |
/// | `queue` | behind `link=xdp`: the queue of the interface, from 0 (default) |
/// | `vlan` | with `raw` and `xdp`: the VLAN of all frames, 1 to 4094, or 0 for a tag with a priority only |
/// | `mtu` | path MTU not to exceed: 256, 512, 1024, 2048 or 4096 |
/// | `psp` | `on`, `aes256`: every packet is encrypted, and only such packets are taken; needs `secret` |
/// | | `offered`: packets are encrypted to and from peers that can do it, too; a file: a policy by address |
/// | `secret` | with `psp`: a file with the secret of all peers, which only its owner may read |
/// | `keylog` | with `psp`, for tests: a file that gets all keys |
/// | `congestion` | `window` (default), `dcqcn` or `swift`, with parameters, see `CongestionRule` |
/// | `ecn` | `on`: switches may mark packets, and marks are answered; `off` is the default, but not with `dcqcn` |
/// | `weak` | the freedoms of cards that it takes, for tests: `card`, `standard` or some of them, see `Weakness` |
/// | `seed` | behind `weak`: the seed of when it takes them; else one is drawn, and its name has it |
/// | `faults` | what to do to packets, for tests: `loss:5%,seed:7`, see [verbena.nic.link.Faults] |
public final class RoceV2Provider extends HostProvider {
    /// Called by the service loader.
    public RoceV2Provider() {}

    /// Returns the policy by which devices whose names say nothing protect their packets; empty when they do not.
    ///
    /// @throws IllegalArgumentException when what is set is wrong; names it
    public static Optional<String> policy() {
        Protection protection = Protection.ofSurroundings();
        return protection.isOn() ? Optional.of(protection.policy().toString()) : Optional.empty();
    }

    /// Returns which UDP port this process can have for protected packets, with the reason when it is not that of
    /// PSP.
    public static String pspPort() {
        String none = NativeAccess.whyPortable();
        if (none == null) {
            try {
                var _ = LoopbackAddress.find(PspHeader.UDP_PORT);
                return "UDP port 1000, with peers that have it too";
            } catch (LinkException _) {
                none = "port 1000 needs CAP_NET_BIND_SERVICE, or net.ipv4.ip_unprivileged_port_start=1000";
            }
        }
        return "UDP port 4791, because " + none;
    }

    @Override
    public String kind() {
        return "rocev2";
    }

    @Override
    public Served served(long serviceId, Gid address) {
        return NativeAccess.whyPortable() == null
                ? SharedAddress.served(new Service(serviceId, address), RoceV2.UDP_PORT)
                : Served.UNKNOWN;
    }

    @Override
    protected Device on(HostInterface host, String name, String options) {
        DeviceOptions parsed = DeviceOptions.parse(name);
        return parsed.way() != null
                ? new EthernetDevice(name, host, GidType.ROCE_V2, parsed)
                : new RoceV2Device(name, host, parsed);
    }

    /// Returns a device that gets an address of its own when it is opened, because a UDP port is one per address.
    @Override
    protected Device onLoopback(HostInterface host, String name, String options) {
        var nothingYet = new HostInterface(
                host.name(), host.index(), host.mtu(), host.mac(), host.up(), true, host.bitsPerSecond(), List.of());
        return on(nothingYet, name, options);
    }
}
