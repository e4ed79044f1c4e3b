package verbena.cm;

import java.nio.ByteBuffer;
import verbena.wire.cm.Apr;
import verbena.wire.cm.CmPath;
import verbena.wire.cm.Drep;
import verbena.wire.cm.Dreq;
import verbena.wire.cm.Lap;
import verbena.wire.cm.Mra;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.Rej;
import verbena.wire.cm.RejectReason;
import verbena.wire.cm.Rep;
import verbena.wire.cm.Req;
import verbena.wire.cm.Rtu;

/// The messages of one connection, with the names that both sides have for it.
final class ConnectionMessages {
    /// The codes in a REJ or an MRA that name the message that it answers.
    static final int ABOUT_REQ = 0;

    static final int ABOUT_REP = 1;
    static final int ABOUT_OTHER = 2;

    private final CmOutbox outbox;
    private final CmRoute route;
    private final int localCommId;
    private int localQpn;
    private int remoteCommId;
    private int remoteQpn;
    /// Names the peer's host and device.
    private long remoteCaGuid;
    /// The transaction of the REQ.
    private long transactionId;
    /// Code of the time that the next MRA asks for.
    private int serviceTimeout = CmTimer.SERVICE_TIMEOUT;

    ConnectionMessages(CmOutbox outbox, CmRoute route, int localCommId) {
        this.outbox = outbox;
        this.route = route;
        this.localCommId = localCommId;
    }

    int localCommId() {
        return localCommId;
    }

    /// Returns the number of the own queue pair; 0 while there is none.
    int localQpn() {
        return localQpn;
    }

    void localQpn(int is) {
        localQpn = is;
    }

    int remoteCommId() {
        return remoteCommId;
    }

    int remoteQpn() {
        return remoteQpn;
    }

    long remoteCaGuid() {
        return remoteCaGuid;
    }

    /// Notes the peer's names.
    void peer(int commId, int qpn, long caGuid) {
        remoteCommId = commId;
        remoteQpn = qpn;
        remoteCaGuid = caGuid;
    }

    void transactionId(long is) {
        transactionId = is;
    }

    /// Returns whether a REQ with the same communication ID is the first one, sent again.
    static boolean isSame(Req first, Req again) {
        return again.transactionId() == first.transactionId()
                && again.localQpn() == first.localQpn()
                && again.startingPsn() == first.startingPsn()
                && again.serviceId() == first.serviceId();
    }

    Req req(CmCall call, CmEnd own) {
        return new Req(
                outbox.newTransaction(localCommId),
                localCommId,
                call.serviceId(),
                outbox.caGuid(),
                own.extension().bits(),
                own.qpn(),
                own.responderResources(),
                own.initiatorDepth(),
                call.responseTimeout(),
                call.transportType(),
                false,
                own.startingPsn(),
                call.responseTimeout(),
                call.retryCount(),
                call.pkey(),
                call.pathMtu(),
                own.rnrRetryCount(),
                call.maxRetries(),
                own.sharedReceiveQueue(),
                path(call, call.primary()),
                call.alternate() == null ? CmPath.NONE : path(call, call.alternate()),
                own.privateData());
    }

    private CmPath path(CmCall call, CmCall.Path path) {
        return new CmPath(
                path.localLid(),
                path.remoteLid(),
                route.local().high(),
                route.local().low(),
                route.remote().high(),
                route.remote().low(),
                0,
                path.packetRate(),
                call.trafficClass(),
                path.hopLimit(),
                path.serviceLevel(),
                path.isSubnetLocal(),
                call.ackTimeout());
    }

    Rep rep(CmEnd own, Req request) {
        return new Rep(
                transactionId,
                localCommId,
                remoteCommId,
                own.extension().bits(),
                own.qpn(),
                own.startingPsn(),
                own.responderResources(),
                own.initiatorDepth(),
                CmTimer.TARGET_ACK_DELAY,
                request.hasAlternate() ? Rep.FAILOVER_NOT_SUPPORTED : Rep.FAILOVER_ACCEPTED,
                false,
                own.rnrRetryCount(),
                own.sharedReceiveQueue(),
                outbox.caGuid(),
                own.privateData());
    }

    Rtu rtu(PrivateData privateData) {
        return new Rtu(transactionId, localCommId, remoteCommId, privateData);
    }

    Rej rej(int about, RejectReason reason) {
        return rej(about, reason, PrivateData.NONE, PrivateData.NONE);
    }

    /// @param info additional reject information (IBTA 12.6.7.2)
    Rej rej(int about, RejectReason reason, PrivateData info, PrivateData privateData) {
        return new Rej(
                transactionId, localCommId, remoteCommId, about, info.length(), reason.code(), info, privateData);
    }

    /// Takes the request back. The peer may not have sent us its name for the connection: it finds its own by ours
    /// and our GUID (IBTA 12.6.7.2).
    Rej withdrawal() {
        PrivateData guid = PrivateData.of(
                ByteBuffer.allocate(Long.BYTES).putLong(outbox.caGuid()).array());
        return rej(ABOUT_OTHER, RejectReason.TIMEOUT, guid, PrivateData.NONE);
    }

    /// Asks for twice the time of the MRA before.
    Mra mra(int about) {
        var mra = new Mra(transactionId, localCommId, remoteCommId, about, serviceTimeout, PrivateData.NONE);
        serviceTimeout = Math.min(serviceTimeout + 1, CmTimer.SERVICE_TIMEOUT_MAX);
        return mra;
    }

    /// @param responseTimeout code of how long the peer may take to answer
    Lap lap(CmPath alternate, int responseTimeout) {
        return new Lap(
                outbox.newTransaction(localCommId),
                localCommId,
                remoteCommId,
                remoteQpn,
                responseTimeout,
                alternate,
                PrivateData.NONE);
    }

    Apr apr(Lap lap, int status) {
        return new Apr(lap.transactionId(), localCommId, remoteCommId, 0, status, PrivateData.NONE, PrivateData.NONE);
    }

    Dreq dreq(PrivateData privateData) {
        return new Dreq(outbox.newTransaction(localCommId), localCommId, remoteCommId, remoteQpn, privateData);
    }

    Drep drep(Dreq dreq) {
        return new Drep(dreq.transactionId(), localCommId, remoteCommId, PrivateData.NONE);
    }
}
