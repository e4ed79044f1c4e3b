package verbena.nic.observe;

import verbena.transport.Counter;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;

/// A queue pair as those see it that only look on: the flight recorder and JMX. Any thread; what it says may be a
/// moment old.
public interface ObservedQueuePair extends QueuePair {
    String deviceName();

    QueuePairOptions options();

    /// The address of the peer that it is connected to; empty when there is none.
    String peer();

    /// The number of the peer's queue pair; 0 when there is none.
    int peerQpn();

    /// Why it is in ERR by itself, in words; empty when it is not.
    String rootCause();

    long count(Counter counter);

    /// Sends that are posted and not done.
    long sendsOutstanding();

    /// Receives that are posted and not used, of a shared queue all.
    long receivesPosted();

    int receiveCapacity();

    boolean isReceiveShared();

    /// Completions that wait to be taken, in both queues.
    int completionsWaiting();

    /// How many completions both queues hold.
    int completionCapacity();
}
