package verbena.verbs;

/// A source of events that a thread can wait for together with others, by a [Waiter]: a [CompletionChannel], an
/// [verbena.verbs.cm.EventChannel], a [verbena.verbs.cm.ConnectionListener], a stream or its listener, or a result or
/// listener of messages. Any thread may call it.
///
/// The requests of a [verbena.verbs.cm.Connection] are no such sources, because the thread that waits for one reads the
/// completions of all. Anything else that ends, such as a connection or a peer, can call [Waiter#wakeup()].
///
/// @since 0.1
public interface Waitable {
    /// Returns whether a call that takes an event has something to do: there is an event, or the source is closed.
    /// Never blocks.
    boolean isReady();

    /// Returns the side that a [Waiter] uses. Programs pass the source to [Waiter#add] and do not call it.
    @Preview
    WaitSource waitSource();
}
