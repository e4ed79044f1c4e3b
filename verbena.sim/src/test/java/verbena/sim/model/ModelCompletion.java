package verbena.sim.model;

import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Completion;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;

/// What a completion has to say.
///
/// @param ofReceive whether it is a receive's
/// @param opcode nothing when the request failed: it means nothing then
/// @param byteLength of receives, READs and atomics; -1 where it means nothing
/// @param sourceQpn of datagrams; 0 otherwise
public record ModelCompletion(
        int qpn,
        boolean ofReceive,
        long wrId,
        WcStatus status,
        @Nullable WcOpcode opcode,
        long byteLength,
        OptionalInt immediate,
        OptionalInt invalidated,
        int sourceQpn,
        boolean hasGrh,
        boolean solicited) {
    static ModelCompletion ofSend(ModelQueuePair queuePair, ModelSend request) {
        return new ModelCompletion(
                queuePair.qpn(),
                false,
                request.wrId(),
                WcStatus.SUCCESS,
                request.operation().completion(),
                request.operation().hasResult() ? request.bytes() : -1,
                OptionalInt.empty(),
                OptionalInt.empty(),
                0,
                false,
                false);
    }

    /// @param invalidated the key that a SEND with Invalidate has withdrawn
    static ModelCompletion ofReceive(
            ModelQueuePair queuePair, ModelReceive receive, long bytes, ModelSend request, OptionalInt invalidated) {
        return new ModelCompletion(
                queuePair.qpn(),
                true,
                receive.wrId(),
                WcStatus.SUCCESS,
                request.operation().isWrite() ? WcOpcode.RECV_RDMA_WITH_IMM : WcOpcode.RECV,
                bytes,
                MessageRules.immediate(request),
                invalidated,
                0,
                false,
                request.solicited());
    }

    static ModelCompletion ofDatagram(
            ModelQueuePair queuePair, ModelReceive receive, long bytes, ModelSend request, int sourceQpn) {
        return new ModelCompletion(
                queuePair.qpn(),
                true,
                receive.wrId(),
                WcStatus.SUCCESS,
                WcOpcode.RECV,
                bytes,
                MessageRules.immediate(request),
                OptionalInt.empty(),
                sourceQpn,
                true,
                request.solicited());
    }

    static ModelCompletion failure(ModelQueuePair queuePair, boolean ofReceive, long wrId, WcStatus status) {
        return new ModelCompletion(
                queuePair.qpn(),
                ofReceive,
                wrId,
                status,
                null,
                -1,
                OptionalInt.empty(),
                OptionalInt.empty(),
                0,
                false,
                true);
    }

    /// Whether a device's completion says the same.
    public boolean isToldBy(Completion actual) {
        return switch (actual) {
            case Completion.Failure failure ->
                failure.wrId() == wrId && failure.qpn() == qpn && failure.status() == status;
            case Completion.Success success ->
                status == WcStatus.SUCCESS
                        && success.wrId() == wrId
                        && success.qpn() == qpn
                        && success.opcode() == opcode
                        && (byteLength < 0 || success.byteLength() == byteLength)
                        && success.immediate().equals(immediate)
                        && success.invalidatedRkey().equals(invalidated)
                        && success.sourceQpn() == sourceQpn
                        && success.hasGrh() == hasGrh;
        };
    }
}
