package verbena.nic.link;

import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// Seals departures of a RoCE v2 link and judges its arrivals: the one place that knows what the four bytes of the
/// ICRC hold.
///
/// The ICRC covers the source port and the IPv4 identification. So a link seals when both are certain: when it knows
/// which packets leave in one message of the operating system ([decision
/// 0078](../../../../../../../docs/decisions/0078-where-a-frame-is-sealed.md)).
///
/// For one thread at a time. Allocates nothing.
public final class Seal {
    private final RoceV2 roce = new RoceV2();
    private final int sourcePort;

    /// @param sourcePort the UDP port that every packet leaves from
    public Seal(int sourcePort) {
        assert sourcePort > 0 && sourcePort <= 0xFFFF;
        this.sourcePort = sourcePort;
    }

    /// The UDP port that every packet leaves from.
    public int sourcePort() {
        return sourcePort;
    }

    /// Completes a departing packet: its source port, then its ICRC, and then the damage that a [FaultyLink] asks for
    /// ([Frame#damagedBit]).
    ///
    /// @param identification the IPv4 identification that the packet leaves with
    public void seal(Frame frame, int identification) {
        frame.sourcePort = sourcePort;
        roce.seal(frame, identification);
        if (frame.damagedBit >= 0) {
            frame.flip(frame.damagedBit);
        }
    }

    /// Judges an arrival ([Frame#icrcValid]).
    ///
    /// @param likelyIdentification the IPv4 identification to try first; the right one makes the judgement faster
    public void judge(Frame frame, int likelyIdentification) {
        frame.icrcValid = roce.verify(frame, likelyIdentification);
    }

    /// Gives an arrival the ICRC that it would have come with over a wire: a wrong one when it was damaged on its way.
    /// For links without it ([Link#carriesIcrc()]).
    void sealAsIfFromAWire(Frame frame) {
        seal(frame, 0);
        if (!frame.icrcValid) {
            frame.flip(frame.length * Byte.SIZE - 1);
        }
    }

    /// Completes a packet whose link has sent a copy, as if the packet had left alone. A complete packet stays
    /// unchanged.
    void sealWhereACopyWas(Frame frame) {
        if (frame.damagedBit < 0 && !roce.verify(frame)) {
            seal(frame, 0);
        }
    }
}
