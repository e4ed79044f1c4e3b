package verbena.transport;

import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;

/// The events that a queue pair's protocol reports to its owner. Called by the engine.
public interface QueuePairEvents {
    /// Handles an event that belongs to no request.
    void onAsyncEvent(AsyncEvent.Type type);

    /// Handles a change of the state (to ERR or SQE) by the protocol itself.
    void onState(QpState state);

    /// Handles the failure of a request, whose completion reports it. Not called for flushed requests.
    ///
    /// @param cause in words
    default void onError(long wrId, WcStatus status, WcOpcode opcode, int vendorError, String cause) {}

    /// Handles a retransmission: all unacknowledged packets, from this PSN on, are sent again.
    default void onRetransmission(Retransmission why, int psn, int retriesLeft) {}

    /// Handles an RNR NAK: the peer had no receive for the message with this PSN, and has asked to wait.
    ///
    /// @param retriesLeft [Integer#MAX_VALUE] when there is no limit
    default void onRnrNak(int psn, long waitNanos, int retriesLeft) {}

    /// Handles a chance to send that no packet gave: another connection has made room.
    default void onReady() {}

    /// Handles a request that was carried out on the peer's memory, without a packet, and completes next.
    ///
    /// @param packets that it would have sent and got; valid during the call
    default void onDirect(DirectPackets packets) {}

    /// Handles an access error: the peer of a reliable connection, by a packet that was next in its sequence,
    /// wanted memory that it may not have. Not called for a key of memory that was closed not long ago.
    default void onAccessError() {}

    /// Handles the first packet that fits since RTR, so the peer knows the connection: once a request, once an
    /// answer.
    default void onFirstPacket(boolean isAnswer) {}
}
