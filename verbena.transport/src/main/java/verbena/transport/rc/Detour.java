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

    /// Whether a request has begun there, and is not done. Meanwhile the send queue is not drained, and the peer is not
    /// asked whether it lives.
    boolean hasBegun();

    /// The peer has acknowledged a packet.
    void onAcknowledged();

    /// ERR: the peer is owed nothing any more.
    void onAnswersDropped();

    /// ERR: the peer reaches no memory through this queue pair any more. No completion tells of the error before.
    void onAccessEnded();

    /// RESET or ERR: no request is under way any more.
    void onStopped();
}
