package verbena.nic.kind;

import verbena.nic.link.Interfaces.HostInterface;

/// Node GUIDs (EUI-64) for devices that no vendor has numbered.
public final class NodeGuid {
    private NodeGuid() {}

    /// From the hardware address as soft-RoCE does it; on loopback, which has none, from the device's name.
    public static long of(HostInterface host, String name) {
        long mac = host.mac();
        if (mac == 0) {
            return of(name);
        }
        return (((mac >>> 24) ^ 0x02_0000L) << 40) | 0xFF_FE00_0000L | (mac & 0xFF_FFFF);
    }

    /// Locally administered, for a device that has nothing but a name.
    public static long of(String name) {
        return 0x0200_00FF_FE00_0000L | (name.hashCode() & 0xFF_FFFF);
    }
}
