package verbena.nic.ib;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import verbena.nic.device.DeviceContext;
import verbena.nic.fabric.FabricPort;
import verbena.nic.kind.DeviceLimits;
import verbena.nic.link.LinkException;
import verbena.nic.link.ib.IbLink;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.verbs.Mtu;
import verbena.verbs.PortAttributes;
import verbena.verbs.TransportType;

/// An adapter of the soft fabric.
///
/// @param number of the adapter, from 0
/// @param place of the fabric's socket
record IbDevice(String name, int number, Path place, long nodeGuid, long portGuid) implements Device {
    @Override
    public TransportType transportType() {
        return TransportType.INFINIBAND;
    }

    @Override
    public List<GidEntry> gids() {
        return List.of(new GidEntry(0, new Gid(IbLink.PREFIX_DEFAULT, portGuid), GidType.IB, name, 0));
    }

    @Override
    public Optional<PortAttributes> port() {
        List<FabricPort> ports = FabricPort.all(place);
        return number < ports.size()
                ? Optional.of(IbKind.attributes(ports.get(number), true, Mtu.MTU_4096, DeviceLimits.MESSAGE_BYTES_MAX))
                : Optional.empty();
    }

    @Override
    public Context open() {
        IbLink link = null;
        boolean isOpen = false;
        try {
            IbLink opened = IbLink.open(place, number, name);
            link = opened;
            var context = DeviceContext.open(this, List.of(opened), host -> new IbKind(host, opened), Mtu.MTU_4096);
            opened.onPortChange(type -> context.raise(new AsyncEvent.PortEvent(type, 1)));
            isOpen = true;
            return context;
        } catch (LinkException e) {
            throw new DeviceException("open " + name + ": " + e.getMessage(), e);
        } finally {
            if (!isOpen && link != null) {
                link.close();
            }
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
