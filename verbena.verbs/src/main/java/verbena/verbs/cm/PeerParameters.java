package verbena.verbs.cm;

/// The parameters that the other side sends when it connects or accepts.
///
/// @param privateData what its application says, with zeroes behind it up to what the message holds
/// @param responderResources READs and atomics that it serves at once: no more should be outstanding here
/// @param initiatorDepth READs and atomics that it means to have outstanding at once
/// @param retryCount attempts after the first without an answer, which the active side chooses for both; 7 where the
///     peer does not say
/// @param rnrRetryCount attempts of this side after an RNR NAK; 7 is without limit
/// @param sharedReceiveQueue whether its queue pair has one
/// @param qpn number of its queue pair, 24 bits
/// @param qkey datagrams: the Q_Key to send with; 0 otherwise
public record PeerParameters(
        PrivateData privateData,
        int responderResources,
        int initiatorDepth,
        int retryCount,
        int rnrRetryCount,
        boolean sharedReceiveQueue,
        int qpn,
        int qkey) {
    /// Returns what the other side says of the queue pair that takes its datagrams.
    public static PeerParameters ofDatagrams(PrivateData privateData, int qpn, int qkey) {
        return new PeerParameters(privateData, 0, 0, 7, 7, false, qpn, qkey);
    }
}
