package verbena.nic.kind;

import verbena.nic.link.Interfaces.HostInterface;
import verbena.wire.roce.Ethernet;

/// Node GUIDs (EUI-64) for devices to which no vendor has assigned one.
public final class NodeGuid {
    private NodeGuid() {}

    /// Returns the GUID made from the hardware address, as soft-RoCE does it; on loopback, which has no hardware
    /// address, from the device's name.
    public static long of(HostInterface host, String name) {
        long mac = host.mac();
        if (mac == 0) {
            return of(name);
        }
        return Ethernet.interfaceId(mac);
    }

    /// Returns a locally administered GUID, for a device that has only a name.
    public static long of(String name) {
        return 0x0200_00FF_FE00_0000L | (name.hashCode() & 0xFF_FFFF);
    }
}
