package verbena.nic.device;

import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import verbena.nic.kind.DeviceLimits;
import verbena.transport.QueuePairParameters;
import verbena.transport.queue.Path;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressVector;
import verbena.verbs.AlternatePath;
import verbena.verbs.Endpoint;
import verbena.verbs.Gid;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.Mtu;
import verbena.verbs.PathMigration;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePairAttributes;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RnrTimer;

/// The settings of a queue pair: attributes of the verbs (IBTA 11.2.5.2), and the parameters that its protocol
/// derives from them. Engine-confined, except for the checks.
final class QueuePairSettings {
    static final AddressVector NO_PATH = AddressVector.to(new Gid(0, 0), 0);
    private static final AlternatePath NO_ALTERNATE = new AlternatePath(NO_PATH, 0, AckTimeout.NEVER);

    private static final Set<Access> REMOTE = EnumSet.of(
            Access.REMOTE_READ,
            Access.REMOTE_WRITE,
            Access.REMOTE_ATOMIC,
            Access.FLUSH_GLOBAL,
            Access.FLUSH_PERSISTENT);
    private final QueuePairParameters parameters;
    private final QpType type;
    private final Mtu portMtu;
    private Optional<AddressVector> path = Optional.empty();
    private Optional<AlternatePath> alternate = Optional.empty();
    private AckTimeout ackTimeout = AckTimeout.NEVER;

    /// @param portMtu the largest path MTU
    QueuePairSettings(QueuePairParameters parameters, QpType type, Mtu portMtu) {
        this.parameters = parameters;
        this.type = type;
        this.portMtu = portMtu;
        setDatagramMtu();
    }

    /// Sets the path MTU to the port's: a datagram may be as long as the port allows.
    private void setDatagramMtu() {
        if (type == QpType.UD) {
            parameters.pathMtu = portMtu.bytes();
        }
    }

    /// Restores the settings of a new queue pair.
    void reset() {
        parameters.reset();
        setDatagramMtu();
        path = Optional.empty();
        alternate = Optional.empty();
        ackTimeout = AckTimeout.NEVER;
    }

    /// Checks what a modification asks of the alternate path (IBTA 17.2.8); called by the engine's owner.
    ///
    /// @throws InvalidAttributesException when it does not follow from where the queue pair stands
    void checkMigration(QpModification m) {
        PathMigration now = parameters.migration;
        PathMigration to = m.get(QpAttribute.PATH_MIG_STATE, now);
        if (!m.has(QpAttribute.PATH_MIG_STATE)) {
            return;
        }
        boolean isLoading = m.has(QpAttribute.ALT_PATH);
        String wrong = switch (to) {
            case ARMED -> "a queue pair becomes ARMED by itself, when both ends are in REARM";
            case REARM -> isLoading || alternate.isPresent() ? "" : "REARM needs an alternate path (ALT_PATH)";
            case MIGRATED ->
                now == PathMigration.REARM
                        ? "the queue pair migrates when it is ARMED; it is in REARM, and waits for a packet of its peer"
                        : now == PathMigration.ARMED && isLoading
                                ? "it migrates to the alternate path that is armed, not to a new one (ALT_PATH)"
                                : "";
        };
        if (!wrong.isEmpty()) {
            throw new InvalidAttributesException("modify: PATH_MIG_STATE " + to + ": " + wrong);
        }
    }

    /// Checks the values of a modification whose attributes fit its step.
    ///
    /// @throws InvalidAttributesException when one is out of range
    void checkValues(QpModification m) {
        range(m, QpAttribute.PORT, 1, 1);
        range(m, QpAttribute.PKEY_INDEX, 0, parameters.pkeys.length - 1);
        if (m.has(QpAttribute.ALT_PATH)) {
            int pkeyIndex = alternate(m).pkeyIndex();
            if (pkeyIndex >= parameters.pkeys.length) {
                throw new InvalidAttributesException(
                        "modify: ALT_PATH: pkeyIndex: 0 to " + (parameters.pkeys.length - 1) + ", got " + pkeyIndex);
            }
        }
        range(m, QpAttribute.DEST_QPN, 0, Endpoint.QPN_MASK);
        range(m, QpAttribute.RQ_PSN, 0, Endpoint.PSN_MASK);
        range(m, QpAttribute.SQ_PSN, 0, Endpoint.PSN_MASK);
        range(m, QpAttribute.RETRY_CNT, 0, 7);
        range(m, QpAttribute.RNR_RETRY, 0, 7);
        range(m, QpAttribute.MAX_QP_RD_ATOMIC, 0, DeviceLimits.READ_ATOMIC_MAX);
        range(m, QpAttribute.MAX_DEST_RD_ATOMIC, 0, DeviceLimits.READ_ATOMIC_MAX);
        Mtu mtu = m.get(QpAttribute.PATH_MTU, Mtu.MTU_256);
        if (mtu.compareTo(portMtu) > 0) {
            throw new InvalidAttributesException("modify: PATH_MTU " + mtu + " is more than " + portMtu
                    + ", the port's active MTU; see the network interface's own MTU");
        }
    }

