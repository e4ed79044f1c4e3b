package verbena.cm;

/// The standard's 5-bit codes of time: 4.096 µs times 2 to the code (IBTA 12.7.21 and others).
public final class CmTimer {
    /// Code of the time that a peer is asked for when a message has to wait for the application: 1.1 s at first.
    /// Each MRA of a connection asks for twice the time of the one before, up to the 69 s that Linux asks for. So a
    /// REP that is lost after a first MRA is soon missed (decision 20).
    static final int SERVICE_TIMEOUT = 18;
    /// A peer may not ask for more.
    static final int SERVICE_TIMEOUT_MAX = 24;
    /// Code of the time that a device takes to acknowledge, as in soft-RoCE.
    static final int TARGET_ACK_DELAY = 15;

    private static final long UNIT_NANOS = 4_096;
    private static final int CODE_MAX = 31;
    private static final long ANSWER_NANOS_MIN = 10_000_000;
    private static final long ANSWER_NANOS_MAX = 60_000_000_000L;
    /// The time that a queue pair's number rests.
    private static final long TIMEWAIT_NANOS_MAX = 60_000_000_000L;

    private CmTimer() {}

    /// Returns the nanoseconds of a code, 0 to 31; only its 5 low bits count.
    public static long nanos(int code) {
        return UNIT_NANOS << (code & CODE_MAX);
    }

    /// Returns the time to wait for an answer: the trip there and back, and the time that the peer may take (IBTA
    /// 12.9.8.2). The peer's values are believed within limits: it cannot have us repeat at once, or wait for
    /// hours.
    ///
    /// @param ackTimeout code of an ACK timeout, which is about a round trip
    /// @param responseTimeout code of the time that the peer may take
    static long answerNanos(int ackTimeout, int responseTimeout) {
        return Math.clamp(nanos(ackTimeout) + nanos(responseTimeout), ANSWER_NANOS_MIN, ANSWER_NANOS_MAX);
    }

    /// Returns the time that numbers of a connection rest after its end: long enough for packets that are late
    /// (IBTA 12.9.8.4).
    static long timewaitNanos(int ackTimeout) {
        return Math.min(nanos(ackTimeout), TIMEWAIT_NANOS_MAX);
    }
}
