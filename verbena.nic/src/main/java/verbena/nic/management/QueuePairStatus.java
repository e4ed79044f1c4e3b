package verbena.nic.management;

/// A queue pair at one moment. Totals are since it was made: the difference of two looks, by the difference of
/// their [DeviceMXBean#getNanoTime()], is a rate.
///
/// @param peer the address that it is connected to; empty when there is none
/// @param peerQpn 0 when there is none, or nobody knows
/// @param retransmittedPackets sent more than once
/// @param ackTimeouts times that no answer came
/// @param sequenceNaks gaps that the peer has told of
/// @param rnrNaks times that the peer had no receive
/// @param errors requests that failed or were flushed
/// @param sendsOutstanding posted and not done
/// @param receivesPosted posted and not used; of a shared receive queue all
/// @param completionsWaiting in the completion queues, not yet polled
/// @param cause why it is in ERR or SQE by itself, in words; empty otherwise
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
