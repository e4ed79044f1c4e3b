package verbena.verbs.cm;

import verbena.verbs.Preview;

/// The parameters that the other side sends when it connects or accepts. Immutable.
///
/// @param privateData of its application. Over InfiniBand and RoCE zeroes follow, up to the size of the message's
///     field; over iWARP it has its own length
/// @param responderResources READs and atomics that it serves at once; this side should not have more outstanding
/// @param initiatorDepth READs and atomics that it intends to have outstanding at once
/// @param retryCount attempts after the first without an answer, which the active side chooses for both; 7 where the
///     peer does not send it
/// @param rnrRetryCount attempts of this side after an RNR NAK; 7 is without limit
/// @param sharedReceiveQueue whether its queue pair has one
/// @param qpn number of its queue pair, 24 bits
/// @param qkey the Q_Key to send datagrams with; 0 otherwise
/// @since 0.1
public record PeerParameters(
        PrivateData privateData,
        int responderResources,
        int initiatorDepth,
        int retryCount,
        int rnrRetryCount,
        boolean sharedReceiveQueue,
        int qpn,
        int qkey) {
    /// Parameters that have arrived; for providers.
    @Preview
    public PeerParameters {}

    /// Returns the parameters of a queue pair that takes the other side's datagrams; for providers.
    @Preview
    public static PeerParameters ofDatagrams(PrivateData privateData, int qpn, int qkey) {
        return new PeerParameters(privateData, 0, 0, 7, 7, false, qpn, qkey);
    }
}
