package verbena.verbs.cm;

import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.Endpoint;
import verbena.verbs.InvalidStateException;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;
import verbena.verbs.spi.ConnectionService.Exchange;
import verbena.verbs.spi.ConnectionService.OwnSide;

/// The queue pair of one connection identifier: made by it, lent by the program, or only described by the program,
/// which moves it itself. Under the identifier's lock.
final class OwnQueuePair {
    /// Q_Key of datagrams of the port space UDP (`RDMA_UDP_QKEY`).
    static final int UDP_QKEY = 0x0123_4567;

    /// The identifier, for messages.
    private final Object id;

    private final PortSpace space;
    private final Supplier<Context> context;
    private @Nullable QueuePair queuePair;
    /// Whether it is closed with the identifier.
    private boolean isOwned;
    private int describedQpn;
    private QpType describedType = QpType.RC;

    OwnQueuePair(Object id, PortSpace space, Supplier<Context> context) {
        this.id = id;
        this.space = space;
        this.context = context;
    }

    Optional<QueuePair> queuePair() {
        return Optional.ofNullable(queuePair);
    }

    /// Returns whether there is none, not even a description.
    boolean isMissing() {
        return queuePair == null && describedQpn == 0;
    }

    /// Returns whether the program moves its queue pair itself.
    boolean isPrograms() {
        return queuePair == null;
    }

    QueuePair create(ProtectionDomain domain, QueuePairOptions options) {
        if (queuePair != null && !queuePair.isClosed()) {
            throw new InvalidStateException("createQueuePair: " + id + " has one already");
        }
        if (domain.context() != context.get()) {
            throw new IllegalArgumentException(
                    "createQueuePair: domain: of another context than the connection's, which is at "
                            + context.get().device().name());
        }
        requireFits("createQueuePair: options: type ", options.type());
        QueuePair made = domain.createQueuePair(options);
        boolean done = false;
        try {
            if (options.type() == QpType.UD) {
                made.modify(new Transition.ToInitUd(1, 0, UDP_QKEY));
                made.modify(new Transition.ToRtrUd());
                made.modify(new Transition.ToRtsUnreliable(0));
            } else {
                made.modify(new Transition.ToInit(Access.remoteAll()));
            }
            done = true;
        } finally {
            if (!done) {
                made.close();
            }
        }
        queuePair = made;
        isOwned = true;
        return made;
    }

    void use(QueuePair made) {
        QueuePair before = queuePair;
        if (before != null && before != made && !before.isClosed()) {
            throw new InvalidStateException("useQueuePair: " + id + " has one already");
        }
        requireFits("useQueuePair: type ", made.type());
        isOwned = false;
        queuePair = made;
    }

    private void requireFits(String what, QpType type) {
        if (type.isXrc() || space.isDatagram() != (type == QpType.UD)) {
            throw new IllegalArgumentException(what + type + " does not go with port space " + space);
        }
    }

    void describe(QpType type, int qpn) {
        if (qpn < 0 || qpn > Endpoint.QPN_MASK) {
            throw new IllegalArgumentException("qpn: 0 to 0xffffff, got " + qpn);
        }
        describedType = type;
        describedQpn = qpn;
    }

    /// Sets the type that a peer asks for.
    void expect(QpType type) {
        describedType = type;
    }

    /// Returns the queue pair in the form that the device takes.
    OwnSide end(ConnectionParameters parameters) {
        QueuePair made = queuePair;
        if (made == null) {
            return new OwnSide(Optional.empty(), describedType, describedQpn, UDP_QKEY, false, parameters);
        }
        QueuePairOptions options = made.query().options();
        return new OwnSide(
                Optional.of(made),
                made.type(),
                made.qpn(),
                UDP_QKEY,
                options.sharedReceiveQueue().isPresent(),
                parameters);
    }

    /// Brings it to RTS, when it is not the program that does.
    void bringUp(Exchange begun, OwnSide mine) {
        QueuePair made = queuePair;
        if (made != null) {
            made.modify(begun.modification(QpState.RTR, mine));
            made.modify(begun.modification(QpState.RTS, mine));
        }
    }

    /// Brings it to ERR.
    void breakDown() {
        QueuePair made = queuePair;
        if (made == null || made.isClosed() || made.type() == QpType.UD || made.state() == QpState.RESET) {
            return;
        }
        try {
            made.modify(new Transition.ToError());
        } catch (InvalidStateException e) {
            // the program closes it at this moment, and nothing is in flight any more
        }
    }

    void close() {
        QueuePair made = queuePair;
        if (made != null && isOwned) {
            made.close();
        }
    }
}
