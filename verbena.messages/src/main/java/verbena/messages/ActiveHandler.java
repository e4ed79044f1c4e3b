package verbena.messages;

/// A program's handler of the active messages of one number ([Worker#onActive]). The program implements it.
///
/// It runs on the thread that reads the worker's arrivals: a thread that waits for one of them, or the worker's own.
/// Handlers of one worker run one at a time, so each sees the effects of those before.
///
/// Nothing else arrives while a handler runs. It should return soon, and pass long work to another thread. It may
/// send, and start operations that return a [verbena.verbs.Pending]. Waiting, or closing a peer or the worker, throws
/// [verbena.verbs.InvalidStateException] there.
///
/// @since 0.1
@FunctionalInterface
public interface ActiveHandler {
    /// Handles a message. An exception ends the connection to the message's sender.
    ///
    /// @param message valid until this returns, unless it is kept ([ActiveMessage#keep()])
    void handle(ActiveMessage message);
}
