package verbena.sim.model;

import java.util.List;
import verbena.sim.model.ModelSend.Operation;
import verbena.sim.model.Refusal.Reasons;
import verbena.verbs.Capability;
import verbena.verbs.InvalidStateException;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.ResourceLimitException;

/// What may be posted (IBTA 10.8.1, ibv_post_send(3), ibv_post_recv(3)). What a request names by key is checked when
/// it is carried out, not here.
final class PostRules {
    private PostRules() {}

    /// From RTS on.
    static List<Refusal> maySend(ModelQueuePair queuePair) {
        QpState state = queuePair.state();
        return new Reasons()
                .and(queuePair.mayBeUsed())
                .when(
                        state == QpState.RESET || state == QpState.INIT || state == QpState.RTR,
                        InvalidStateException.class,
                        state.name())
                .when(queuePair.type() == QpType.XRC_TARGET, InvalidStateException.class, "target")
                .list();
    }

    /// From INIT on, and never with a shared receive queue.
    static List<Refusal> mayReceive(ModelQueuePair queuePair) {
        return new Reasons()
                .and(queuePair.mayBeUsed())
                .when(queuePair.state() == QpState.RESET, InvalidStateException.class, "RESET")
                .when(queuePair.shared().isPresent(), InvalidStateException.class, "shared receive queue")
                .when(queuePair.type().isXrc(), InvalidStateException.class, "receive")
                .list();
    }

    static List<Refusal> maySend(ModelQueuePair queuePair, int alreadyInBatch, ModelSend request) {
        Operation operation = request.operation();
        Capability extension = operation.extension();
        boolean fitsAtomic =
                request.pieces().size() == 1 && request.pieces().getFirst().length() == Long.BYTES;
        byte[] inline = request.inline();
        return new Reasons()
                .when(
                        queuePair.unfinished() + alreadyInBatch
                                >= queuePair.options().maxSendWr(),
                        ResourceLimitException.class,
                        "maxSendWr")
                .when(
                        request.pieces().size() > queuePair.options().maxSendSge(),
                        IllegalArgumentException.class,
                        "maxSendSge")
                .and(mayName(request.pieces()))
                .when(!operation.isOf(queuePair.type()), IllegalArgumentException.class, operation.name())
                .when(
                        extension != null && !queuePair.options().extensions().contains(extension),
                        InvalidStateException.class,
                        String.valueOf(extension))
                .when(
                        (operation.isLocal() || extension != null)
                                && !request.pieces().isEmpty(),
                        IllegalArgumentException.class,
                        "sge")
                .when(operation.isAtomic() && !fitsAtomic, IllegalArgumentException.class, "8 bytes")
                .when(
                        inline != null && (operation.isLocal() || operation.isAnswered()),
                        IllegalArgumentException.class,
                        "inline")
                .when(
                        inline != null && inline.length > queuePair.options().maxInlineBytes(),
                        ResourceLimitException.class,
                        "maxInlineBytes")
                .and(operation == Operation.BIND_WINDOW ? mayBind(queuePair, request) : List.of())
                .and(operation == Operation.FLUSH ? mayFlush(request) : List.of())
                .and(mayGo(queuePair, request))
                .list();
    }

    private static List<Refusal> mayBind(ModelQueuePair queuePair, ModelSend request) {
        ModelWindow window = request.window();
        ModelRegion region = request.region();
        return new Reasons()
                .and(window.mayBeUsed())
                .and(region.mayBeUsed())
                .when(window.domain() != queuePair.domain(), IllegalArgumentException.class, "window")
                .when(region.domain() != queuePair.domain(), IllegalArgumentException.class, "region")
                .when(request.length() < 0, IllegalArgumentException.class, "length")
                .when(!MemoryRules.areWindowRights(request.access()), IllegalArgumentException.class, "access")
                .list();
    }

    private static List<Refusal> mayFlush(ModelSend request) {
        return new Reasons()
                .when(!request.isWhole() && request.length() < 0, IllegalArgumentException.class, "length")
                .when(request.access().isEmpty(), IllegalArgumentException.class, "targets")
                .list();
    }

    /// A datagram names its way, and a request of an extended connection the peer's queue (ibv_post_send(3)).
    private static List<Refusal> mayGo(ModelQueuePair queuePair, ModelSend request) {
        ModelAddressHandle handle = request.handle();
        boolean isDatagram = queuePair.type() == QpType.UD;
        boolean isExtended = queuePair.type() == QpType.XRC_INITIATOR;
        boolean outOfRange = request.srqNumber() < 0 || request.srqNumber() > 0xFF_FFFF;
        var reasons = new Reasons()
                .when(request.namesQueue() && !isExtended, IllegalArgumentException.class, "to")
                .when(request.namesQueue() && outOfRange, IllegalArgumentException.class, "srqNumber")
                .when(
                        isExtended
                                && !request.namesQueue()
                                && !request.operation().isLocal(),
                        IllegalArgumentException.class,
                        "to");
        if (handle == null) {
            return reasons.when(isDatagram, IllegalArgumentException.class, "to")
                    .list();
        }
        return reasons.and(handle.mayBeUsed())
                .when(!isDatagram, IllegalArgumentException.class, "to")
                .when(handle.domain() != queuePair.domain(), IllegalArgumentException.class, "handle")
                .when(request.qpn() < 0 || request.qpn() > 0xFF_FFFF, IllegalArgumentException.class, "qpn")
                .when(
                        isDatagram
                                && request.bytes()
                                        > queuePair.device().activeMtu().bytes(),
                        IllegalArgumentException.class,
                        "MTU")
                .list();
    }

    static List<Refusal> mayReceive(
            ModelReceiveQueue queue, int alreadyInBatch, ModelReceive receive, String depthName, String sgeName) {
        return new Reasons()
                .when(queue.size() + alreadyInBatch >= queue.maxWr(), ResourceLimitException.class, depthName)
                .when(receive.pieces().size() > queue.maxSge(), IllegalArgumentException.class, sgeName)
                .and(mayName(receive.pieces()))
                .list();
    }

    private static List<Refusal> mayName(List<Piece> pieces) {
        return new Reasons()
                .when(pieces.stream().anyMatch(piece -> piece.length() < 0), IllegalArgumentException.class, "length")
                .list();
    }

    /// An entry that is named by region and offset is checked at once.
    static List<Refusal> mayName(ModelDomain domain, ModelRegion region, long offset, int length) {
        return new Reasons()
                .when(region.isClosed(), InvalidStateException.class, "closed")
                .when(region.domain() != domain, IllegalArgumentException.class, "region")
                .when(length < 0, IllegalArgumentException.class, "length")
                .when(
                        length >= 0 && (offset < 0 || offset > region.length() - length),
                        IndexOutOfBoundsException.class,
                        "offset")
                .list();
    }
}
