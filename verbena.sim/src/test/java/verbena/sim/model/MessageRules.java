package verbena.sim.model;

import java.util.OptionalInt;

/// What messages of all services have in common.
final class MessageRules {
    private MessageRules() {}

    /// What a SEND or WRITE carries.
    static byte[] payload(ModelQueuePair queuePair, ModelSend request) {
        byte[] inline = request.inline();
        return inline != null ? inline : MemoryRules.gather(queuePair.domain(), request.pieces());
    }

    /// A message of nothing is a packet too.
    static long packets(long bytes, int mtu) {
        return Math.max(1, (bytes + mtu - 1) / mtu);
    }

    /// IBTA 9.7.4.1.6: every packet but the last is as long as the path MTU, and none is longer.
    static boolean fit(ModelQueuePair responder, ModelQueuePair requester, long bytes) {
        return responder.mtuBytes() == requester.mtuBytes()
                || bytes <= Math.min(responder.mtuBytes(), requester.mtuBytes());
    }

    static OptionalInt immediate(ModelSend request) {
        return request.operation().hasImmediate() ? OptionalInt.of(request.number()) : OptionalInt.empty();
    }
}
