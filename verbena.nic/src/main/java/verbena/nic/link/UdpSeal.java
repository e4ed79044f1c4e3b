package verbena.nic.link;

import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// The seal of RoCE v2 through sockets. The ICRC covers the source port and the IPv4 identification. So a link
/// seals when both are certain: when it knows which packets leave in one message of the operating system.
public final class UdpSeal implements Seal {
    private final RoceV2 roce = new RoceV2();
    private final int sourcePort;
    /// The IPv4 identification of the message that arrived last.
    private int lastMessage;

    /// @param sourcePort the UDP port that every packet leaves from
    public UdpSeal(int sourcePort) {
        assert sourcePort > 0 && sourcePort <= 0xFFFF;
        this.sourcePort = sourcePort;
    }

    /// Returns the UDP port that every packet leaves from.
    public int sourcePort() {
        return sourcePort;
    }

    /// Writes the source port beside the seal.
    @Override
    public void seal(Frame frame, int identification) {
        frame.sourcePort = sourcePort;
        roce.seal(frame, identification);
        if (frame.marks.damagedBit >= 0) {
            frame.flip(frame.marks.damagedBit);
        }
    }

    @Override
    public void judge(Frame frame, int position) {
        frame.icrcValid = roce.verify(frame, likelyIdentification(position));
        if (frame.icrcValid) {
            lastMessage = (roce.identification() - position) & 0xFFFF;
        }
    }

    /// Returns the likely identification of a message. A connected socket counts its messages, and others give each
    /// of them 0. So the guesses are right for all messages of a single peer.
    private int likelyIdentification(int position) {
        int message = position > 0 || lastMessage == 0 ? lastMessage : lastMessage + 1;
        return (message + position) & 0xFFFF;
    }

    /// Returns whether a frame's addresses are of one family. It can leave only by a socket of its own family,
    /// because the family of the destination decides the layout of the ICRC.
    public static boolean isSameFamily(Frame frame) {
        return RoceV2.isIpv4(frame.sourceHigh, frame.sourceLow)
                == RoceV2.isIpv4(frame.destinationHigh, frame.destinationLow);
    }
}
