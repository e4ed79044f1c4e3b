package verbena.verbs.cm;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import verbena.verbs.Context;
import verbena.verbs.Gid;

/// An address of this host. A link-local one means nothing without its interface: two interfaces may have the same.
///
/// @param scope index of the interface of a link-local address; 0 of others, and when it was not said
record OwnAddress(Gid gid, int scope) {
    static OwnAddress of(Gid gid) {
        return new OwnAddress(gid, 0);
    }

    static OwnAddress of(InetAddress address) {
        return new OwnAddress(Gid.of(address), scope(address));
    }

    private static int scope(InetAddress address) {
        return address instanceof Inet6Address six && six.isLinkLocalAddress() ? six.getScopeId() : 0;
    }

    /// Returns the same, at the interface of a peer's address when it has none of its own.
    OwnAddress towards(InetAddress peer) {
        return scope != 0 || !gid.isLinkLocal() ? this : new OwnAddress(gid, scope(peer));
    }

    /// Returns whether a device has it, at its interface.
    boolean isOf(Context context) {
        return context.gids(1).stream()
                .anyMatch(entry -> entry.gid().equals(gid) && (scope == 0 || entry.interfaceIndex() == scope));
    }

    InetAddress address() {
        InetAddress plain = gid.address();
        if (scope == 0) {
            return plain;
        }
        try {
            return Inet6Address.getByAddress(null, plain.getAddress(), scope);
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e); // of 16 bytes
        }
    }

    @Override
    public String toString() {
        return gid + (scope == 0 ? "" : "%" + scope);
    }
}
