package verbena.nic.shm;

import java.util.List;
import verbena.nic.kind.HostProvider;
import verbena.nic.link.Interfaces;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.link.LinkException;
import verbena.nic.link.NativeAccess;
import verbena.nic.link.shm.ShmLink;
import verbena.verbs.Device;
import verbena.verbs.Gid;

/// The provider of `shm` devices, which reach devices of the same kind in processes of the same user on this host:
/// `shm` on all addresses of the host, and `shm@ADDRESS` on any one of them. The options are
///
/// | option | value |
/// |---|---|
/// | `engines` | how many share the work, a thread each: 1 to 64; else one for four processors |
/// | `direct` | `on` (default): one-sided requests need no packets where the peer grants access; `off` |
/// | `weak`, `seed` | the freedoms of cards that it takes, as of `rocev2`; then `direct` is off, and there is one
/// engine |
/// | `faults` | what to do to packets, for tests: `loss:5%,seed:7`, [verbena.nic.link.Faults]; then `direct` is off |
public final class ShmProvider extends HostProvider {
    /// Called by the service loader.
    public ShmProvider() {}

    @Override
    public String kind() {
        return "shm";
    }

    /// Returns one device, which reaches all others of this host.
    @Override
    public List<Device> devices() {
        if (NativeAccess.whyPortable() != null) {
            return List.of();
        }
        try {
            return List.of(onLoopback(Interfaces.loopback(), kind(), ""));
        } catch (LinkException e) {
            return List.of(); // a provider that cannot work here lists no devices
        }
    }

    @Override
    protected Device on(HostInterface host, String name, String options) {
        return new ShmDevice(name, host, ShmOptions.parse(name, options));
    }

    /// Returns a device on the whole host: numbers distinguish processes, because all share all addresses of the
    /// host.
    @Override
    protected Device onLoopback(HostInterface host, String name, String options) {
        return on(Interfaces.wholeHost(), name, options);
    }

    @Override
    public boolean isOfHost() {
        return true;
    }

    @Override
    public Served served(long serviceId, Gid address) {
        return NativeAccess.whyPortable() == null && ShmLink.isServed(serviceId, address) ? Served.YES : Served.UNKNOWN;
    }
}
