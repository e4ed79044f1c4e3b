package verbena.transport.iwarp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.transport.Counter;
import verbena.transport.PacketFate;
import verbena.transport.QueuePairCore;
import verbena.transport.Receiving;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;
import verbena.verbs.WcStatus;
import verbena.wire.iwarp.Ddp;
import verbena.wire.iwarp.RdmapOpcode;
import verbena.wire.iwarp.Terminate;
import verbena.wire.iwarp.TerminateCode;

/// The end of an iWARP connection by a fault: everything that is outstanding is flushed, and a TERMINATE carries the
/// reason (RFC 5040 4.8). Engine-confined.
final class Termination {
    private final QueuePairCore core;
    private final Receiving receiving;
    private final OwedResponses owed;
    private final FpduWriter writer;
    private final Runnable flushRequests;

    /// The TERMINATE that is to be sent; null when there is none.
    private @Nullable TerminateCode terminate;
    /// Its payload; made with the first one.
    private @Nullable MemorySegment terminateBytes;

    private int terminateLength;

    Termination(
            QueuePairCore core, Receiving receiving, OwedResponses owed, FpduWriter writer, Runnable flushRequests) {
        this.core = core;
        this.receiving = receiving;
        this.owed = owed;
        this.writer = writer;
        this.flushRequests = flushRequests;
    }

    /// Forgets the TERMINATE that was not sent.
    void clear() {
        terminate = null;
        terminateLength = 0;
    }

    /// Returns whether a TERMINATE is to be sent.
    boolean isDue() {
        return terminate != null;
    }

    boolean isReceiving() {
        return core.parameters.state == QpState.RTS;
    }

    /// Counts the fate of an FPDU.
    void count(PacketFate fate) {
        core.counters.count(Counter.RECEIVED_PACKETS);
        core.counters.count(fate);
    }

    /// Sends the TERMINATE, if there is one: the last that is sent at all.
    boolean pollTerminate(StreamOutput out) {
        MemorySegment bytes = terminateBytes;
        if (terminate == null || bytes == null || !writer.hasRoom(out, Ddp.UNTAGGED_BYTES, terminateLength, false)) {
            return false;
        }
        MemorySegment target = writer.target(out);
        int at = writer.begin(out, Ddp.UNTAGGED_BYTES + terminateLength);
        Ddp.writeUntagged(target, at, RdmapOpcode.TERMINATE, true, 0, 1, 0);
        MemorySegment.copy(bytes, 0, target, at + Ddp.UNTAGGED_BYTES, terminateLength);
        writer.end(out);
        terminate = null;
        core.counters.count(Counter.SENT_TERMINATES);
        return true;
    }

    /// Keeps the part of the refused segment that the next TERMINATE shows (RFC 5040 4.8): its length, its DDP
    /// header, and its RDMAP header when it has one.
    void keepRefused(TerminateCode code, MemorySegment from, long ddp, int ddpBytes, int rdmapBytes, int payloadBytes) {
        MemorySegment bytes = terminateBytes();
        int flags = Terminate.HAS_LENGTH | Terminate.HAS_DDP | (rdmapBytes > 0 ? Terminate.HAS_RDMAP : 0);
        Terminate.write(bytes, 0, code, flags);
        Terminate.writeSegmentLength(bytes, 0, payloadBytes);
        int at = Terminate.CONTROL_BYTES + 2;
        MemorySegment.copy(from, ddp, bytes, at, ddpBytes + rdmapBytes);
        terminateLength = at + ddpBytes + rdmapBytes;
    }

    private MemorySegment terminateBytes() {
        MemorySegment bytes = terminateBytes;
        if (bytes == null) {
            bytes = Arena.ofAuto().allocate(Terminate.BYTES_MAX, Long.BYTES);
            terminateBytes = bytes;
        }
        return bytes;
    }

    /// Sends a TERMINATE with `code`, which shows what [#keepRefused] has kept for it.
    void terminate(TerminateCode code) {
        if (terminateLength == 0) {
            Terminate.write(terminateBytes(), 0, code, 0);
            terminateLength = Terminate.CONTROL_BYTES;
        }
        terminate = code;
    }

    /// Refuses what the peer may not send. A receive in use completes with this error; if there is none, an event
    /// is raised.
    void refuse(TerminateCode code, String cause) {
        refuse(code, AsyncEvent.Type.QP_REQ_ERR, WcStatus.REM_INV_REQ_ERR, cause);
    }

    /// Refuses the peer access to memory by this key.
    void refuseAccess(TerminateCode code, int key, String cause) {
        if (!core.memory.isResting(key)) {
            core.events.onAccessError();
        }
        refuse(code, AsyncEvent.Type.QP_ACCESS_ERR, WcStatus.LOC_ACCESS_ERR, cause);
    }

    private void refuse(TerminateCode code, AsyncEvent.Type event, WcStatus status, String cause) {
        if (receiving.isOpen()) {
            receiving.fail(status, cause);
        } else {
            core.events.onAsyncEvent(event);
        }
        refused(code, cause);
    }

    /// Fails the receive in use, which cannot take what has come.
    void failReceive(TerminateCode code, WcStatus status, String cause) {
        receiving.fail(status, cause);
        refused(code, cause);
    }

    private void refused(TerminateCode code, String cause) {
        count(PacketFate.REFUSED);
        fail("terminated the connection, " + code + ": " + cause);
        terminate(code);
    }

    /// Terminates the connection after a request of our own has failed on this side.
    void terminateLocally() {
        terminate(TerminateCode.LOCAL_CATASTROPHIC);
    }

    /// Fails the connection, which cannot go on.
    void fail(String cause) {
        core.enter(QpState.ERR, cause);
        enterError(cause);
    }

    /// Flushes everything: the queue pair is in ERR.
    void enterError(String cause) {
        if (core.rootCause == null) {
            core.rootCause = cause;
        }
        terminate = null;
        owed.clear();
        flushRequests.run();
        receiving.flush();
        if (receiving.isShared()) {
            core.events.onAsyncEvent(AsyncEvent.Type.QP_LAST_WQE_REACHED);
        }
    }
}
