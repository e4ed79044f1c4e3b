package verbena.nic.link.tap;

import java.net.InetSocketAddress;
import verbena.verbs.Gid;

/// A stream whose bytes a [Tap] sees: between which addresses and ports it leads.
public interface TappedStream {
    /// Returns the address of the peer.
    Gid remote();

    /// Returns the port of the peer.
    int remotePort();

    /// Returns the address and port of this side, until the stream is closed.
    ///
    /// @throws verbena.nic.link.LinkException when the system does not report it
    InetSocketAddress localAddress();
}
