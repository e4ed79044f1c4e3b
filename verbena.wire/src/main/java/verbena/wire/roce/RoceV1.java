package verbena.wire.roce;

import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.ib.Grh;

/// RoCE v1: IB transport packets behind a GRH in Ethernet frames of their own type (IBTA A16). Seals and verifies
/// the ICRC. One owner; no allocation.
public final class RoceV1 {
    /// The Ethernet type.
    public static final int ETHER_TYPE = 0x8915;

    private final Icrc icrc = new Icrc();
    private final Preserved before = new Preserved();

    /// Makes a checker for one owner.
    public RoceV1() {}

    /// Writes the ICRC.
    public void seal(Frame frame) {
        Icrc.store(frame, compute(frame));
    }

    /// Returns whether the ICRC is right; exact.
    public boolean verify(Frame frame) {
        before.keep(frame);
        boolean right = Icrc.stored(frame) == compute(frame);
        before.restore(frame);
        return right;
    }

    // Ones in place of traffic class, flow label and hop limit.
    private int compute(Frame frame) {
        int at = frame.start - Grh.BYTES;
        BigEndian.put64(frame.slot, (long) at - Icrc.LRH_BYTES, Icrc.LRH_STAND_IN);
        Grh.write(
                frame.slot,
                at,
                0xFF,
                0xF_FFFF,
                frame.length,
                Grh.NEXT_HEADER_BTH,
                0xFF,
                frame.sourceHigh,
                frame.sourceLow,
                frame.destinationHigh,
                frame.destinationLow);
        return icrc.compute(frame, at - Icrc.LRH_BYTES);
    }
}
