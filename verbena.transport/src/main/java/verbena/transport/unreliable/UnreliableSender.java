package verbena.transport.unreliable;

import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.RequestWriter;
import verbena.transport.SendCompletions;
import verbena.transport.congestion.Pace;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.Path;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.WcStatus;
import verbena.wire.Frame;
import verbena.wire.ib.Psn;
import verbena.wire.ib.Transport;

/// The sending half of UC and UD (IBTA 9.8.2.1 and 9.8.3.1): cuts requests into packets; a request is done when
/// its last packet has left. One that fails on this side puts the queue pair into SQE, where sends are flushed and
/// receives go on.
final class UnreliableSender {
    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final Transport transport;
    private final SendQueue sends;
    private final SendCompletions completions;
    private final RequestWriter writer;
    /// The clock for all addresses of a queue pair: its requests leave in their order.
    private final Pace pace = new Pace();

    /// The oldest request that is not done.
    private long head;
    /// The number of its packets that have been sent.
    private int packet;
    /// The PSN that is sent next.
    private int next;

    private boolean drainedReported;

    /// @param writer of packets of `transport`
    UnreliableSender(
            QueuePairCore core,
            Transport transport,
            RequestWriter writer,
            SendQueue sends,
            CompletionRing completions,
            boolean signalAll) {
        this.core = core;
        this.p = core.parameters;
        this.transport = transport;
        this.writer = writer;
        this.sends = sends;
        this.completions = new SendCompletions(core, sends, completions, signalAll);
    }

    // ---- life

    /// Starts sending: the queue pair has entered RTS from RTR.
    void start() {
        next = p.sqPsn;
        pace.start();
    }

    /// Returns the pace at which packets may leave.
    Pace pace() {
        return pace;
    }

    /// Forgets everything, and completes nothing (RESET).
    void reset() {
        head = sends.published();
        sends.retire(head);
        packet = 0;
        pace.stop();
    }

    /// Completes everything that is posted as flushed, in order (SQE and ERR).
    void flush() {
        packet = 0;
        pace.stop();
        head = completions.flushAll(head);
    }

    /// Checks whether SQD is reached, when it has been entered or something has finished in it.
    void checkDrained() {
        if (p.state == QpState.SQD && !drainedReported && packet == 0) {
            drainedReported = true;
            if (p.notifyWhenDrained) {
                core.events.onAsyncEvent(AsyncEvent.Type.SQ_DRAINED);
            }
        }
    }

    /// Allows the next report, because SQD has been left or is being entered anew.
    void rearmDrained() {
        drainedReported = false;
    }

    /// Returns whether SQD still waits for a message's rest.
    boolean isDraining() {
        return p.state == QpState.SQD && packet > 0;
    }

    // ---- departures

    boolean poll(Frame frame, long now) {
        while (mayProceed()) {
            SendRequest request = sends.at(head);
            if (packet == 0 && !start(request)) {
                continue;
            }
            if (!pace.mayLeave(now)) {
                return false;
            }
            Path way = request.path;
            if (send(request, frame)) {
                pace.sent(way == null ? p.path : way, frame.length, now);
                return true;
            }
        }
        return false;
    }

    private boolean mayProceed() {
        return (p.state == QpState.RTS || (p.state == QpState.SQD && packet > 0)) && head < sends.published();
    }

    /// Returns whether the request has packets to send; otherwise it has ended here.
    private boolean start(SendRequest request) {
        if (request.operation.isLocal()) {
            if (core.executeLocal(request)) {
                complete(request);
            } else {
                WcStatus status = request.localError;
                fail(request, status == null ? WcStatus.GENERAL_ERR : status, request.localCause);
            }
            return false;
        }
        if (!request.operation.isOf(transport == Transport.UD ? QpType.UD : QpType.UC)) {
            fail(request, WcStatus.LOC_QP_OP_ERR, transport + " has no " + request.operation);
            return false;
        }
        MemoryVerdict verdict = request.isInline
                ? MemoryVerdict.OK
                : core.memory.checkLocal(request.scatter, p.protectionDomain, false);
        if (verdict != MemoryVerdict.OK) {
            failAccess(request, verdict);
            return false;
        }
        if (transport == Transport.UD && request.bytes() > p.pathMtu) {
            complete(request); // IBTA C10-93.1.1: nothing is sent, and that is no error
            return false;
        }
        request.psnCount = writer.psnCount(request);
        return true;
    }

    /// Writes the next packet; false when the request has failed.
    private boolean send(SendRequest request, Frame frame) {
        MemoryVerdict verdict = writer.write(frame, request, packet, 1, next, false);
        if (verdict != MemoryVerdict.OK) {
            failAccess(request, verdict);
            return false;
        }
        next = Psn.next(next);
        packet++;
        if (packet == request.psnCount) {
            complete(request);
        }
        return true;
    }

    // ---- ends of requests

    private void complete(SendRequest request) {
        finishHead();
        completions.succeed(request, head);
        checkDrained();
    }

    private void failAccess(SendRequest request, MemoryVerdict verdict) {
        fail(request, WcStatus.LOC_PROT_ERR, core.memory.explain(request.scatter, p.protectionDomain, false, verdict));
    }

    private void fail(SendRequest request, WcStatus status, String cause) {
        long wrId = request.wrId;
        finishHead();
        core.enter(QpState.SQE, status + " on the request with wrId " + wrId + ": " + cause);
        completions.fail(request, head, status, 0, cause);
        flush();
    }

    private void finishHead() {
        head++;
        packet = 0;
    }
}
