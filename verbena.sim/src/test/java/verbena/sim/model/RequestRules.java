package verbena.sim.model;

import verbena.sim.model.ModelSend.Operation;
import verbena.verbs.WcStatus;

/// What becomes of a posted request (IBTA 10.8.3): what the device does by itself, and what it checks before it
/// sends. The rest is in the rules of its service.
final class RequestRules {
    private final ReliableRules reliable;
    private final UnreliableRules unreliable;

    RequestRules(Model model) {
        reliable = new ReliableRules(model);
        unreliable = new UnreliableRules(model);
    }

    /// The oldest request goes as far as it can; false when it cannot.
    boolean proceed(ModelQueuePair queuePair) {
        ModelSend request = queuePair.oldestSend();
        if (request == null || !queuePair.isSending()) {
            return false;
        }
        Operation operation = request.operation();
        if (operation.isLocal()) {
            boolean done = operation == Operation.BIND_WINDOW
                    ? MemoryRules.bind(queuePair, request)
                    : MemoryRules.invalidate(queuePair, request.number());
            queuePair.end(done ? WcStatus.SUCCESS : WcStatus.MW_BIND_ERR);
            return true;
        }
        if (request.inline() == null
                && !MemoryRules.local(queuePair.domain(), request.pieces(), operation.hasResult())) {
            queuePair.end(WcStatus.LOC_PROT_ERR);
            return true;
        }
        return switch (queuePair.type()) {
            case RC, XRC_INITIATOR -> reliable.carryOut(queuePair, request);
            case UC, UD -> {
                unreliable.carryOut(queuePair, request);
                yield true;
            }
            case XRC_TARGET, RAW_PACKET -> throw new IllegalStateException("not modelled: " + queuePair.type());
        };
    }
}
