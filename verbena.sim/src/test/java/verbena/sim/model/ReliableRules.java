package verbena.sim.model;

import java.util.Arrays;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.sim.model.MemoryRules.Place;
import verbena.sim.model.ModelQueuePair.Waiting;
import verbena.sim.model.ModelSend.Operation;
import verbena.verbs.Access;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpType;
import verbena.verbs.WcStatus;
import verbena.wire.ib.Psn;

/// What a request of a reliable connection leads to (IBTA 9.7, 9.9.2 and 9.9.3), a message at a time: the
/// requester's own checks, then the responder's in the standard's order. The first that fails decides.
final class ReliableRules {
    private static final long MESSAGE_BYTES_MAX = 1L << 31;

    /// What comes back.
    private sealed interface Answer {
        /// It was carried out.
        ///
        /// @param data what a READ or an atomic brings
        @SuppressWarnings("ArrayRecordComponent") // never compared
        record Done(byte[] data) implements Answer {}

        /// Nothing at all.
        record Silence() implements Answer {}

        /// No receive is posted.
        record NotReady() implements Answer {}

        /// A NAK: how the request ends for the requester.
        record Refused(WcStatus status) implements Answer {}
    }

    private static final byte[] NOTHING = {};

    private final Model model;

    ReliableRules(Model model) {
        this.model = model;
    }

    // ---- requester

    /// Sends the oldest request; false when it has to wait.
    boolean carryOut(ModelQueuePair queuePair, ModelSend request) {
        if (request.operation().isAnswered() && queuePair.number(QpAttribute.MAX_QP_RD_ATOMIC) == 0) {
            queuePair.fail(WcStatus.LOC_QP_OP_ERR);
            return true;
        }
        queuePair.begun = true;
        ModelQueuePair peer = reach(queuePair);
        Answer answer = peer == null ? new Answer.Silence() : respond(peer, queuePair, request);
        if (queuePair.oldestSend() != request) {
            return true; // connected to itself, and broken down
        }
        return switch (answer) {
            case Answer.Done done -> {
                queuePair.nextPsn = next(queuePair, request);
                queuePair.end(takeResult(queuePair, request, done.data));
                yield true;
            }
            case Answer.Refused refused -> {
                if (request.operation() == Operation.READ) {
                    // A long one may be asked for in pieces, of which the first have been answered.
                    MemoryRules.leaveUndefined(queuePair.domain(), request.pieces());
                }
                queuePair.end(refused.status);
                yield true;
            }
            case Answer.Silence _ -> waitFor(queuePair, Waiting.FOR_AN_ANSWER);
            case Answer.NotReady _ -> waitFor(queuePair, Waiting.FOR_A_RECEIVE);
        };
    }

    private static boolean waitFor(ModelQueuePair queuePair, Waiting what) {
        queuePair.waiting = what;
        return false;
    }

    /// Whom packets reach that are sent now (IBTA 9.6.1): a queue pair of that number and kind, that receives, and
    /// is connected to where they come from.
    private @Nullable ModelQueuePair reach(ModelQueuePair from) {
        ModelQueuePair to = model.find(from.destination(), from.number(QpAttribute.DEST_QPN));
        return to != null
                        && to.type() == (from.type() == QpType.RC ? QpType.RC : QpType.XRC_TARGET)
                        && to.isReceiving()
                        && to.destination().equals(from.source())
                        && to.source().equals(from.destination())
                ? to
                : null;
    }

    private static WcStatus takeResult(ModelQueuePair queuePair, ModelSend request, byte[] data) {
        if (!request.operation().hasResult()) {
            return WcStatus.SUCCESS;
        }
        if (data.length != request.bytes()) {
            return WcStatus.BAD_RESP_ERR;
        }
        MemoryRules.scatter(queuePair.domain(), request.pieces(), 0, data);
        return WcStatus.SUCCESS;
    }

    /// IBTA 9.7.2: every packet of a request has a PSN, and a READ has those of its responses.
    private static int next(ModelQueuePair queuePair, ModelSend request) {
        long packets = request.operation().isAnswered() && request.operation() != Operation.READ
                ? 1
                : MessageRules.packets(request.bytes(), queuePair.mtuBytes());
        return (int) ((queuePair.nextPsn + packets) & Psn.MASK);
    }

    // ---- responder

