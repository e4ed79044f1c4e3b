package verbena.conformance.rig;

import java.net.InetSocketAddress;
import java.util.Optional;
import verbena.verbs.Context;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.EventChannel;
import verbena.verbs.cm.PortSpace;

/// How two ends of one process meet by the connection manager: a listener at the second context, and an event
/// channel for each.
public final class Meeting {
    private final Rig rig;
    public final EventChannel asking;
    public final EventChannel listening;
    public final ConnectionId listener;
    private final Context from;
    private final Context at;

    /// Listens at a free port.
    public Meeting(Rig rig, PortSpace space) {
        this.rig = rig;
        from = rig.a();
        at = rig.b();
        asking = rig.own(EventChannel.open(from));
        listening = rig.own(EventChannel.open(at));
        listener = rig.own(listening.createId(space));
        listener.bind(new InetSocketAddress(Rig.address(at), 0));
        listener.listen(64);
    }

    /// Where it listens.
    public InetSocketAddress address() {
        return listener.localAddress().orElseThrow();
    }

    /// An identifier that knows the way to the listener.
    public ConnectionId resolved(PortSpace space) throws InterruptedException {
        return resolved(space, address());
    }

    public ConnectionId resolved(PortSpace space, InetSocketAddress to) throws InterruptedException {
        ConnectionId id = rig.own(asking.createId(space));
        id.resolveAddress(Optional.of(new InetSocketAddress(Rig.address(from), 0)), to);
        await(id, ConnectionEvent.AddressResolved.class);
        id.resolveRoute();
        await(id, ConnectionEvent.RouteResolved.class);
        return id;
    }

    /// The next request at the listener.
    public ConnectionEvent.ConnectRequest request() throws InterruptedException {
        while (true) {
            if (next(listening) instanceof ConnectionEvent.ConnectRequest request) {
                rig.own(request.id());
                return request;
            }
        }
    }

    /// The next event of `id`, which has to be of this kind. Those of others are passed over.
    public <T extends ConnectionEvent> T await(ConnectionId id, Class<T> kind) throws InterruptedException {
        while (true) {
            ConnectionEvent event = next(id.channel());
            if (kind.isInstance(event) && event.id() == id) {
                return kind.cast(event);
            }
            if (event.id() == id) {
                throw new Mismatch(who(id.channel()) + ": connection event", kind.getSimpleName(), event);
            }
        }
    }

    private ConnectionEvent next(EventChannel channel) throws InterruptedException {
        ConnectionEvent event = channel.await(rig.patience())
                .orElseThrow(() ->
                        new Mismatch(who(channel) + ": connection event", "one", "none within " + rig.patience()));
        rig.tell(who(channel) + " is told " + event);
        return event;
    }

    private String who(EventChannel channel) {
        return channel == asking ? "a" : "b";
    }

    /// Asks, accepts and waits for both to be told. Both have their queue pairs.
    void establish(
            ConnectionId asks,
            ConnectionParameters theirs,
            java.util.function.Consumer<ConnectionId> prepare,
            ConnectionParameters ours)
            throws InterruptedException {
        asks.connect(theirs);
        ConnectionId asked = request().id();
        prepare.accept(asked);
        asked.accept(ours);
        await(asks, ConnectionEvent.Established.class);
        await(asked, ConnectionEvent.Established.class);
    }
}
