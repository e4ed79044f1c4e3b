package verbena.tools.perf;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import verbena.verbs.AddressHandle;
import verbena.verbs.SendBatch;

/// The peer's queue pair that one of ours sends to: what the peer has told of it, and for datagrams the way there.
final class Destination {
    private @Nullable PerfPeer peer;
    private @Nullable AddressHandle handle;
    private int qpn;
    private int qkey;

    /// Takes the description that the peer has sent.
    void told(PerfPeer peer) {
        this.peer = peer;
    }

    /// Sets the destination of datagrams.
    void found(AddressHandle handle, int qpn, int qkey) {
        this.handle = handle;
        this.qpn = qpn;
        this.qkey = qkey;
    }

    /// Returns the description that the peer has sent.
    PerfPeer peer() {
        return Objects.requireNonNull(peer, "the peer has told nothing yet");
    }

    /// Puts the address into the last request of a batch, if it is a datagram.
    void address(SendBatch batch) {
        AddressHandle to = handle;
        if (to != null) {
            batch.to(to, qpn, qkey);
        }
    }
}
