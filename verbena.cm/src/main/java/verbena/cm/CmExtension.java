package verbena.cm;

/// The properties that two Verbena ends exchange in REQ and REP besides those of the standard: 32 bits, in place of
/// the Local Q_Key. That field means something for reliable datagrams only (IBTA 12.6.5 and 12.6.8), which do not
/// exist. A peer that does not know this extension sends zero there, and ignores what it gets.
///
/// @param sourcePort UDP port from which all packets of the sender's queue pair come; 0 when the sender promises
///     nothing
/// @param hasSecret whether the private data begin with a part of a proof ([CmProof])
/// @param repeatsAnswers whether the sender knows selective repeat of answers to READs, which is used when both ends
///     do
/// @param repeatsRequests whether it knows that of requests, too
public record CmExtension(int sourcePort, boolean hasSecret, boolean repeatsAnswers, boolean repeatsRequests) {
    /// An extension that announces nothing.
    public static final CmExtension NONE = new CmExtension(0, false, false, false);

    /// Twelve bits that distinguish these from bits that another implementation may have written there.
    private static final int MARK = 0xBEA;

    private static final int MARK_SHIFT = 20;
    private static final int SECRET = 1 << 16;
    private static final int ANSWERS = 1 << 17;
    private static final int REQUESTS = 1 << 18;
    private static final int PORT = 0xFFFF;

    /// Reads the field; returns [#NONE] when it is not a Verbena end's.
    public static CmExtension of(int bits) {
        return bits >>> MARK_SHIFT == MARK
                ? new CmExtension(bits & PORT, (bits & SECRET) != 0, (bits & ANSWERS) != 0, (bits & REQUESTS) != 0)
                : NONE;
    }

    /// Returns the bits of the field.
    public int bits() {
        return equals(NONE)
                ? 0
                : MARK << MARK_SHIFT
                        | (hasSecret ? SECRET : 0)
                        | (repeatsAnswers ? ANSWERS : 0)
                        | (repeatsRequests ? REQUESTS : 0)
                        | sourcePort;
    }
}
