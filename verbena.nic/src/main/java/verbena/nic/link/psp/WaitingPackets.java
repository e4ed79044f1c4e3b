package verbena.nic.link.psp;

import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;
import verbena.wire.Frame;

/// The packets that wait for the keys of their peers: a few for each, and not many for all. Others are dropped.
final class WaitingPackets {
    private static final int OF_PEER_MAX = 8;
    private static final int OF_ALL_MAX = 256;

    private final PspCounters counters;
    private int count;

    WaitingPackets(PspCounters counters) {
        this.counters = counters;
    }

    /// Keeps a copy.
    void keep(PspPeer peer, Frame frame) {
        if (peer.waiting.size() == OF_PEER_MAX || count == OF_ALL_MAX) {
            counters.unsealed.incrementAndGet();
            return;
        }
        Frame copy = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES, 64))[0];
        copy.copyFrom(frame);
        peer.waiting.add(copy);
        count++;
    }

    /// Takes the one that has waited longest; null when there is none.
    @Nullable
    Frame next(PspPeer peer) {
        Frame frame = peer.waiting.poll();
        count -= frame == null ? 0 : 1;
        return frame;
    }

    /// Drops all packets to a peer.
    void drop(PspPeer peer) {
        count -= peer.waiting.size();
        counters.unsealed.addAndGet(peer.waiting.size());
        peer.waiting.clear();
    }
}
