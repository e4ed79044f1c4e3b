package verbena.nic.iwarp;

import verbena.nic.kind.HostProvider;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.verbs.Device;

/// The provider of `iwarp` devices: one on loopback, one for each network interface with an address, and one for any
/// local address by name. [Device] tells the names; the options are
///
/// | option | value |
/// |---|---|
/// | `link` | `auto` (default), `linux` for system calls, `portable` for the JDK's channels |
/// | `crc` | `on` (default): whatever is sent carries a CRC32c; `off`: only when the peer wants it |
public final class IwarpProvider extends HostProvider {
    /// Called by the service loader.
    public IwarpProvider() {}

    @Override
    public String kind() {
        return "iwarp";
    }

    @Override
    protected Device on(HostInterface host, String name, String options) {
        return new IwarpDevice(name, host, IwarpDevice.Options.parse(name, options));
    }

    /// Returns the device as it is: TCP ports distinguish processes, because all share the host's own loopback
    /// addresses.
    @Override
    protected Device onLoopback(HostInterface host, String name, String options) {
        return on(host, name, options);
    }
}