    private Answer respond(ModelQueuePair responder, ModelQueuePair requester, ModelSend request) {
        responder.onPacket();
        if (responder.expectedPsn != requester.nextPsn) {
            // Of another connection. What lies ahead is reported missing, once (C9-115); no requester receives it.
            if ((requester.nextPsn - responder.expectedPsn & Psn.MASK) < Psn.MASK / 2) {
                model.nak(responder, Nak.SEQUENCE, responder.gapTold);
                responder.gapTold = true;
            }
            return new Answer.Silence();
        }
        if (responder.type() == QpType.XRC_TARGET && !responder.aim(request.srqNumber())) {
            return refuse(responder, Nak.REMOTE_ACCESS, null); // IBTA A14, as drivers have it
        }
        Operation operation = request.operation();
        if (!isEnabled(responder, request)) {
            return refuse(responder, Nak.INVALID_REQUEST, null);
        }
        Answer answer;
        if (operation.isSend()) {
            answer = onSend(responder, requester, request);
        } else if (operation.isWrite()) {
            answer = onWrite(responder, requester, request);
        } else if (responder.number(QpAttribute.MAX_DEST_RD_ATOMIC) == 0) {
            answer = refuse(responder, Nak.INVALID_REQUEST, null);
        } else {
            answer = switch (operation) {
                case READ -> onRead(responder, requester, request);
                case FLUSH -> onFlush(responder, request);
                case ATOMIC_WRITE -> onAtomicWrite(responder, request);
                default -> onAtomic(responder, request);
            };
        }
        if (answer instanceof Answer.Done) {
            responder.gapTold = false;
            responder.expectedPsn = next(requester, request);
        }
        return answer;
    }

    /// IBTA 9.7.4.1: what the queue pair does not enable is an invalid request, whatever the region says.
    private static boolean isEnabled(ModelQueuePair responder, ModelSend request) {
        return responder.attributes().access().containsAll(rights(request));
    }

    /// What a request needs of the queue pair, and of the region or window.
    private static Set<Access> rights(ModelSend request) {
        return switch (request.operation()) {
            case WRITE, WRITE_WITH_IMMEDIATE, ATOMIC_WRITE -> Set.of(Access.REMOTE_WRITE);
            case READ -> Set.of(Access.REMOTE_READ);
            case FETCH_ADD, COMPARE_SWAP -> Set.of(Access.REMOTE_ATOMIC);
            case FLUSH -> request.access();
            case SEND, SEND_WITH_IMMEDIATE, SEND_WITH_INVALIDATE, BIND_WINDOW, LOCAL_INVALIDATE -> Set.of();
        };
    }

    private Answer onSend(ModelQueuePair responder, ModelQueuePair requester, ModelSend request) {
        ModelReceive receive = responder.takeReceive();
        if (receive == null) {
            return notReady(responder, requester);
        }
        byte[] data = MessageRules.payload(requester, request);
        if (!MessageRules.fit(responder, requester, data.length)) {
            responder.fail(receive, WcStatus.REM_INV_REQ_ERR);
            return refuse(responder, Nak.INVALID_REQUEST, receive);
        }
        int mtu = requester.mtuBytes();
        for (int at = 0; at < data.length; at += mtu) {
            byte[] packet = Arrays.copyOfRange(data, at, Math.min(data.length, at + mtu));
            if (at + packet.length > receive.capacity()) {
                MemoryRules.leaveUndefined(responder.receiveDomain(), receive.pieces());
                responder.fail(receive, WcStatus.LOC_LEN_ERR);
                return refuse(responder, Nak.INVALID_REQUEST, receive);
            }
            if (!MemoryRules.scatter(responder.receiveDomain(), receive.pieces(), at, packet)) {
                MemoryRules.leaveUndefined(responder.receiveDomain(), receive.pieces());
                responder.fail(receive, WcStatus.LOC_PROT_ERR);
                return refuse(responder, Nak.REMOTE_OPERATIONAL, receive);
            }
        }
        boolean withdraws = request.operation() == Operation.SEND_WITH_INVALIDATE;
        if (withdraws && !MemoryRules.invalidate(responder, request.number())) {
            responder.fail(receive, WcStatus.REM_INV_REQ_ERR);
            responder.breakDown();
            return new Answer.Silence(); // fault class J (IBTA 9.9.3.1): no NAK
        }
        responder.succeed(ModelCompletion.ofReceive(
                responder,
                receive,
                data.length,
                request,
                withdraws ? OptionalInt.of(request.number()) : OptionalInt.empty()));
        return new Answer.Done(NOTHING);
    }

