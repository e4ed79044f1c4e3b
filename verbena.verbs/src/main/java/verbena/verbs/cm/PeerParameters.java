package verbena.verbs.cm;

import java.util.Objects;
import verbena.verbs.Preview;

/// The parameters that the peer has sent when it connected or accepted (`struct rdma_conn_param`). Events and
/// [Connection#peer()] have them. Immutable.
///
/// @param privateData bytes of the peer's program. Over InfiniBand and RoCE zeroes follow them, up to the size of the
///     message's field; over iWARP they have the length that the peer gave them
/// @param responderResources READs and atomics that the peer serves at once; this side should not have more
///     outstanding
/// @param initiatorDepth READs and atomics that the peer may have outstanding at once, for which this side needs
///     resources
/// @param retryCount attempts after the first without an answer, which the active side chooses for both; 7 where the
///     peer does not send it
/// @param rnrRetryCount attempts of this side after an RNR NAK of the peer; 7 is without limit
/// @param hasSharedReceiveQueue whether the peer's queue pair has a shared receive queue
/// @param qpn number of the peer's queue pair, 24 bits
/// @param qkey the Q_Key to send datagrams to the peer with; 0 for a connection
/// @since 0.1
public record PeerParameters(
        PrivateData privateData,
        int responderResources,
        int initiatorDepth,
        int retryCount,
        int rnrRetryCount,
        boolean hasSharedReceiveQueue,
        int qpn,
        int qkey) {
    /// Creates parameters that have arrived. For providers: programs only read them.
    @Preview
    public PeerParameters {
        Objects.requireNonNull(privateData, "privateData");
    }

    /// Returns the parameters of a queue pair that takes datagrams of this side. For providers.
    @Preview
    public static PeerParameters ofDatagrams(PrivateData privateData, int qpn, int qkey) {
        return new PeerParameters(privateData, 0, 0, 7, 7, false, qpn, qkey);
    }
}
