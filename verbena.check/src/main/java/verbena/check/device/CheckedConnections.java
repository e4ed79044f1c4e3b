package verbena.check.device;

import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import verbena.check.Watcher.Event;
import verbena.verbs.AddressVector;
import verbena.verbs.Gid;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.cm.PeerParameters;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.cm.PrivateData;
import verbena.verbs.cm.Secret;
import verbena.verbs.spi.ConnectionService;

/// The connections of a checked device: the device's own, which meet its own queue pairs.
record CheckedConnections(ConnectionService inner, Layer layer) implements ConnectionService {
    /// The most private data of a REQ and a REP, with the addresses of both ends in a REQ, and of a REJ (IBTA 12.6).
    private static final int REQ_BYTES = 56;
    private static final int REP_BYTES = 196;
    private static final int REJ_BYTES = 148;
    /// The same for the queue pair of a service.
    private static final int SIDR_REQ_BYTES = 180;
    private static final int SIDR_REP_BYTES = 136;

    private void send(String verb, int bytes, int most) {
        layer.checker().hear(Event.PRIVATE_DATA, watcher -> watcher.onPrivateData(layer.device(), verb, bytes, most));
    }

    private void send(String verb, OwnSide own, int most, int mostOfDatagrams) {
        int bytes = own.parameters().privateData().length();
        send(verb, bytes, own.type() == QpType.UD ? mostOfDatagrams : most);
    }

    private static OwnSide below(OwnSide own) {
        return new OwnSide(
                own.queuePair().map(CheckedObject::below),
                own.type(),
                own.qpn(),
                own.qkey(),
                own.hasSharedReceiveQueue(),
                own.parameters());
    }

    private Listener below(Listener listener) {
        return (exchange, news) -> listener.onNews(new Checked(exchange, this), news);
    }

    @Override
    public BoundPort bind(PortSpace space, Gid local, int port) {
        return new Port(inner.bind(space, local, port), this);
    }

    @Override
    public Optional<CallerPort> bindCaller(PortSpace space, Gid local) {
        return inner.bindCaller(space, local);
    }

    @Override
    public Exchange connect(Route call, OwnSide own, Listener listener) {
        send("connect", own, REQ_BYTES, SIDR_REQ_BYTES);
        return new Checked(inner.connect(call, below(own), below(listener)), this);
    }

    @Override
    public boolean attend(BooleanSupplier isOver, long nanos) throws InterruptedException {
        return inner.attend(isOver, nanos);
    }

    @Override
    public void wakeAttendant() {
        inner.wakeAttendant();
    }

    @Override
    public Watch join(GroupJoin join, GroupListener listener) {
        return inner.join(join, listener);
    }

    @Override
    public Watch watch(Consumer<String> onFailure) {
        return inner.watch(onFailure);
    }

    private record Port(BoundPort inner, CheckedConnections of) implements BoundPort {
        @Override
        public int port() {
            return inner.port();
        }

        @Override
        public void listen(int backlog, Secret secret, Acceptor acceptor) {
            inner.listen(backlog, secret, new Acceptor() {
                @Override
                public Listener onRequest(Exchange exchange, PeerParameters peer, QpType type) {
                    return of.below(acceptor.onRequest(new Checked(exchange, of), peer, type));
                }
            });
        }

        @Override
        public void close() {
            inner.close();
        }
    }

    /// An exchange that takes the layer's queue pairs. Two of the same one are equal.
    private record Checked(Exchange inner, CheckedConnections of) implements Exchange {
        @Override
        public Gid local() {
            return inner.local();
        }

        @Override
        public Gid remote() {
            return inner.remote();
        }

        @Override
        public int localPort() {
            return inner.localPort();
        }

        @Override
        public int remotePort() {
            return inner.remotePort();
        }

        @Override
        public QpModification modification(QpState to, OwnSide own) {
            return inner.modification(to, below(own));
        }

        @Override
        public AddressVector path() {
            return inner.path();
        }

        @Override
        public void accept(OwnSide own) {
            of.send("accept", own, REP_BYTES, SIDR_REP_BYTES);
            inner.accept(below(own));
        }

        @Override
        public void reject(PrivateData privateData) {
            of.send("reject", privateData.length(), REJ_BYTES);
            inner.reject(privateData);
        }

        @Override
        public void ready() {
            inner.ready();
        }

        @Override
        public void communicationEstablished() {
            inner.communicationEstablished();
        }

        @Override
        public void disconnect(PrivateData privateData) {
            inner.disconnect(privateData);
        }
    }
}
