package verbena.nic.link;

import verbena.wire.BigEndian;
import verbena.wire.Frame;

/// The seal of a link whose wrapper protects packets in another way. Those leave as they are, and the wrapper judges
/// them when they arrive. Packets of RoCE that the wrapper leaves in the clear have the seal that they have elsewhere.
public final class PlainSeal implements Seal {
    private static final int TRANSPORT_VERSION_BITS = 0xF;

    private final Seal plain;

    /// @param plain the seal of packets in the clear
    public PlainSeal(Seal plain) {
        this.plain = plain;
    }

    /// Returns whether a frame has a packet of RoCE: with a transport version of 0, where a header of PSP has its
    /// length, and a message of an agreement a letter.
    public static boolean isPlain(Frame frame) {
        return (BigEndian.u8(frame.slot, frame.start + 1) & TRANSPORT_VERSION_BITS) == 0;
    }

    @Override
    public void seal(Frame frame, int identification) {
        if (isPlain(frame)) {
            plain.seal(frame, identification);
        } else if (frame.marks.damagedBit >= 0) {
            frame.flip(frame.marks.damagedBit);
        }
    }

    @Override
    public void judge(Frame frame, int position) {
        if (isPlain(frame)) {
            plain.judge(frame, position);
        } else {
            frame.icrcValid = true;
        }
    }
}
