package verbena.nic.link.psp;

import java.util.Deque;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import verbena.cm.noise.KeyExchange;
import verbena.nic.link.UdpSeal;
import verbena.transport.psp.Association;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.psp.PspVerdict;
import verbena.wire.psp.PspVersion;
import verbena.wire.roce.RoceV2;

/// A device that this one has, or wants, keys with.
final class PspPeer {
    /// The place of the peer in the table, which each of its SPIs begins with.
    final int index;

    final KeyExchange.Pair pair;
    final PspPolicy.Mode mode;
    final Association association;
    /// The seal of the text: of packets as they would leave without PSP.
    private final UdpSeal seal;
    /// The packets that wait for keys; null when none has.
    @Nullable
    Deque<Frame> waiting;

    /// Whether its packets are in the clear, because it has not answered. Only when protection is offered.
    boolean isPlain;
    /// Whether a packet of it was authentic. Then it sends no others until its keys are dead.
    private boolean isHeard;
    /// The time before which no keys are asked for, because it has not answered.
    long nextTryNanos;
    /// The time at which what waits leaves in the clear, when protection is offered; 0 when nothing waits.
    long patienceNanos;
    /// The second port if packets to it go there, else 0.
    int port;
    /// The SPI of keys that the peer may not have got yet; 0 when there are none.
    int unconfirmedSpi;
    /// The time until which it is kept without keys, because an agreement may be under way.
    long keptNanos;
    /// The count of the SPIs that were chosen for it.
    int generation;

    PspPeer(
            int index,
            KeyExchange.Pair pair,
            PspPolicy.Mode mode,
            Association association,
            UdpSeal seal,
            int generation,
            long now) {
        this.index = index;
        this.pair = pair;
        this.mode = mode;
        this.association = association;
        this.seal = seal;
        this.generation = generation;
        nextTryNanos = now;
    }

    /// Returns whether keys are to be asked for now.
    boolean wantsKeys(long now) {
        return association.wantsKeys(now) && now - nextTryNanos >= 0;
    }

    boolean hasKeys(long now) {
        return association.hasKeys(now);
    }

    /// Notes that a packet of it was authentic.
    void onHeard() {
        isHeard = true;
    }

    /// Returns whether it may send packets in the clear.
    boolean maySendPlain(long now) {
        return mode == PspPolicy.Mode.OFFERED && !(isHeard && hasKeys(now));
    }

    /// Writes the protected form of a frame into another one; false when there are no keys. The frame stays as it
    /// was, except for scratch before its packet.
    boolean seal(Frame frame, Frame into, long now) {
        seal.seal(frame, 0);
        int udpAt = frame.start - RoceV2.UDP_BYTES;
        int udpBytes = RoceV2.UDP_BYTES + frame.length;
        BigEndian.put32(frame.slot, udpAt, frame.sourcePort << 16 | RoceV2.UDP_PORT);
        BigEndian.put32(frame.slot, udpAt + 4, udpBytes << 16);
        int bytes = association.seal(frame.slot, udpAt, udpBytes, into.slot, Frame.HEADROOM, OpenedPackets.UDP, now);
        if (bytes == Association.NO_KEYS) {
            return false;
        }
        into.length = bytes;
        into.copyWay(frame);
        into.secondPort = port;
        into.marks.unsendable = false;
        return true;
    }

    /// Writes a packet that protects nothing, which shows that this end has the keys. Returns its bytes, or
    /// [Association#NO_KEYS].
    int sealNothing(Frame into, long now) {
        return association.seal(into.slot, 0, 0, into.slot, Frame.HEADROOM, OpenedPackets.NOTHING, now);
    }

    /// Returns how its packets are protected. Any thread; the values may be a moment old.
    PspStatus status(PspVersion version, long now) {
        var dropped = new TreeMap<String, Long>();
        for (PspVerdict verdict : PspVerdict.values()) {
            if (verdict != PspVerdict.ACCEPTED && association.count(verdict) > 0) {
                dropped.put(PspCounters.name(verdict), association.count(verdict));
            }
        }
        return new PspStatus(
                pair.remote(),
                mode,
                isPlain,
                version.name(),
                port == 0 ? RoceV2.UDP_PORT : port,
                association.sealingSpi(),
                association.ageNanos(now),
                association.agreements(),
                association.sealed(),
                association.count(PspVerdict.ACCEPTED),
                dropped);
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
