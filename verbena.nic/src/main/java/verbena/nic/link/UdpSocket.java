package verbena.nic.link;

import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;
import verbena.wire.Frame;

/// A UDP socket and the address or multicast group that it is bound to. Belongs to the engine's owner, except for
/// volatile fields.
final class UdpSocket {
    final int fd;
    final long gidHigh;
    final long gidLow;
    final boolean ipv4;
    final int scopeId;
    /// How its address is shared; null when it is not, or when the address is a group's.
    final @Nullable SharedAddress sharing;
    /// Whether its send buffer was full: a sleeping thread waits for room as well.
    volatile boolean full;

    UdpSocket(int fd, Gid gid, int scopeId, @Nullable SharedAddress sharing) {
        this.sharing = sharing;
        this.fd = fd;
        gidHigh = gid.high();
        gidLow = gid.low();
        ipv4 = gid.isIpv4();
        this.scopeId = scopeId;
    }

    boolean isBoundTo(Gid gid) {
        return gidLow == gid.low() && gidHigh == gid.high();
    }

    /// Whether this frame has to leave by this socket.
    boolean sends(Frame frame) {
        return frame.sourceLow == gidLow && frame.sourceHigh == gidHigh && UdpLink.isSameFamily(frame);
    }
}
