package verbena.verbs;

/// Kind of service of a queue pair (`enum ibv_qp_type`). Immutable.
///
/// @since 0.1
public enum QpType {
    /// Reliable connection.
    RC(2),
    /// Unreliable connection.
    UC(3),
    /// Unreliable datagram.
    UD(4),
    /// Whole Ethernet frames, sent as they are and received by flows ([QueuePair#attachFlow]).
    RAW_PACKET(8),
    /// Sends to targets of an [XrcDomain], and receives nothing (IBTA A14).
    XRC_INITIATOR(9),
    /// Receives from an initiator for the shared receive queues of an [XrcDomain], and sends nothing.
    XRC_TARGET(10);

    private final int code;

    QpType(int code) {
        this.code = code;
    }

    /// Returns the value of `enum ibv_qp_type`.
    public int code() {
        return code;
    }

    /// Returns the capability of devices that have queue pairs of this type.
    public Capability capability() {
        return switch (this) {
            case RC -> Capability.RC;
            case UC -> Capability.UC;
            case UD -> Capability.UD;
            case RAW_PACKET -> Capability.RAW_PACKET;
            case XRC_INITIATOR, XRC_TARGET -> Capability.XRC;
        };
    }

    /// Returns whether a queue pair of this type is an end of an extended reliable connection.
    public boolean isXrc() {
        return this == XRC_INITIATOR || this == XRC_TARGET;
    }
}
