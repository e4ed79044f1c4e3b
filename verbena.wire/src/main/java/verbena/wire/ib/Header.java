package verbena.wire.ib;

/// The transport headers in the order in which they follow one another on the wire (IBTA 5.2, 9.3).
public enum Header {
    /// Base transport header.
    BTH(12),
    /// Reliable datagram extended transport header: EE-context.
    RDETH(4),
    /// Datagram extended transport header: Q_Key and source QP.
    DETH(8),
    /// Extended reliable connection header: SRQ number.
    XRCETH(4),
    /// Flush extended transport header (IBTA A19).
    FETH(4),
    /// RDMA extended transport header: address, key, length.
    RETH(16),
    /// Atomic extended transport header: address, key and two operands.
    ATOMIC_ETH(28),
    /// ACK extended transport header: syndrome and MSN.
    AETH(4),
    /// Atomic ACK extended transport header: the original value.
    ATOMIC_ACK_ETH(8),
    /// Immediate data.
    IMM_DT(4),
    /// Invalidate extended transport header: the R_Key to invalidate.
    IETH(4);

    private final int bytes;

    Header(int bytes) {
        this.bytes = bytes;
    }

    /// Returns the size on the wire, in bytes.
    public int bytes() {
        return bytes;
    }
}
