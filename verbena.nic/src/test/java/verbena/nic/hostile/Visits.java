package verbena.nic.hostile;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.cm.PrivateData;
import verbena.verbs.spi.ConnectionService;
import verbena.verbs.spi.ConnectionService.Exchange;
import verbena.verbs.spi.ConnectionService.News;
import verbena.verbs.spi.ConnectionService.OwnSide;

/// B, one end of a cable, listens, and A, the other end, connects as often as a test asks: connections of the
/// communication manager in virtual time.
final class Visits {
    private static final int PORT = 7471;
    private static final long WAIT_NANOS = 20_000_000_000L;

    private final Cable cable;
    /// The requests that B's port has reported, which is what the application sees.
    final List<String> requests = new ArrayList<>();
    private @Nullable QueuePair accepted;
    private ConnectionParameters passive = ConnectionParameters.defaults();
    private ConnectionService.@Nullable BoundPort port;

    Visits(Cable cable) {
        this.cable = cable;
    }

    /// Makes B accept every request.
    void listen(ConnectionParameters parameters) {
        passive = parameters;
        port = ConnectionService.of(cable.b.context).bind(PortSpace.TCP, cable.b.gid.gid(), PORT);
        port.listen(1_000, parameters.secret(), this::onRequest);
    }

    private ConnectionService.Listener onRequest(Exchange exchange, verbena.verbs.cm.PeerParameters peer, QpType type) {
        requests.add(peer.privateData().text());
        QueuePair made = make(cable.b);
        accepted = made;
        OwnSide end = end(made, passive);
        made.modify(exchange.modification(QpState.RTR, end));
        made.modify(exchange.modification(QpState.RTS, end));
        exchange.accept(end);
        return (_, news) -> {
            if (!(news instanceof News.Established) && !made.isClosed()) {
                made.close();
            }
        };
    }

    private static QueuePair make(Cable.End end) {
        QueuePair made = end.domain.createQueuePair(QueuePairOptions.rc(end.cq));
        made.modify(new Transition.ToInit(Access.remoteAll()));
        return made;
    }

    private static OwnSide end(QueuePair own, ConnectionParameters parameters) {
        return new OwnSide(Optional.of(own), QpType.RC, own.qpn(), 0, false, parameters);
    }

    /// The result of an attempt.
    ///
    /// @param why the reason of a failure; empty when there was none
    record Visit(
            Exchange exchange, QueuePair active, @Nullable QueuePair passive, String why) {
        boolean isMade() {
            return why.isEmpty();
        }

        void disconnect() {
            exchange.disconnect(PrivateData.NONE);
        }

        void close() {
            active.close();
        }
    }

    /// Makes A connect.
    Visit connect(ConnectionParameters parameters) {
        QueuePair own = make(cable.a);
        accepted = null;
        OwnSide end = end(own, parameters.withPrivateData(PrivateData.ofText("visit")));
        var news = new ArrayList<News>();
        var call = new ConnectionService.Route(PortSpace.TCP, cable.a.gid.gid(), 5_000, cable.b.gid.gid(), PORT);
        Exchange exchange = ConnectionService.of(cable.a.context).connect(call, end, (_, what) -> news.add(what));
        long until = cable.nanos + WAIT_NANOS;
        while (news.isEmpty() && cable.nanos < until) {
            cable.pass(10_000_000);
        }
        if (news.isEmpty() || !(news.getFirst() instanceof News.Accepted)) {
            own.close();
            return new Visit(
                    exchange,
                    own,
                    null,
                    news.isEmpty() ? "silence" : news.getFirst().why());
        }
        own.modify(exchange.modification(QpState.RTR, end));
        own.modify(exchange.modification(QpState.RTS, end));
        exchange.ready();
        cable.settle();
        return new Visit(exchange, own, accepted, "");
    }

    Visit connect() {
        return connect(ConnectionParameters.defaults());
    }
}
