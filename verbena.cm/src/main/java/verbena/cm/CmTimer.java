package verbena.cm;

/// The standard's 5-bit codes of time: 4.096 µs times 2 to the code (IBTA 12.7.21 and others).
public final class CmTimer {
    private static final long UNIT_NANOS = 4_096;
    private static final int CODE_MAX = 31;

    private CmTimer() {}

    /// Nanoseconds of a code, 0 to 31; only its 5 low bits count.
    public static long nanos(int code) {
        return UNIT_NANOS << (code & CODE_MAX);
    }

    /// How long to wait for an answer: the way there and back, and the time that the peer may take (IBTA 12.9.8.2).
    ///
    /// @param ackTimeout code of an ACK timeout, which is about twice the way
    /// @param responseTimeout code of what the peer may take
    static long answerNanos(int ackTimeout, int responseTimeout) {
        return nanos(ackTimeout) + nanos(responseTimeout);
    }
}
