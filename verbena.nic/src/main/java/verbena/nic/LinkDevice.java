package verbena.nic;

import java.util.List;
import verbena.nic.link.Link;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.GidEntry;
import verbena.verbs.Mtu;
import verbena.verbs.TransportType;

/// A device that is nothing but a link that somebody brought.
record LinkDevice(String name, Link link) implements Device {
    /// Headers and ICRC around the payload of a WRITE with immediate, the most there is around a full payload.
    private static final int AROUND_PAYLOAD_BYTES = 12 + 16 + 4 + 4;

    /// The largest path MTU that the link has room for.
    static Mtu largestMtu(Link link) {
        Mtu largest = Mtu.MTU_256;
        for (Mtu mtu : Mtu.values()) {
            if (mtu.bytes() + AROUND_PAYLOAD_BYTES <= link.packetMax()) {
                largest = mtu;
            }
        }
        return largest;
    }

    @Override
    public TransportType transportType() {
        return TransportType.INFINIBAND;
    }

    @Override
    public long nodeGuid() {
        return RoceV2Device.guid(name);
    }

    @Override
    public List<GidEntry> gids() {
        return link.gids();
    }

    @Override
    public Context open() {
        throw new DeviceException("open " + name + ": its link serves one context, which is open already");
    }
}
