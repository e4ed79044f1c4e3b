package verbena.nic.shm;

import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import verbena.nic.SoftContext;
import verbena.nic.device.DeviceContext;
import verbena.nic.link.Link;
import verbena.nic.link.shm.ShmLink;
import verbena.nic.roce.LinkDevice;
import verbena.verbs.Mtu;

/// Devices over shared memory that a test drives, in a time of its own.
public final class DrivenShm {
    private DrivenShm() {}

    /// Opens a device with an engine for each link and no thread.
    ///
    /// @param links closed with the device
    /// @param wrap around each link, as the engine sees it
    /// @param isDirect whether one-sided requests may need no packets
    public static SoftContext open(
            String name,
            List<ShmLink> links,
            UnaryOperator<Link> wrap,
            boolean isDirect,
            LongSupplier clock,
            RandomGenerator random) {
        return DeviceContext.open(
                new LinkDevice(name, links.getFirst()),
                links.stream().<Link>map(wrap).toList(),
                host -> new ShmKind(host, links, isDirect, isDirect, null),
                Mtu.MTU_4096,
                clock,
                random);
    }
}
