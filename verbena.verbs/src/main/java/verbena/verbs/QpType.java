package verbena.verbs;

/// Kind of service of a queue pair (`enum ibv_qp_type`).
public enum QpType {
    /// Reliable connection.
    RC(2),
    /// Unreliable connection.
    UC(3),
    /// Unreliable datagram.
    UD(4);

    private final int code;

    QpType(int code) {
        this.code = code;
    }

    /// The value of `enum ibv_qp_type`.
    public int code() {
        return code;
    }
}
