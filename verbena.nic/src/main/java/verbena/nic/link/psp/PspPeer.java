package verbena.nic.link.psp;

import java.util.ArrayDeque;
import java.util.Deque;
import verbena.cm.noise.KeyExchange;
import verbena.nic.link.UdpSeal;
import verbena.transport.psp.Association;
import verbena.wire.Frame;

/// A device that this one has, or wants, keys with.
final class PspPeer {
    /// The place of the peer in the table, which each of its SPIs begins with.
    final int index;

    final KeyExchange.Pair pair;
    final Association association;
    /// The seal of the text: of packets as they would leave without PSP.
    final UdpSeal seal;
    /// The packets that wait for keys.
    final Deque<Frame> waiting = new ArrayDeque<>();

    /// The SPI of keys that the peer may not have got yet; 0 when there are none.
    int unconfirmedSpi;
    /// The time until which it is kept without keys, because an agreement may be under way.
    long keptNanos;
    /// The count of the SPIs that were chosen for it.
    int generation;

    PspPeer(int index, KeyExchange.Pair pair, Association association, UdpSeal seal, int generation) {
        this.index = index;
        this.pair = pair;
        this.association = association;
        this.seal = seal;
        this.generation = generation;
    }

    boolean isFrom(Frame frame) {
        return is(frame.sourceHigh, frame.sourceLow, frame.destinationHigh, frame.destinationLow);
    }

    boolean isTo(Frame frame) {
        return is(frame.destinationHigh, frame.destinationLow, frame.sourceHigh, frame.sourceLow);
    }

    private boolean is(long remoteHigh, long remoteLow, long localHigh, long localLow) {
        return pair.remote().low() == remoteLow
                && pair.local().low() == localLow
                && pair.remote().high() == remoteHigh
                && pair.local().high() == localHigh;
    }
}
