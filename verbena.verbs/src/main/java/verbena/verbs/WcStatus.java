package verbena.verbs;

/// The result of a work request (`enum ibv_wc_status`, IBTA 10.10.3). [#meaning()] says what each stands for, and
/// [#page()] names a page with its causes and remedies. Immutable.
///
/// @since 0.1
public enum WcStatus {
    SUCCESS("success", "The request was carried out."),
    LOC_LEN_ERR(
            "local length error",
            "A received message was longer than the buffers of its receive request, or a message exceeds what the"
                    + " service carries. Post larger receives."),
    LOC_QP_OP_ERR(
            "local QP operation error",
            "The queue pair could not carry out the request: it contradicts the queue pair's type or attributes."),
    LOC_EEC_OP_ERR("local EE context operation error", "Reliable datagram only; no device here has it."),
    LOC_PROT_ERR(
            "local protection error",
            "An entry of the request's own scatter/gather list names memory that its lkey does not cover, or that is"
                    + " gone. Check lkey, address, length, protection domain and LOCAL_WRITE."),
    WR_FLUSH_ERR(
            "Work Request Flushed Error",
            "The queue pair was in, or entered, the error state before this request was done. Look for the first"
                    + " completion with another status: it tells why."),
    MW_BIND_ERR(
            "memory management operation error",
            "A bind or local invalidate named a window, region or range that does not allow it."),
    BAD_RESP_ERR("bad response error", "The peer answered with a packet that fits no outstanding request."),
    LOC_ACCESS_ERR("local access error", "The peer's write with immediate touched memory that it has no right to."),
    REM_INV_REQ_ERR(
            "remote invalid request error",
            "Of a send: the peer cannot take such a request; the operation is not enabled on its queue pair, the message"
                    + " is too long for its receive, or more READs were outstanding than it allows. Of a receive: the"
                    + " peer's message was against the rules."),
    REM_ACCESS_ERR(
            "remote access error",
            "The peer's memory protection refused: wrong rkey, out of bounds, missing remote right, or another"
                    + " protection domain."),
    REM_OP_ERR("remote operation error", "The peer had a fault of its own while it carried out the request."),
    RETRY_EXC_ERR(
            "transport retry counter exceeded",
            "The peer did not answer within retryCount + 1 attempts: it is gone, unreachable, has not reached RTR, or"
                    + " address, path MTU or queue pair number are not what it expects."),
    RNR_RETRY_EXC_ERR(
            "RNR retry counter exceeded",
            "The peer had no receive request posted, and still none after all retries. Post receives earlier or"
                    + " raise rnrRetry (7 means without limit)."),
    LOC_RDD_VIOL_ERR("local RDD violation error", "Reliable datagram only; no device here has it."),
    REM_INV_RD_REQ_ERR("remote invalid RD request", "Reliable datagram only; no device here has it."),
    REM_ABORT_ERR("aborted error", "The peer aborted the operation."),
    INV_EECN_ERR("invalid EE context number", "Reliable datagram only; no device here has it."),
    INV_EEC_STATE_ERR("invalid EE context state", "Reliable datagram only; no device here has it."),
    FATAL_ERR("fatal error", "The device failed."),
    RESP_TIMEOUT_ERR("response timeout error", "A response did not come in time."),
    GENERAL_ERR("general error", "The device tells no more.");

    private final String label;
    private final String meaning;

    WcStatus(String label, String meaning) {
        this.label = label;
        this.meaning = meaning;
    }

    /// Returns the value of `enum ibv_wc_status`.
    public int code() {
        return ordinal();
    }

    /// Returns the status of this code.
    ///
    /// @throws IllegalArgumentException when no status has this code
    public static WcStatus ofCode(int code) {
        if (code < 0 || code >= values().length) {
            throw new IllegalArgumentException("status: 0 to " + (values().length - 1) + ", got " + code);
        }
        return values()[code];
    }

    /// Returns what the status means and the usual remedy, in a sentence or two.
    public String meaning() {
        return meaning;
    }

    /// Returns the path of the page with the checks, causes and remedies of this status. `verbena status NAME` shows
    /// the page.
    public String page() {
        return "docs/status/" + name() + ".md";
    }

    /// Returns the words of ibv_wc_status_str(3).
    public String label() {
        return label;
    }
}