    private static void range(QpModification m, QpAttribute attribute, int min, int max) {
        int value = m.get(attribute, min);
        if (value < min || value > max) {
            throw new InvalidAttributesException("modify: " + attribute + ": "
                    + (min == max ? min + " is the only one" : min + " to " + max) + ", got " + value);
        }
    }

    /// Returns the alternate path of a modification.
    static AlternatePath alternate(QpModification m) {
        return m.get(QpAttribute.ALT_PATH, NO_ALTERNATE);
    }

    /// Notes that the alternate path has taken the place of the path; called by the engine's owner.
    void onMigrated() {
        alternate.ifPresent(taken -> {
            path = Optional.of(taken.path());
            ackTimeout = taken.timeout();
        });
        alternate = Optional.empty();
    }

    /// Applies the values; called by the engine's owner.
    ///
    /// @param to the address vector of the modification
    /// @param way the path to that address
    /// @param alternateWay the path to the alternate address
    void apply(QpModification m, AddressVector to, Path way, Path alternateWay) {
        if (m.has(QpAttribute.ACCESS_FLAGS)) {
            var access = EnumSet.noneOf(Access.class);
            for (Access a : m.get(QpAttribute.ACCESS_FLAGS, Set.<Access>of())) {
                access.add(a);
            }
            access.retainAll(REMOTE);
            parameters.access = Access.bits(access);
        }
        if (m.has(QpAttribute.AV)) {
            path = Optional.of(to);
            parameters.path = way;
        }
        if (m.has(QpAttribute.ALT_PATH)) {
            AlternatePath loaded = alternate(m);
            alternate = Optional.of(loaded);
            parameters.alternate(
                    alternateWay,
                    loaded.pkeyIndex(),
                    loaded.timeout().duration().toNanos());
        }
        if (m.has(QpAttribute.PATH_MIG_STATE)) {
            parameters.migration(m.get(QpAttribute.PATH_MIG_STATE, PathMigration.MIGRATED));
        }
        parameters.pathMtu =
                m.get(QpAttribute.PATH_MTU, Mtu.ofBytes(parameters.pathMtu)).bytes();
        parameters.qkey = m.get(QpAttribute.QKEY, parameters.qkey);
        parameters.pkeyIndex = m.get(QpAttribute.PKEY_INDEX, parameters.pkeyIndex);
        parameters.destinationQpn = m.get(QpAttribute.DEST_QPN, parameters.destinationQpn);
        parameters.rqPsn = m.get(QpAttribute.RQ_PSN, parameters.rqPsn);
        parameters.sqPsn = m.get(QpAttribute.SQ_PSN, parameters.sqPsn);
        parameters.retryCount = m.get(QpAttribute.RETRY_CNT, parameters.retryCount);
        parameters.rnrRetry = m.get(QpAttribute.RNR_RETRY, parameters.rnrRetry);
        parameters.readsOutstandingMax = m.get(QpAttribute.MAX_QP_RD_ATOMIC, parameters.readsOutstandingMax);
        parameters.readsServedMax = m.get(QpAttribute.MAX_DEST_RD_ATOMIC, parameters.readsServedMax);
        parameters.minRnrTimerCode = m.get(QpAttribute.MIN_RNR_TIMER, new RnrTimer(parameters.minRnrTimerCode))
                .code();
        ackTimeout = m.get(QpAttribute.TIMEOUT, ackTimeout);
        parameters.ackTimeoutNanos = ackTimeout.duration().toNanos();
        if (parameters.state != QpState.SQD) { // SQD notification belongs to the step into SQD
            parameters.notifyWhenDrained = m.get(QpAttribute.EN_SQD_ASYNC_NOTIFY, false);
        }
    }

    /// Returns the state and all attributes of the queue pair.
    ///
    /// @param draining whether SQD still waits for started requests
    QueuePairAttributes attributes(boolean draining, QueuePairOptions options) {
        var p = parameters;
        return new QueuePairAttributes(
                p.state,
                draining,
                1,
                p.pkeyIndex,
                p.qkey,
                Access.ofBits(p.access),
                new QueuePairAttributes.Peer(p.destinationQpn, path, Mtu.ofBytes(p.pathMtu), alternate, p.migration),
                new QueuePairAttributes.Sending(p.sqPsn, p.readsOutstandingMax, ackTimeout, p.retryCount, p.rnrRetry),
                new QueuePairAttributes.Receiving(p.rqPsn, p.readsServedMax, new RnrTimer(p.minRnrTimerCode)),
                options);
    }
}
