package verbena.nic.observe;

import verbena.transport.Counter;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;

/// A queue pair as seen by observers: the flight recorder and JMX. Any thread; the values may be a moment old.
public interface ObservedQueuePair extends QueuePair {
    String deviceName();

    @Override
    QueuePairOptions options();

    /// Returns the address of the peer that it is connected to; empty when there is none.
    String peer();

    /// Returns the number of the peer's queue pair; 0 when there is none.
    int peerQpn();

    /// Returns why it went to ERR by itself, in words; empty otherwise.
    String rootCause();

    long count(Counter counter);

    /// Returns the number of sends that are posted and not completed.
    long sendsOutstanding();

    /// Returns the number of receives that are posted and not used; for a shared queue, all of its receives.
    long receivesPosted();

    int receiveCapacity();

    boolean isReceiveShared();

    /// Returns the number of completions that wait in both queues.
    int completionsWaiting();

    /// Returns the capacity of both completion queues together.
    int completionCapacity();
}
