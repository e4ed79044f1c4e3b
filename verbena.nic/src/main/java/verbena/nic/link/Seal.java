package verbena.nic.link;

import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// Seals what leaves by a link of RoCE v2 and judges what has arrived there: the one place that knows what stands in
/// the four bytes of the ICRC.
///
/// The ICRC covers the source port and the IPv4 identification, so a link seals where both are certain: when it
/// knows which packets leave in one message of the operating system
/// ([decision 0078](../../../../../../../docs/decisions/0078-where-a-frame-is-sealed.md)).
///
/// For one thread at a time. Nothing is allocated.
public final class Seal {
    private final RoceV2 roce = new RoceV2();
    private final int sourcePort;
    private final int stamp;

    /// @param sourcePort UDP port that everything leaves from
    /// @param stamp what arrivals may carry in place of the ICRC; 0 for nothing else ([Link#stamp()])
    public Seal(int sourcePort, int stamp) {
        assert sourcePort > 0 && sourcePort <= 0xFFFF && stamp >>> 24 == 0;
        this.sourcePort = sourcePort;
        this.stamp = stamp;
    }

    /// UDP port that everything leaves from.
    public int sourcePort() {
        return sourcePort;
    }

    /// As [Link#stamp()].
    public int stamp() {
        return stamp;
    }

    /// Completes a packet as it leaves: its source port, its ICRC or its stamp, and then the damage that a
    /// [FaultyLink] wants ([Frame#damagedBit]).
    ///
    /// @param identification that the packet leaves with over IPv4
    public void seal(Frame frame, int identification) {
        frame.sourcePort = sourcePort;
        roce.seal(frame, identification);
        if (frame.damagedBit >= 0) {
            frame.flip(frame.damagedBit);
        }
    }

    /// Judges an arrival ([Frame#icrcValid]): it is whole when it has the stamp, or the right ICRC.
    ///
    /// @param likelyIdentification with the right one the judgement is found quicker
    public void judge(Frame frame, int likelyIdentification) {
        frame.icrcValid = (stamp != 0 && RoceV2.isStamped(frame, stamp)) || roce.verify(frame, likelyIdentification);
    }

    /// Completes a packet that its link has sent as a copy, as if it had left alone; one that is complete stays as
    /// it is.
    void sealWhereACopyWas(Frame frame) {
        if (frame.stamp == 0 && frame.damagedBit < 0 && !roce.verify(frame)) {
            seal(frame, 0);
        }
    }
}