    private Answer onWrite(ModelQueuePair responder, ModelQueuePair requester, ModelSend request) {
        byte[] data = MessageRules.payload(requester, request);
        if (!MessageRules.fit(responder, requester, data.length)) {
            return refuse(responder, Nak.INVALID_REQUEST, null);
        }
        // The whole range is checked before anything is placed, and each packet's part again when it is.
        int lastAt = (int) (MessageRules.packets(data.length, requester.mtuBytes()) - 1) * requester.mtuBytes();
        if (requester.arrived == 0 && data.length > 0 && place(responder, request, 0, data.length) == null) {
            // A receive tells of it (IBTA 11.6.2, local access error) when the first packet says that it takes one.
            ModelReceive told = request.operation().hasImmediate() && lastAt == 0 ? responder.takeReceive() : null;
            if (told != null) {
                responder.fail(told, WcStatus.LOC_ACCESS_ERR);
            }
            return refuse(responder, Nak.REMOTE_ACCESS, told);
        }
        // All packets but the last, which alone takes a receive.
        if (requester.arrived == 0 && lastAt > 0) {
            Place first = place(responder, request, 0, lastAt);
            if (first == null) {
                return refuse(responder, Nak.REMOTE_ACCESS, null);
            }
            first.memory().write(first.offset(), Arrays.copyOf(data, lastAt));
            requester.arrived = lastAt;
        }
        ModelReceive receive = null;
        if (request.operation().hasImmediate()) {
            receive = responder.takeReceive();
            if (receive == null) {
                return notReady(responder, requester);
            }
        }
        byte[] last = Arrays.copyOfRange(data, lastAt, data.length);
        if (last.length > 0) {
            Place place = place(responder, request, lastAt, last.length);
            if (place == null) {
                if (receive != null) {
                    responder.fail(receive, WcStatus.LOC_ACCESS_ERR);
                }
                return refuse(responder, Nak.REMOTE_ACCESS, receive);
            }
            place.memory().write(place.offset(), last);
        }
        if (receive != null) {
            responder.succeed(ModelCompletion.ofReceive(responder, receive, data.length, request, OptionalInt.empty()));
        }
        return new Answer.Done(NOTHING);
    }

    private Answer onRead(ModelQueuePair responder, ModelQueuePair requester, ModelSend request) {
        int bytes = (int) request.bytes();
        if (request.bytes() > MESSAGE_BYTES_MAX) {
            return refuse(responder, Nak.INVALID_REQUEST, null);
        }
        Place place = bytes == 0 ? null : place(responder, request, 0, bytes);
        if (bytes > 0 && place == null) {
            return refuse(responder, Nak.REMOTE_ACCESS, null);
        }
        if (!MessageRules.fit(responder, requester, bytes)) {
            return new Answer.Refused(WcStatus.BAD_RESP_ERR);
        }
        return new Answer.Done(place == null ? NOTHING : place.memory().read(place.offset(), bytes));
    }

    private Answer onAtomic(ModelQueuePair responder, ModelSend request) {
        if (request.remoteAddress() % Long.BYTES != 0) {
            return refuse(responder, Nak.INVALID_REQUEST, null);
        }
        Place place = place(responder, request, 0, Long.BYTES);
        if (place == null) {
            return refuse(responder, Nak.REMOTE_ACCESS, null);
        }
        byte[] before = place.memory().read(place.offset(), Long.BYTES);
        long value = MemoryRules.number(before);
        long after = request.operation() == Operation.FETCH_ADD
                ? value + request.operand()
                : value == request.operand() ? request.swap() : value;
        place.memory().write(place.offset(), MemoryRules.bytes(after));
        return new Answer.Done(before);
    }

    /// IBTA A19: eight bytes at once.
    private Answer onAtomicWrite(ModelQueuePair responder, ModelSend request) {
        if (request.remoteAddress() % Long.BYTES != 0) {
            return refuse(responder, Nak.INVALID_REQUEST, null);
        }
        Place place = place(responder, request, 0, Long.BYTES);
        if (place == null) {
            return refuse(responder, Nak.REMOTE_ACCESS, null);
        }
        place.memory().write(place.offset(), MemoryRules.bytes(request.operand()));
        return new Answer.Done(NOTHING);
    }

    /// IBTA A19: what was written before is visible, or kept; of the whole region, or of a range.
    private Answer onFlush(ModelQueuePair responder, ModelSend request) {
        return MemoryRules.flush(responder, request)
                ? new Answer.Done(NOTHING)
                : refuse(responder, Nak.REMOTE_ACCESS, null);
    }

    private static @Nullable Place place(ModelQueuePair responder, ModelSend request, int from, int bytes) {
        return MemoryRules.remote(responder, request.rkey(), request.remoteAddress() + from, bytes, rights(request));
    }

    /// IBTA 9.7.5.2.8: come back later.
    private Answer notReady(ModelQueuePair responder, ModelQueuePair requester) {
        model.nak(
                responder,
                Nak.notReady(responder.attributes().rnrTimer().code()),
                requester.waiting == Waiting.FOR_A_RECEIVE);
        responder.gapTold = true;
        return new Answer.NotReady();
    }

    /// NAKs the request and ends the connection (IBTA 9.9.3.1). A receive tells of it; when there is none, an event
    /// does.
    private Answer refuse(ModelQueuePair responder, int syndrome, @Nullable ModelReceive told) {
        model.nak(responder, syndrome, false);
        if (told == null) {
            responder
                    .device()
                    .raise(
                            syndrome == Nak.REMOTE_ACCESS ? AsyncEvent.Type.QP_ACCESS_ERR : AsyncEvent.Type.QP_REQ_ERR,
                            responder);
        }
        responder.breakDown();
        return new Answer.Refused(
                switch (syndrome) {
                    case Nak.INVALID_REQUEST -> WcStatus.REM_INV_REQ_ERR;
                    case Nak.REMOTE_ACCESS -> WcStatus.REM_ACCESS_ERR;
                    default -> WcStatus.REM_OP_ERR;
                });
    }
}
