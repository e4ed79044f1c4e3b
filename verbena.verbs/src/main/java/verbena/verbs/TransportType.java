package verbena.verbs;

/// Family of protocols that a device speaks (`enum ibv_transport_type`). Immutable.
///
/// @since 0.1
public enum TransportType {
    /// The InfiniBand transport, over InfiniBand or RoCE.
    INFINIBAND("InfiniBand", 0),
    /// RDMAP and DDP over TCP (RFC 5040, RFC 5041).
    IWARP("iWARP", 1);

    private final String label;
    private final int code;

    TransportType(String label, int code) {
        this.label = label;
        this.code = code;
    }

    /// Returns the value of `enum ibv_transport_type`.
    public int code() {
        return code;
    }

    @Override
    public String toString() {
        return label;
    }
}
