package verbena.sim.model;

import java.util.List;
import verbena.sim.model.Refusal.Reasons;
import verbena.verbs.AddressVector;
import verbena.verbs.Endpoint;
import verbena.verbs.EndpointOptions;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Mtu;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;

/// [verbena.verbs.QueuePair#connect(Endpoint, EndpointOptions)]: three changes of state in one call.
final class ConnectRules {
    private ConnectRules() {}

    static List<Refusal> mayConnect(ModelQueuePair queuePair, Endpoint remote, EndpointOptions choices) {
        QpState state = queuePair.state();
        return new Reasons()
                .and(queuePair.mayBeUsed())
                .when(queuePair.type() == QpType.UD, InvalidStateException.class, "UD")
                .when(state != QpState.RESET && state != QpState.INIT, InvalidStateException.class, state.name())
                .when(
                        choices.mtu().orElse(Mtu.MTU_256).compareTo(remote.mtu()) > 0,
                        InvalidAttributesException.class,
                        "MTU")
                .list();
    }

    /// Those changes.
    ///
    /// @param own what the queue pair's peer was told
    static List<QpModification> steps(
            ModelQueuePair queuePair, Endpoint own, Endpoint remote, EndpointOptions choices) {
        var init = new QpModification().withAccess(choices.access());
        if (queuePair.state() == QpState.RESET) {
            init = init.withState(QpState.INIT).withPort(1).withPkeyIndex(0);
        }
        int sourceIndex = queuePair.device().gids().indexOf(own.gid());
        var rtr = new QpModification()
                .withState(QpState.RTR)
                .withPath(AddressVector.to(remote.gid(), sourceIndex).withTrafficClass(choices.trafficClass()))
                .withPathMtu(choices.mtu().orElse(own.mtu().min(remote.mtu())))
                .withDestinationQpn(remote.qpn())
                .withRqPsn(remote.psn());
        var rts = new QpModification().withState(QpState.RTS).withSqPsn(own.psn());
        QpType type = queuePair.type();
        if (type == QpType.RC || type == QpType.XRC_TARGET) {
            rtr = rtr.withMaxDestinationReadAtomic(choices.maxReadAtomic()).withMinRnrTimer(choices.minRnrTimer());
        }
        if (queuePair.isReliable()) {
            rts = rts.withAckTimeout(choices.ackTimeout());
        }
        if (type == QpType.RC || type == QpType.XRC_INITIATOR) {
            rts = rts.withRetryCount(choices.retryCount())
                    .withRnrRetry(choices.rnrRetry())
                    .withMaxReadAtomic(choices.maxReadAtomic());
        }
        return List.of(init, rtr, rts);
    }
}
