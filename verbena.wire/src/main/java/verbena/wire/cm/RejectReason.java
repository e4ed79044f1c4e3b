package verbena.wire.cm;

import org.jspecify.annotations.Nullable;

/// Reasons for the refusal of a connection (IBTA 12.6.7.2).
public enum RejectReason {
    NO_QP(1),
    NO_EEC(2),
    NO_RESOURCES(3),
    TIMEOUT(4),
    UNSUPPORTED_REQUEST(5),
    INVALID_COMM_ID(6),
    INVALID_COMM_INSTANCE(7),
    /// No program listens.
    INVALID_SERVICE_ID(8),
    INVALID_TRANSPORT_TYPE(9),
    /// The other side has, or has just had, a connection with this queue pair or communication ID.
    STALE_CONNECTION(10),
    RDC_NOT_EXIST(11),
    PRIMARY_GID_REJECTED(12),
    PRIMARY_LID_REJECTED(13),
    INVALID_PRIMARY_SL(14),
    INVALID_PRIMARY_TRAFFIC_CLASS(15),
    INVALID_PRIMARY_HOP_LIMIT(16),
    INVALID_PRIMARY_PACKET_RATE(17),
    ALTERNATE_GID_REJECTED(18),
    ALTERNATE_LID_REJECTED(19),
    INVALID_ALTERNATE_SL(20),
    INVALID_ALTERNATE_TRAFFIC_CLASS(21),
    INVALID_ALTERNATE_HOP_LIMIT(22),
    INVALID_ALTERNATE_PACKET_RATE(23),
    CM_REDIRECT(24),
    PORT_REDIRECT(25),
    INVALID_PATH_MTU(26),
    INSUFFICIENT_RESPONDER_RESOURCES(27),
    /// A refusal by the application; the private data may give its reason.
    CONSUMER_REJECT(28),
    RNR_RETRY_COUNT_REJECTED(29),
    DUPLICATE_LOCAL_COMM_ID(30),
    UNSUPPORTED_CLASS_VERSION(31),
    INVALID_PRIMARY_FLOW_LABEL(32),
    INVALID_ALTERNATE_FLOW_LABEL(33),
    VENDOR_OPTION_NOT_SUPPORTED(35);

    private static final @Nullable RejectReason[] BY_CODE = new @Nullable RejectReason[36];

    static {
        for (RejectReason reason : values()) {
            BY_CODE[reason.code] = reason;
        }
    }

    private final int code;

    RejectReason(int code) {
        this.code = code;
    }

    /// Returns the number on the wire.
    public int code() {
        return code;
    }

    /// Returns the reason with this number; null when it is undefined.
    public static @Nullable RejectReason of(int code) {
        return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    }
}
