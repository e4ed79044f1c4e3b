package verbena.messages.rail;

import verbena.verbs.CompletionQueue;
import verbena.verbs.LocalMemory;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;

/// A bell that wakes the thread which waits at a completion queue. It is a queue pair in the error state: a request
/// that is posted there completes at once, flushed (IBTA chapter 10.3.1, the Error state), and sends nothing.
final class Bell implements AutoCloseable {
    /// Rings under way at once: one is taken while the next is made.
    static final int RINGS = 2;

    private final QueuePair pair;
    private final LocalMemory memory;
    private final long number;

    /// @param number of the completions by which it is known
    Bell(ProtectionDomain domain, CompletionQueue queue, LocalMemory memory, long number) {
        this.memory = memory.slice(0, 1);
        this.number = number;
        this.pair = domain.createQueuePair(
                QueuePairOptions.rc(queue).withSizes(new QueuePairOptions.Sizes(RINGS, 1, 1, 1, 0)));
        pair.modify(new Transition.ToError());
    }

    void ring() {
        pair.postSend(number, memory);
    }

    @Override
    public void close() {
        pair.close();
    }
}
