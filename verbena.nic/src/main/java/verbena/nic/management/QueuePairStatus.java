package verbena.nic.management;

import verbena.verbs.Preview;

/// The status of a queue pair at one moment. Immutable. Totals count from its creation. The difference of two
/// samples, divided by the difference of their [DeviceMXBean#getNanoTime()], is a rate.
///
/// @param qpn queue pair number, 24 bits
/// @param peer the address that it is connected to; empty when there is none
/// @param peerQpn number of the peer's queue pair; 0 when there is none, or it is unknown
/// @param retransmittedPackets packets sent more than once
/// @param ackTimeouts number of times that no response came in time
/// @param sequenceNaks gaps that the peer has reported
/// @param rnrNaks number of times that the peer had no receive
/// @param errors requests that failed; not those that were flushed after one, or at the end of a connection
/// @param sendsOutstanding sends that are posted and not completed
/// @param receivesPosted receives that are posted and not used; for a shared receive queue, all of its receives
/// @param completionsWaiting completions in the completion queues that were not polled yet
/// @param cause failure that moved it to ERR or SQE, in words; empty otherwise
/// @since 0.1
public record QueuePairStatus(
        int qpn,
        String type,
        String state,
        String peer,
        int peerQpn,
        long sentPackets,
        long sentBytes,
        long receivedPackets,
        long receivedBytes,
        long retransmittedPackets,
        long ackTimeouts,
        long sequenceNaks,
        long rnrNaks,
        long completions,
        long errors,
        long sendsOutstanding,
        int sendCapacity,
        long receivesPosted,
        int receiveCapacity,
        boolean sharedReceives,
        long completionsWaiting,
        int completionCapacity,
        String cause) {
    @Preview
    public QueuePairStatus {}
}
