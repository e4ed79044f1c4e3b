package verbena.wire;

/// The part of a [Frame] that only faults and observers use; no protocol looks at it.
public final class FrameMarks {
    /// Of a packet that has not been judged yet.
    public static final int NO_FATE = -1;

    /// On the way out: the bit, counted from the first byte's lowest, that is flipped after the ICRC was
    /// written; -1 for none. For fault injection: the packet then arrives as if a wire had damaged it.
    public int damagedBit = -1;
    /// On receipt: what became of the packet, by its number among the fates of the transport above; written by
    /// the code that judges it, for taps that read it afterwards.
    public int fate = NO_FATE;
    /// On the way out: the network stack has refused the packet for good. Only the link sets it; a caller that
    /// asks for it clears it first.
    public boolean unsendable;

    FrameMarks() {}
}
