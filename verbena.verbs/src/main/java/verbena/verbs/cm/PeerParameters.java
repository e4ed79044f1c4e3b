package verbena.verbs.cm;

/// What the other side says of itself when it connects or accepts.
///
/// @param privateData what its application says, with zeroes behind it up to what the message holds
/// @param responderResources READs and atomics that it serves at once: no more should be outstanding here
/// @param initiatorDepth READs and atomics that it means to have outstanding at once
/// @param qpn number of its queue pair, 24 bits
/// @param qkey datagrams: the Q_Key to send with; 0 otherwise
public record PeerParameters(PrivateData privateData, int responderResources, int initiatorDepth, int qpn, int qkey) {}
