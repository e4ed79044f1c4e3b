package verbena.verbs.cm;

import java.util.Objects;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.verbs.InvalidStateException;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.ConnectionId.State;
import verbena.verbs.spi.ConnectionService;
import verbena.verbs.spi.ConnectionService.Exchange;
import verbena.verbs.spi.ConnectionService.News;
import verbena.verbs.spi.ConnectionService.OwnSide;
import verbena.verbs.spi.ConnectionService.Route;

/// The agreement of one [ConnectionId] and its peer: the [Exchange] of the device, and what becomes of its news: the
/// next state, the queue pair's moves, the program's event. Under the identifier's lock.
final class Negotiation {
    private final ConnectionId id;
    private final OwnQueuePair pair;
    private @Nullable Exchange exchange;
    /// Active: this side, as the device was told.
    private @Nullable OwnSide own;
    /// Active: whether a connection is wanted when the peer has accepted.
    private BooleanSupplier isWanted = () -> true;
    /// Passive: the peer that asks.
    private @Nullable PeerParameters asking;

    Negotiation(ConnectionId id, OwnQueuePair pair) {
        this.id = id;
        this.pair = pair;
    }

    /// Returns the exchange, once there is a peer.
    Exchange exchange(String verb) {
        Exchange begun = exchange;
        if (begun == null) {
            throw new InvalidStateException(verb + ": " + id + " is in " + id.state() + " and has no peer yet");
        }
        return begun;
    }

    // ---- what the program does

    void connect(ConnectionService service, Route call, OwnSide mine, ConnectionService.Listener listener) {
        own = mine;
        exchange = service.connect(call, mine, listener);
    }

    void confirmIf(BooleanSupplier wanted) {
        isWanted = wanted;
    }

    void begin(Exchange begun, PeerParameters from) {
        exchange = begun;
        asking = from;
    }

    void accept(OwnSide mine) {
        Exchange begun = exchange("accept");
        if (!id.space().isDatagram()) {
            pair.bringUp(begun, mine);
        }
        begun.accept(mine);
    }

    static void refuse(Exchange begun) {
        try {
            begun.reject(PrivateData.NONE);
        } catch (InvalidStateException e) {
            // the peer has given up meanwhile
        }
    }

    /// Rejects a request, or ends a connection, in the state that the identifier was in.
    void close(State was) {
        Exchange begun = exchange;
        if (begun == null) {
            return;
        }
        if (was == State.REQUESTED) {
            refuse(begun);
        } else if (was != State.DISCONNECTED) {
            begun.disconnect(PrivateData.NONE);
        }
    }

    // ---- what the device tells

    /// Returns the event that the program gets; on the thread that takes it.
    Optional<ConnectionEvent> learn(Exchange begun, News news) {
        return switch (news) {
            case News.Accepted(PeerParameters from) -> onAccepted(begun, from);
            case News.Established() -> {
                PeerParameters from = asking;
                if (id.state() != State.ACCEPTED || from == null) {
                    yield Optional.empty(); // the active side has said so itself
                }
                id.enter(State.CONNECTED);
                yield Optional.of(new ConnectionEvent.Established(id, from));
            }
            case News.Rejected(int reason, String why, PrivateData data) -> {
                id.enter(State.DISCONNECTED);
                yield Optional.of(new ConnectionEvent.Rejected(id, reason, why, data));
            }
            case News.Unreachable(String why) -> {
                id.enter(State.DISCONNECTED);
                yield Optional.of(new ConnectionEvent.Unreachable(id, why));
            }
            case News.Disconnected(EndedBy by, String why) -> {
                id.enter(State.DISCONNECTED);
                yield Optional.of(new ConnectionEvent.Disconnected(id, by, why));
            }
            case News.TimewaitExit() -> Optional.of(new ConnectionEvent.TimewaitExit(id));
        };
    }

    private Optional<ConnectionEvent> onAccepted(Exchange begun, PeerParameters from) {
        if (id.state() != State.CONNECTING) {
            return Optional.empty(); // given up meanwhile
        }
        if (id.space().isDatagram()) {
            id.enter(State.CONNECTED);
            return Optional.of(new ConnectionEvent.DatagramEstablished(id, begun.path(), from));
        }
        if (pair.isPrograms()) {
            return Optional.of(new ConnectionEvent.ConnectResponse(id, from));
        }
        if (!isWanted.getAsBoolean()) {
            return refused(begun, "the peer has accepted when it was not wanted any more");
        }
        try {
            pair.bringUp(begun, Objects.requireNonNull(own));
            begun.ready();
        } catch (VerbsException | IllegalArgumentException e) {
            return refused(begun, String.valueOf(e.getMessage()));
        }
        id.enter(State.CONNECTED);
        return Optional.of(new ConnectionEvent.Established(id, from));
    }

    private Optional<ConnectionEvent> refused(Exchange begun, String why) {
        refuse(begun);
        id.enter(State.DISCONNECTED);
        return Optional.of(new ConnectionEvent.ConnectError(id, why));
    }
}
