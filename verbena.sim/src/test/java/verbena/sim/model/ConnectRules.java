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
        var init = new QpModification().access(choices.access());
        if (queuePair.state() == QpState.RESET) {
            init.state(QpState.INIT).port(1).pkeyIndex(0);
        }
        int sourceIndex = queuePair.device().gids().indexOf(own.gid());
        var rtr = new QpModification()
                .state(QpState.RTR)
                .path(AddressVector.to(remote.gid(), sourceIndex).withTrafficClass(choices.trafficClass()))
                .pathMtu(choices.mtu().orElse(own.mtu().min(remote.mtu())))
                .destinationQpn(remote.qpn())
                .rqPsn(remote.psn());
        var rts = new QpModification().state(QpState.RTS).sqPsn(own.psn());
        QpType type = queuePair.type();
        if (type == QpType.RC || type == QpType.XRC_TARGET) {
            rtr.maxDestinationReadAtomic(choices.maxReadAtomic()).minRnrTimer(choices.minRnrTimer());
        }
        if (queuePair.isReliable()) {
            rts.ackTimeout(choices.ackTimeout());
        }
        if (type == QpType.RC || type == QpType.XRC_INITIATOR) {
            rts.retryCount(choices.retryCount()).rnrRetry(choices.rnrRetry()).maxReadAtomic(choices.maxReadAtomic());
        }
        return List.of(init, rtr, rts);
    }
}
