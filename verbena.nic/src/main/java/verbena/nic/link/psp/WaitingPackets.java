package verbena.nic.link.psp;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import verbena.nic.link.Link;
import verbena.wire.Frame;

/// The packets that wait for the keys of their peers: for each about as many as Linux keeps for a neighbour whose
/// address it does not know yet. Others are dropped.
final class WaitingPackets {
    private static final int OF_PEER_MAX = 64;
    private static final int OF_ALL_MAX = 1_024;

    private final Link link;
    private final PspCounters counters;
    private final Frame[] sealed;
    private final Frame[] plain = new Frame[1];
    private int count;

    /// @param link sends them
    WaitingPackets(Link link, PspCounters counters, Arena arena) {
        this.link = link;
        this.counters = counters;
        sealed = Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 64));
    }

    /// Keeps a copy.
    void keep(PspPeer peer, Frame frame) {
        Deque<Frame> queue = peer.waiting == null ? new ArrayDeque<>() : peer.waiting;
        if (queue.size() == OF_PEER_MAX || count == OF_ALL_MAX) {
            counters.unsealed.incrementAndGet();
            return;
        }
        Frame copy = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES, 64))[0];
        copy.copyFrom(frame);
        queue.add(copy);
        peer.waiting = queue;
        count++;
    }

    /// Sends all packets to a peer, protected or as its policy has it now.
    void send(PspPeer peer, long now) {
        for (Frame frame : taken(peer)) {
            plain[0] = frame;
            boolean isReady = peer.isPlain || peer.seal(frame, sealed[0], now);
            if (!isReady || link.transmit(peer.isPlain ? plain : sealed, 0, 1) == 0) {
                counters.unsealed.incrementAndGet();
            }
        }
    }

    /// Takes all packets to a peer away.
    Collection<Frame> taken(PspPeer peer) {
        Deque<Frame> queue = peer.waiting;
        peer.waiting = null;
        count -= queue == null ? 0 : queue.size();
        return queue == null ? List.of() : queue;
    }
}
