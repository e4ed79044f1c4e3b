package verbena.wire;

/// The part of a [Frame] that only faults and observers use; no protocol looks at it.
public final class FrameMarks {
    /// The fate of a packet that has not been judged yet.
    public static final int NO_FATE = -1;

    /// The bit of an outgoing packet that is flipped after the ICRC was written, counted from the lowest bit of the
    /// first byte; -1 for none. For fault injection: the packet then arrives as if a wire had damaged it.
    public int damagedBit = -1;
    /// The fate of a received packet, by its number among the fates of the transport above. The code that judges
    /// the packet writes it, and taps read it afterwards.
    public int fate = NO_FATE;
    /// Whether the network stack has refused the outgoing packet for good. Only the link sets it; a caller that
    /// reads it clears it first.
    public boolean unsendable;

    FrameMarks() {}
}
