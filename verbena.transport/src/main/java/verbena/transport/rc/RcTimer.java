package verbena.transport.rc;

/// The timers of a [Requester], in the order in which those that are due at once are looked at.
enum RcTimer {
    /// The peer had no receive, and has asked to wait for so long (IBTA 9.7.5.2.8).
    RNR,
    /// An answer is later than round trips take: send a probe.
    PROBE,
    /// No answer came in time: go back (IBTA 9.7.6.1.3).
    ACK,
    /// The peer may have been silent for as long as a keep-alive waits.
    KEEP_ALIVE
}
