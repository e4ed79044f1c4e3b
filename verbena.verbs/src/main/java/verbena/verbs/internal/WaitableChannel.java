package verbena.verbs.internal;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;

/// A completion channel whose caller waits by system calls of its own. `verbena.abi` does: a C program sleeps in C,
/// so that signals, cancellation and long jumps meet no Java method on its stack.
///
/// Such a caller waits in either of two forms. It makes a descriptor readable at each notification
/// ([verbena.verbs.WaitSource#addListener]). Or it visits the device: it does the device's work in place of the
/// device's own thread, and sleeps where packets arrive.
///
/// Any thread may call it, but one thread at a time visits, and that thread alone goes on with the visit and ends it.
/// The rules of [CompletionChannel] hold for its lifetime.
public interface WaitableChannel extends CompletionChannel {
    /// The result of [#visit] and [#goOn] when there is a notification to take, or the channel is closed.
    int OVER = 0;

    /// The result when a visit is not possible, or no longer.
    int ELSEWHERE = -1;

    /// Returns whether the channel is open.
    boolean isOpen();

    /// Takes a notification as [#poll()] does, without a look at the device.
    Optional<CompletionQueue> take();

    /// Returns the number of notifications to take.
    int notifications();

    /// Begins a visit. A positive result is a number of descriptors: the caller polls them by poll(2), and then
    /// goes on, or ends the visit. With any other result the visit has ended.
    ///
    /// @param pollfds room for the descriptors, an array of `struct pollfd`; too little room gives [#ELSEWHERE]
    int visit(MemorySegment pollfds);

    /// Goes on with a visit, in the thread that began it; the result is as that of [#visit].
    ///
    /// @param pollfds the result of poll(2), and room for the next descriptors
    int goOn(MemorySegment pollfds);

    /// Ends the sleep of a visiting thread, which goes on. Any thread.
    void wake();

    /// Ends a visit, in the thread that began it, also when the channel is closed.
    void endVisit();

    /// Leaves the device to other threads, because the program is about to wait for the descriptor.
    void handOver();

    /// Returns an object with which a Java thread waits at the device of this channel, and for more than this
    /// channel.
    ///
    /// @param isOver whether the wait is over, which the waiting thread asks often. A change to true happens in the
    ///     device's work, or is followed by [DeviceWait#wake()]
    DeviceWait waiter(BooleanSupplier isOver);
}
