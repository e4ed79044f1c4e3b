package verbena.nic.management;

/// A queue pair at one moment. Totals count from its creation: the difference of two samples, divided by the
/// difference of their [DeviceMXBean#getNanoTime()], is a rate.
///
/// @param peer the address that it is connected to; empty when there is none
/// @param peerQpn 0 when there is none, or it is unknown
/// @param retransmittedPackets packets sent more than once
/// @param ackTimeouts how often no response came in time
/// @param sequenceNaks gaps that the peer has reported
/// @param rnrNaks how often the peer had no receive
/// @param errors requests that failed; not those that were flushed after one, or at the end of a connection
/// @param sendsOutstanding sends that are posted and not completed
/// @param receivesPosted receives that are posted and not used; for a shared receive queue, all of its receives
/// @param completionsWaiting completions in the completion queues that were not polled yet
/// @param cause why it went to ERR or SQE by itself, in words; empty otherwise
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
        String cause) {}
