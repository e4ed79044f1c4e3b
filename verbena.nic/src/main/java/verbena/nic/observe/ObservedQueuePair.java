package verbena.nic.observe;

import verbena.transport.Counter;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;

/// A queue pair as seen by observers: the flight recorder and JMX. Any thread; the values may be a moment old.
public interface ObservedQueuePair extends QueuePair {
    String deviceName();

    QueuePairOptions options();

    /// The address of the peer that it is connected to; empty when there is none.
    String peer();

    /// The number of the peer's queue pair; 0 when there is none.
    int peerQpn();

    /// Why it went to ERR by itself, in words; empty otherwise.
    String rootCause();

    long count(Counter counter);

    /// The number of sends that are posted and not completed.
    long sendsOutstanding();

    /// The number of receives that are posted and not used; for a shared queue, all of its receives.
    long receivesPosted();

    int receiveCapacity();

    boolean isReceiveShared();

    /// The number of completions that wait in both queues.
    int completionsWaiting();

    /// The capacity of both completion queues together.
    int completionCapacity();
}
