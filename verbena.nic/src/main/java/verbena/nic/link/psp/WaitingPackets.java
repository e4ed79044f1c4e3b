package verbena.nic.link.psp;

import java.lang.foreign.Arena;
import verbena.nic.link.Link;
import verbena.wire.Frame;

/// The packets that wait for the keys of their peers: a few for each, and not many for all. Others are dropped.
final class WaitingPackets {
    private static final int OF_PEER_MAX = 8;
    private static final int OF_ALL_MAX = 256;

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
        if (peer.waiting.size() == OF_PEER_MAX || count == OF_ALL_MAX) {
            counters.unsealed.incrementAndGet();
            return;
        }
        Frame copy = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES, 64))[0];
        copy.copyFrom(frame);
        peer.waiting.add(copy);
        count++;
    }

    /// Sends all packets to a peer, protected or as its policy has it now.
    void send(PspPeer peer, long now) {
        for (Frame frame = peer.waiting.poll(); frame != null; frame = peer.waiting.poll()) {
            count--;
            plain[0] = frame;
            boolean isReady = peer.isPlain || peer.seal(frame, sealed[0], now);
            if (!isReady || link.transmit(peer.isPlain ? plain : sealed, 0, 1) == 0) {
                counters.unsealed.incrementAndGet();
            }
        }
    }

    /// Drops all packets to a peer.
    void drop(PspPeer peer) {
        count -= peer.waiting.size();
        counters.unsealed.addAndGet(peer.waiting.size());
        peer.waiting.clear();
    }
}
