package verbena.nic.link.sharing;

import org.jspecify.annotations.Nullable;

/// A local socket of a shared address: one that other links connect to, or a connection to another link.
public final class PeerSocket {
    /// The slot of a socket that leads to no neighbour, or not yet.
    public static final int NO_SLOT = -1;

    public final int fd;
    public final boolean isListening;
    /// The connection to the process whose death a [verbena.foreign.linux.Lifeline] reports; null for other
    /// sockets.
    @Nullable
    public PeerSocket lifelineOf;
    /// The slot of the neighbour at the other end, as [Presence] knows it.
    public int slot = NO_SLOT;
    /// The number of the socket in the set of watched sockets.
    int number = -1;

    public PeerSocket(int fd, boolean isListening) {
        this.fd = fd;
        this.isListening = isListening;
    }
}
