package verbena.transport;

import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;

/// What a queue pair's protocol tells its owner. Called by the engine.
public interface QueuePairEvents {
    /// Something happened that belongs to no request.
    void onAsyncEvent(AsyncEvent.Type type);

    /// The protocol itself changed the state (to ERR or SQE).
    void onState(QpState state);

    /// The protocol may have something to send, though nothing has come for it: another connection has made room.
    default void onReady() {}

    /// The first packet that fits has come since RTR, so the peer knows the connection: once a request, once an
    /// answer.
    default void onFirstPacket(boolean isAnswer) {}
}
