package verbena.messages;

/// The program's handler for the active messages of a number ([Worker#onActive]).
///
/// It runs on the thread that reads what arrives for the worker: one that waits for something of it, or the
/// worker's own. Handlers of one worker run one at a time, so they see what the ones before have done. While
/// one runs, nothing else arrives: it returns soon, and gives long work to another thread. It may send, and
/// begin what gives a [Pending]; it must not wait, nor close a peer or the worker.
@FunctionalInterface
public interface ActiveHandler {
    /// Handles a message. What it throws ends the peer that has sent the message.
    ///
    /// @param message valid until this returns, unless it is kept ([ActiveMessage#keep()])
    void handle(ActiveMessage message);
}
