package verbena.messages;

import verbena.verbs.Preview;

/// The description of a message that a receive has taken. Immutable.
///
/// @param from its sender: the object that [Worker#connect] or [WorkerListener#accept()] returned
/// @param tag of the message
/// @param length bytes of the message; those beyond the memory of the receive are lost
/// @param isTruncated whether bytes were lost
/// @since 0.1
public record Received(RemoteWorker from, long tag, long length, boolean isTruncated) {
    @Preview
    public Received {}
}
