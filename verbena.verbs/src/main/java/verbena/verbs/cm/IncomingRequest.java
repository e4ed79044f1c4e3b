package verbena.verbs.cm;

import java.util.Optional;
import verbena.verbs.QpType;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.ConnectionId.State;
import verbena.verbs.spi.ConnectionService.Exchange;

/// A peer's request, until the thread that takes its event gives it its identifier.
///
/// @param theirs the identifier that it will have
/// @param at the device that it came to
/// @param exchange the device's exchange with the peer
record IncomingRequest(
        ConnectionId listener,
        ConnectionId theirs,
        LocalDevices.Lease at,
        Exchange exchange,
        PeerParameters from,
        QpType type)
        implements EventChannel.Step {
    @Override
    public Optional<ConnectionEvent> take() {
        synchronized (listener.lock) { // it may come before listen has returned
            if (listener.state() != State.LISTENING) {
                discard();
                return Optional.empty();
            }
            try {
                theirs.begin(listener.channel(), this);
            } catch (VerbsException e) {
                discard(); // the channel is closed, or the device: the next event is another's
                theirs.close();
                return Optional.empty();
            }
        }
        return Optional.of(new ConnectionEvent.ConnectRequest(theirs, listener, from));
    }

    @Override
    public void discard() {
        Negotiation.refuse(exchange);
    }
}
