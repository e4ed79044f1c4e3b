package verbena.verbs.spi;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Preview;

/// A completion channel whose caller waits by system calls of its own. `verbena.abi` does: a C program sleeps in
/// C, so that signals, cancellation and long jumps meet no Java method on its stack.
///
/// Such a caller can wait in two ways. It is told of each notification, and then makes a descriptor readable. Or
/// it visits the device: it attends to the device's work in place of the device's own thread, and sleeps where
/// packets arrive.
@Preview
public interface WaitableChannel extends CompletionChannel {
    /// The answer of [#visit] and [#goOn] when there is a notification to take, or the channel is closed.
    int OVER = 0;

    /// The answer when a visit is not possible, or not any more.
    int ELSEWHERE = -1;

    /// Returns whether it was not closed.
    boolean isOpen();

    /// Sets what is called when a notification has come, by the thread that has brought it: which must not wait
    /// there. The notification may have been taken meanwhile.
    void tell(Runnable to);

    /// Takes a notification as [#poll()] does, without a look at the device.
    Optional<CompletionQueue> take();

    /// Returns how many notifications there are to take.
    int notifications();

    /// Begins a visit. A positive answer is a number of descriptors: the caller polls them by poll(2), and then
    /// goes on, or ends the visit. With any other answer the visit has ended. One thread at a time visits.
    ///
    /// @param pollfds where to put what is to be polled, an array of `struct pollfd`; [#ELSEWHERE] is the answer
    ///     when there is too little room
    int visit(MemorySegment pollfds);

    /// Goes on with a visit, in the thread that began it; answers as [#visit].
    ///
    /// @param pollfds holds the result of poll(2), and takes what is to be polled next
    int goOn(MemorySegment pollfds);

    /// Ends the sleep of a thread that visits, which goes on. Any thread.
    void wake();

    /// Ends a visit, in the thread that began it, also when the channel is closed.
    void endVisit();

    /// Leaves the device to other threads, because the program is about to wait for the descriptor.
    void handOver();

    /// Returns a thread of Java that waits at the device of this channel, and for more than this channel.
    ///
    /// @param isOver whether it has what it waits for: asked often, by the thread that waits. A change to true
    ///     happens in the device's work, or is followed by [Waiter#wake()]
    Waiter waiter(BooleanSupplier isOver);
}
