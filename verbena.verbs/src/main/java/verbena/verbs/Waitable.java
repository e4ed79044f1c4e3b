package verbena.verbs;

import verbena.verbs.spi.WaitSource;

/// A source of events that a thread can wait for together with others, by a [Waiter]: a [CompletionChannel], an
/// [verbena.verbs.cm.EventChannel], a [verbena.verbs.cm.ConnectionListener], a stream or its listener, or a result or
/// listener of messages. Any thread may call it.
///
/// The requests of a [verbena.verbs.cm.Connection] are no such sources, because the thread that waits for one reads
/// the completions of all. The end of a connection can call [Waiter#wakeup()]; the loss of a peer of messages is a
/// source. A program may implement this for a source of its own, as [WaitSource] shows.
///
/// @since 0.1
public interface Waitable {
    /// Returns true when there is an event to take, or the source is closed. Never blocks.
    boolean isReady();

    /// Returns the side that a [Waiter] uses. A program that only waits passes the source to [Waiter#add]
    /// instead.
    @Preview
    WaitSource waitSource();
}
