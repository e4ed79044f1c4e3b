package verbena.verbs;

/// A source of events that a thread can wait for together with others, by a [Waiter]: a [CompletionChannel], an
/// [verbena.verbs.cm.EventChannel], a [verbena.verbs.cm.ConnectionListener], a stream or its listener, a listener of
/// messages, a [Pending] result, or the asynchronous events of a device ([Context#asyncEvents()]). Any thread may
/// call it. A program may implement this for a source of its own, as [WaitSource] shows.
///
/// @since 0.1
public interface Waitable {
    /// Returns true when there is an event to take, or the source is closed. Never blocks.
    boolean isReady();

    /// Returns the side that a [Waiter] uses. A program that only waits passes the source to [Waiter#add]
    /// instead.
    WaitSource waitSource();
}
