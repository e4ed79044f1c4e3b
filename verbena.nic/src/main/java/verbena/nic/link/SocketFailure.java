package verbena.nic.link;

import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxSockets;

/// The meaning of a socket call's errno for a link.
public final class SocketFailure {
    private SocketFailure() {}

    /// Returns why an address or a port is not available.
    public static LinkException.Kind kindOf(int errno) {
        return switch (errno) {
            case LinuxAbi.EADDRINUSE -> LinkException.Kind.PORT_IN_USE;
            // EINVAL and ENODEV: a link-local address without its interface.
            case LinuxAbi.EADDRNOTAVAIL, LinuxAbi.EINVAL, LinuxAbi.ENODEV -> LinkException.Kind.ADDRESS_NOT_LOCAL;
            case LinuxAbi.EPERM, LinuxAbi.EACCES -> LinkException.Kind.NOT_PERMITTED;
            case LinuxAbi.EAFNOSUPPORT -> LinkException.Kind.UNSUPPORTED;
            default -> LinkException.Kind.FAILED;
        };
    }

    /// Returns the failure of a call that fails only when the system has no room for more.
    public static LinkException of(String what, int errno) {
        return new LinkException(LinkException.Kind.FAILED, what + ": " + LinuxSockets.message(errno));
    }
}
