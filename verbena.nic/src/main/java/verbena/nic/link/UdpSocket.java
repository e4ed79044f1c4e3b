package verbena.nic.link;

import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;
import verbena.wire.Frame;

/// A UDP socket and the address, or the multicast group, that it is bound to. Belongs to the engine's owner, but for
/// what is volatile.
final class UdpSocket {
    final int fd;
    final long gidHigh;
    final long gidLow;
    final boolean ipv4;
    final int scopeId;
    /// How its address is shared; null when it is not, or when it is a group's.
    final @Nullable SharedAddress sharing;
    /// Its send buffer was full: a thread that sleeps waits for room as well.
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

    /// Whether this frame has to leave by it.
    boolean sends(Frame frame) {
        return frame.sourceLow == gidLow && frame.sourceHigh == gidHigh && UdpLink.isSameFamily(frame);
    }
}
