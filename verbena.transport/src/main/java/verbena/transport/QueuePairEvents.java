package verbena.transport;

import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;

/// What a queue pair's protocol tells its owner. Called by the engine.
public interface QueuePairEvents {
    /// Something happened that belongs to no request.
    void onAsyncEvent(AsyncEvent.Type type);

    /// The protocol itself changed the state (to ERR or SQE).
    void onState(QpState state);

    /// A request has failed, and its completion says so. Not called for those that are flushed.
    ///
    /// @param cause in words
    default void onError(long wrId, WcStatus status, WcOpcode opcode, int vendorError, String cause) {}

    /// All unacknowledged packets, from this PSN on, are sent again.
    default void onRetransmission(Retransmission why, int psn, int retriesLeft) {}

    /// The peer had no receive for the message with this PSN, and has asked to wait.
    ///
    /// @param retriesLeft [Integer#MAX_VALUE] when there is no limit
    default void onRnrNak(int psn, long waitNanos, int retriesLeft) {}

    /// The protocol may have something to send, though nothing has come for it: another connection has made room.
    default void onReady() {}

    /// A request was carried out on the peer's memory, without a packet, and completes next.
    ///
    /// @param packets what it would have sent and got; valid during the call
    default void onDirect(DirectPackets packets) {}

    /// The peer of a reliable connection, by a packet that was next in its sequence, wanted memory that it may not
    /// have. Not called for a key of what was closed not long ago.
    default void onAccessError() {}

    /// The first packet that fits has come since RTR, so the peer knows the connection: once a request, once an
    /// answer.
    default void onFirstPacket(boolean isAnswer) {}
}
