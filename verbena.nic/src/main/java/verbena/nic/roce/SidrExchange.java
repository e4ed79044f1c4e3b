package verbena.nic.roce;

import org.jspecify.annotations.Nullable;
import verbena.cm.CmRoute;
import verbena.cm.CommunicationManager;
import verbena.cm.SidrInquiry;
import verbena.cm.SidrRequest;
import verbena.verbs.AddressVector;
import verbena.verbs.Gid;
import verbena.verbs.InvalidStateException;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.cm.PeerParameters;
import verbena.verbs.cm.PrivateData;
import verbena.verbs.spi.ConnectionService.Exchange;
import verbena.verbs.spi.ConnectionService.Listener;
import verbena.verbs.spi.ConnectionService.News;
import verbena.verbs.spi.ConnectionService.OwnSide;
import verbena.wire.cm.SidrRep;

/// A request for the queue pair of a datagram service, as an exchange that is over with the answer (IBTA 12.11).
final class SidrExchange implements Exchange {
    private static final int ANSWER_BYTES = 136;

    private final ConnectionHost service;
    private final CmRoute route;
    private final int localPort;
    private final int remotePort;
    /// The inquiry of the peer, on the passive side.
    private final @Nullable SidrInquiry inquiry;
    /// The request of this side, on the active side. Engine-confined.
    private @Nullable SidrRequest request;

    SidrExchange(ConnectionHost service, CmRoute route, int localPort, int remotePort, @Nullable SidrInquiry inquiry) {
        this.service = service;
        this.route = route;
        this.localPort = localPort;
        this.remotePort = remotePort;
        this.inquiry = inquiry;
    }

    /// Asks, on the active side. Called by the engine's owner.
    void begin(
            CommunicationManager manager,
            long serviceId,
            verbena.wire.cm.PrivateData said,
            Listener listener,
            long now) {
        request = manager.ask(
                route,
                serviceId,
                RoceConnection.RESPONSE_TIMEOUT,
                RoceConnection.RETRIES,
                said,
                new SidrRequest.Listener() {
                    @Override
                    public void onAnswer(SidrRep answer) {
                        listener.onNews(SidrExchange.this, news(answer));
                    }

                    @Override
                    public void onSilence() {
                        listener.onNews(
                                SidrExchange.this,
                                new News.Unreachable(route.remote() + " did not answer SIDR_REQ, sent "
                                        + (RoceConnection.RETRIES + 1) + " times"));
                    }
                },
                now);
        if (request == null) {
            throw ConnectionHost.tooMany("connect");
        }
    }

    private News news(SidrRep answer) {
        var said = PrivateData.of(answer.privateData().bytes());
        return answer.status() == SidrRep.VALID
                ? new News.Accepted(PeerParameters.ofDatagrams(said, answer.qpn(), answer.qkey()))
                : new News.Rejected(answer.status(), why(answer.status()), said);
    }

    private String why(int status) {
        String to = route.remote() + " port " + remotePort;
        return switch (status) {
            case SidrRep.NOT_SUPPORTED -> "no program takes datagrams at " + to;
            case SidrRep.REJECTED -> "the application at " + to + " refuses";
            default -> to + " refuses (status " + status + ")";
        };
    }

    @Override
    public Gid local() {
        return route.local();
    }

    @Override
    public Gid remote() {
        return route.remote();
    }

    @Override
    public int localPort() {
        return localPort;
    }

    @Override
    public int remotePort() {
        return remotePort;
    }

    @Override
    public QpModification modification(QpState to, OwnSide own) {
        throw new InvalidStateException("modification: datagrams need none; go to INIT, RTR and RTS");
    }

    @Override
    public AddressVector path() {
        return service.path(route, 0);
    }

    @Override
    public void accept(OwnSide own) {
        var said = ConnectionHost.fits(
                "private data to accept datagrams with", own.parameters().privateData(), ANSWER_BYTES);
        answer(SidrRep.VALID, own.qpn(), own.qkey(), said);
    }

    @Override
    public void reject(PrivateData privateData) {
        var said = ConnectionHost.fits("private data to reject datagrams with", privateData, ANSWER_BYTES);
        answer(SidrRep.REJECTED, 0, 0, said);
    }

    private void answer(int status, int qpn, int qkey, verbena.wire.cm.PrivateData said) {
        SidrInquiry asked = inquiry;
        if (asked == null) {
            throw new InvalidStateException("accept, reject: this side has asked");
        }
        service.cm().call(manager -> {
            asked.answer(status, qpn, qkey, said);
            return true;
        });
    }

    @Override
    public void ready() {}

    @Override
    public void communicationEstablished() {}

    /// Gives the request up.
    @Override
    public void disconnect(PrivateData privateData) {
        service.cm().call(manager -> {
            SidrRequest asked = request;
            if (asked != null) {
                asked.cancel();
            }
            return true;
        });
    }
}
