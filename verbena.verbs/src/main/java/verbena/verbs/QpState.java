package verbena.verbs;

/// State of a queue pair (IBTA 10.3.1, ibv_modify_qp(3)). Immutable.
///
/// @since 0.1
public enum QpState {
    /// Freshly made: nothing can be posted, nothing is received.
    RESET,
    /// Receives can be posted; nothing is received yet.
    INIT,
    /// Ready to receive: requests of the peer are answered.
    RTR,
    /// Ready to send: fully working.
    RTS,
    /// Send queue drained: started requests finish, no new one starts.
    SQD,
    /// Send queue error of an unreliable service; receiving goes on.
    SQE,
    /// All requests end with `WR_FLUSH_ERR`; arriving packets are dropped.
    ERR;

    /// Returns the value of `enum ibv_qp_state`.
    public int code() {
        return ordinal();
    }
}
