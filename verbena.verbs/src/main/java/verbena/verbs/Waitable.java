package verbena.verbs;

import java.util.function.BooleanSupplier;

/// A source of events that a thread can wait for together with others, by a [Waiter]: a [CompletionChannel], an
/// [verbena.verbs.cm.EventChannel], a [verbena.verbs.cm.ConnectionListener], or a result or listener of messages. Any
/// thread may call it.
///
/// Programs pass it to [Waiter#add], and ask [#isReady()] after a wait which sources are ready. The other methods
/// are for the waiter. The requests of a [verbena.verbs.cm.Connection] and streams are no such sources.
///
/// @since 0.1
public interface Waitable {
    /// Returns whether a call that takes an event has something to do: there is an event, or the source is closed.
    /// Never blocks.
    boolean isReady();

    /// Adds a listener that runs whenever the source has become ready, on the thread that brought the event. That
    /// thread may be in the middle of any call, so the listener must not wait, and must not throw. For the waiter.
    @Preview
    void addListener(Runnable listener);

    /// Removes a listener; does nothing when it was not added. It may still run once. For the waiter.
    @Preview
    void removeListener(Runnable listener);

    /// Waits as a thread of the device. The caller does the device's work and sleeps where packets arrive, so no
    /// other thread has to wake it. Returns when `isOver` is true, after `nanos`, or when the device needs its
    /// place. A change that makes `isOver` true and does not come from this device is followed by
    /// [#wakeAttendant()]. For the waiter.
    ///
    /// @param isOver condition that ends the wait, asked often, on this thread
    /// @param nanos `Long.MAX_VALUE` for no limit
    /// @return false, at once, when the caller has to wait elsewhere
    @Preview
    default boolean attend(BooleanSupplier isOver, long nanos) throws InterruptedException {
        return false;
    }

    /// Makes a thread in [#attend] check whether its wait is over. For the waiter, on any thread.
    @Preview
    default void wakeAttendant() {}
}
