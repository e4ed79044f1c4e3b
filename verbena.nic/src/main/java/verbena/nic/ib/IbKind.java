package verbena.nic.ib;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import verbena.nic.fabric.FabricPort;
import verbena.nic.kind.DeviceHost;
import verbena.nic.kind.DeviceProfile;
import verbena.nic.link.ib.IbLink;
import verbena.nic.roce.RoceKind;
import verbena.subnet.node.NodePort;
import verbena.verbs.AddressVector;
import verbena.verbs.Capability;
import verbena.verbs.DeviceException;
import verbena.verbs.Gid;
import verbena.verbs.InvalidStateException;
import verbena.verbs.LinkLayer;
import verbena.verbs.Mtu;
import verbena.verbs.PortAttributes;
import verbena.verbs.PortAttributes.Link;
import verbena.verbs.PortState;
import verbena.verbs.StaticRate;
import verbena.verbs.spi.ConnectionService.GroupJoin;
import verbena.verbs.spi.ConnectionService.GroupListener;
import verbena.verbs.spi.ConnectionService.Watch;

/// The InfiniBand transport on a native link: as [RoceKind], with a port that has a LID. Path records of the subnet
/// lead the connection manager to its peers ([IbWays]).
final class IbKind extends RoceKind {

    /// More than two questions take.
    private static final int PATIENCE_SECONDS = 10;

    private final DeviceHost host;
    private final IbLink link;

    IbKind(DeviceHost host, IbLink link) {
        super(host, by -> new IbWays(host, link, by));
        this.host = host;
        this.link = link;
    }

    /// Returns the profile with migration, which only InfiniBand has (decision 11).
    @Override
    public DeviceProfile profile() {
        return super.profile().with(Capability.PATH_MIGRATION);
    }

    @Override
    public int[] pkeys() {
        return link.pkeys();
    }

    @Override
    public long bitsPerSecond(StaticRate rate) {
        return link.port().isFasterThan(rate) ? rate.packetBitsPerSecond() : 0;
    }

    @Override
    public void awaitGroup(Gid group) {
        await("attachMulticast", group, false).close(); // the queue pair that is attached keeps it
    }

    @Override
    public Watch sendTo(Gid group) {
        return await("createAddressHandle", group, true);
    }

    /// Switches forward to ports that have joined by the subnet administration: waits for its answer.
    private Watch await(String verb, Gid group, boolean isSendOnly) {
        if (host.engine().isMine()) {
            throw new InvalidStateException(verb + ": this thread serves the device, and cannot wait for the answer");
        }
        var answer = new CompletableFuture<String>();
        var join = new GroupJoin(group, 0, 0, isSendOnly);
        Watch membership = connections().join(join, new GroupListener() {
            @Override
            public void onJoined(AddressVector path, int qkey) {
                answer.complete("");
            }

            @Override
            public void onRefused(String why) {
                answer.complete(why);
            }
        });
        String why = answer.completeOnTimeout("the device does not answer", PATIENCE_SECONDS, TimeUnit.SECONDS)
                .join();
        if (!why.isEmpty()) {
            membership.close();
            throw new DeviceException(verb + ": " + why);
        }
        return membership;
    }

    @Override
    public PortAttributes port(PortAttributes ethernet) {
        return attributes(
                link.port(), ethernet.state() != PortState.DOWN, ethernet.activeMtu(), ethernet.maxMessageBytes());
    }

    /// Returns the attributes of a port, as verbs have them.
    ///
    /// @param isOpen whether its device can use it
    static PortAttributes attributes(FabricPort port, boolean isOpen, Mtu activeMtu, long maxMessageBytes) {
        PortState state = isOpen ? state(port.state()) : PortState.DOWN;
        return new PortAttributes(
                state,
                LinkLayer.INFINIBAND,
                new Link(
                        state == PortState.DOWN ? Link.State.POLLING : Link.State.LINK_UP,
                        Link.Width.ofCode(port.width()),
                        Link.Speed.ofCode(port.speed())),
                new PortAttributes.Lids(port.lid(), port.subnetManagerLid(), port.lmc()),
                Mtu.MTU_4096,
                activeMtu,
                1,
                NodePort.PKEYS,
                maxMessageBytes,
                0);
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
