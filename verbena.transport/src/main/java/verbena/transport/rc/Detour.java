package verbena.transport.rc;

/// A protocol around a [ReliableConnection] that carries out some of its requests without packets, as far as the
/// connection has to know. It takes a request by [SendSteps]. Engine-confined.
public interface Detour {
    /// The connection has all requests for itself.
    Detour NONE = new Detour() {
        @Override
        public boolean hasBegun() {
            return false;
        }

        @Override
        public void onAcknowledged() {}

        @Override
        public void onAnswersDropped() {}

        @Override
        public void onAccessEnded() {}

        @Override
        public void onStopped() {}
    };

    /// Returns whether a request has begun here, and is not done. Meanwhile the send queue is not drained, and the
    /// peer is not asked whether it lives.
    boolean hasBegun();

    /// Handles an acknowledgement of a packet by the peer.
    void onAcknowledged();

    /// Handles ERR: the peer is owed nothing any more.
    void onAnswersDropped();

    /// Handles ERR: the peer reaches no memory through this queue pair any more. No completion reports the error
    /// before.
    void onAccessEnded();

    /// Handles RESET or ERR: no request is under way any more.
    void onStopped();
}
