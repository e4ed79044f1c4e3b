package verbena.cm;

import verbena.wire.cm.PrivateData;

/// The properties of one side's queue pair when a connection is made.
///
/// @param qpn 24 bits
/// @param startingPsn first PSN that the peer is to send, 24 bits
/// @param responderResources READs and atomics that this side can serve at once, 0 to 255
/// @param initiatorDepth READs and atomics that it means to have outstanding, 0 to 255
/// @param rnrRetryCount for the peer's queue pair, 0 to 7
/// @param extension its properties for other Verbena ends
/// @param privateData data of the application
public record CmEnd(
        int qpn,
        int startingPsn,
        int responderResources,
        int initiatorDepth,
        int rnrRetryCount,
        boolean sharedReceiveQueue,
        CmExtension extension,
        PrivateData privateData) {}
