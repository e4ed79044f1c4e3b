package verbena.nic.kind.ib;

import java.util.EnumSet;
import verbena.nic.kind.DeviceHost;
import verbena.nic.kind.DeviceProfile;
import verbena.nic.kind.roce.RoceKind;
import verbena.nic.link.FabricPort;
import verbena.nic.link.IbLink;
import verbena.verbs.Capability;
import verbena.verbs.LinkLayer;
import verbena.verbs.PortAttributes;
import verbena.verbs.PortState;

/// The InfiniBand transport on a native link: as [RoceKind], with a port that has a LID. Path records of the subnet
/// lead the connection manager to its peers ([IbWays]).
final class IbKind extends RoceKind {
    private static final int LINK_UP = 5;
    private static final int POLLING = 2;

    private final IbLink link;

    IbKind(DeviceHost host, IbLink link) {
        super(host, by -> new IbWays(host, link, by));
        this.link = link;
    }

    @Override
    public DeviceProfile profile() {
        DeviceProfile same = super.profile();
        var capabilities = EnumSet.copyOf(same.capabilities());
        capabilities.remove(Capability.MULTICAST); // switches forward to those that have joined by the administration
        return new DeviceProfile(capabilities, 0, 0, same.addressHandles());
    }

    @Override
    public PortAttributes port(PortAttributes ethernet) {
        FabricPort port = link.port();
        boolean isOpen = ethernet.state() != PortState.DOWN;
        PortState state = isOpen ? state(port.state()) : PortState.DOWN;
        return new PortAttributes(
                state,
                ethernet.maxMtu(),
                ethernet.activeMtu(),
                ethernet.gidTableLength(),
                ethernet.capabilityFlags(),
                ethernet.maxMessageBytes(),
                ethernet.pkeyTableLength(),
                port.lid(),
                port.subnetManagerLid(),
                port.lmc(),
                port.width(),
                port.speed(),
                state == PortState.DOWN ? POLLING : LINK_UP,
                LinkLayer.INFINIBAND);
    }

    private static PortState state(int code) {
        return switch (code) {
            case 2 -> PortState.INIT;
            case 3 -> PortState.ARMED;
            case 4 -> PortState.ACTIVE;
            default -> PortState.DOWN;
        };
    }
}
