package verbena.transport;

import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;
import verbena.transport.congestion.CongestionRule;
import verbena.transport.memory.MemoryTable;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.memory.Region;
import verbena.transport.memory.Window;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.Path;
import verbena.transport.queue.SendRequest;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Gid;
import verbena.verbs.QpState;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.spi.SendOperation;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;

/// The part that all protocols share: the parameters, and methods to judge, address and count a packet and to
/// complete a request. Holds the root cause once the queue pair has failed. Engine-confined.
public final class QueuePairCore {
    public final QueuePairParameters parameters;
    public final MemoryTable memory;
    public final EngineCounters counters;
    public final QueuePairEvents events;
    public final Migration migration;

    /// The reason why the queue pair entered ERR or SQE, in words; null while it has not.
    public @Nullable String rootCause;

    public QueuePairCore(ProtocolParts parts) {
        this.parameters = parts.parameters();
        this.memory = parts.memory();
        this.counters = parts.counters();
        this.events = parts.events();
        this.migration = new Migration(parameters, events);
    }

    // ---- completions

    public void succeed(
            CompletionRing ring,
            long wrId,
            WcOpcode opcode,
            long bytes,
            int immediateOrRkey,
            long sender,
            int flags,
            boolean solicited) {
        count(ring.push(
                wrId,
                WcStatus.SUCCESS,
                opcode,
                0,
                bytes,
                immediateOrRkey,
                parameters.qpn,
                sender,
                flags,
                "",
                solicited));
    }

    public void fail(CompletionRing ring, long wrId, WcStatus status, WcOpcode opcode, int vendorError, String cause) {
        boolean isFlushed = status == WcStatus.WR_FLUSH_ERR;
        counters.count(isFlushed ? Counter.FLUSHED_COMPLETIONS : Counter.COMPLETION_ERRORS);
        if (!isFlushed) {
            events.onError(wrId, status, opcode, vendorError, cause);
        }
        count(ring.push(wrId, status, opcode, vendorError, 0, 0, parameters.qpn, 0, 0, cause, true));
    }

    public void flush(CompletionRing ring, long wrId, WcOpcode opcode) {
        String root = rootCause;
        fail(ring, wrId, WcStatus.WR_FLUSH_ERR, opcode, 0, root == null ? "" : root);
    }

    /// Counts a completion. IBTA 11.6.3.2: when completions cannot be reported, this is a catastrophic error of the
    /// work queue.
    private void count(boolean pushed) {
        counters.count(pushed ? Counter.COMPLETIONS : Counter.COMPLETION_OVERFLOWS);
        if (!pushed) {
            events.onAsyncEvent(AsyncEvent.Type.QP_FATAL);
        }
    }

    /// Returns the connected peer, in words.
    public String peer() {
        Path path = parameters.path;
        return new Gid(path.destinationHigh(), path.destinationLow()) + " queue pair 0x"
                + Integer.toHexString(parameters.destinationQpn);
    }

    // ---- arrivals

    public boolean pkeyMatches(Frame frame) {
        return Migration.pkeyMatches(frame, parameters.pkey());
    }

    /// Returns whether a packet comes from the peer that this queue pair is connected to, by the known path (IBTA
    /// 9.6.1.5). A peer that has promised a UDP source port is held to it: another user of its host cannot have
    /// that
    /// port of the same address (decision 48).
    public boolean isFromPeer(Frame frame) {
        Path path = parameters.path;
        int promised = parameters.peerSourcePort;
        return (promised == 0 || frame.sourcePort == promised)
                && frame.sourceHigh == path.destinationHigh()
                && frame.sourceLow == path.destinationLow()
                && frame.destinationHigh == path.sourceHigh()
                && frame.destinationLow == path.sourceLow();
    }

    /// Judges where a packet of a connection comes from: [PacketFate#ACCEPTED] when it is the peer's. A packet by
    /// which the peer announces that it has migrated is judged by the alternate path ([Migration#isAskedBy]).
    public PacketFate judgeSource(Frame frame) {
        boolean isByPath = pkeyMatches(frame) && isFromPeer(frame);
        if (migration.isAskedBy(frame)) {
            return migration.follow(frame, isByPath) ? PacketFate.ACCEPTED : PacketFate.DROPPED_SOURCE;
        }
        if (!isByPath) {
            return pkeyMatches(frame) ? PacketFate.DROPPED_SOURCE : PacketFate.DROPPED_PKEY;
        }
        migration.onAccepted(frame);
        return PacketFate.ACCEPTED;
    }

    // ---- departures

    /// Writes the BTH and the addresses of a packet to the connected peer, and its length; what follows the BTH is
    /// the caller's.
    public void begin(Frame frame, Opcode opcode, int payloadBytes, boolean solicited, boolean ackRequest, int psn) {
        begin(frame, opcode, payloadBytes, solicited, ackRequest, psn, parameters.destinationQpn, parameters.path);
    }

    /// Writes the same for a packet to any queue pair.
    public void begin(
            Frame frame,
            Opcode opcode,
            int payloadBytes,
            boolean solicited,
            boolean ackRequest,
            int psn,
            int destinationQpn,
            Path path) {
        int pad = Packet.padCount(payloadBytes);
        Bth.write(frame.slot, frame.start, opcode, solicited, pad, parameters.pkey(), destinationQpn, ackRequest, psn);
        if (migration.isTold()) {
            Bth.setMigrated(frame.slot, frame.start, true);
        }
        long end = Packet.payloadOffset(frame, opcode) + (long) payloadBytes;
        for (int i = 0; i < pad; i++) {
            frame.slot.set(ValueLayout.JAVA_BYTE, end + i, (byte) 0);
        }
        frame.length = Packet.length(opcode, payloadBytes);
        frame.sourceHigh = path.sourceHigh();
        frame.sourceLow = path.sourceLow();
        frame.destinationHigh = path.destinationHigh();
        frame.destinationLow = path.destinationLow();
        frame.sourcePort = path.sourcePort();
        int trafficClass = path.trafficClass();
        frame.trafficClass =
                (trafficClass & CongestionRule.MARKED) == 0 ? trafficClass | parameters.ecnBits : trafficClass;
        frame.hopLimit = path.hopLimit();
        frame.serviceLevel = path.serviceLevel();
        frame.local.destinationLid = path.destinationLid();
        frame.local.pathBits = path.sourcePathBits();
    }

    // ---- requests that never leave this side

    /// Binds a window, or withdraws a key of this side. Returns false when that fails: the request then holds the
    /// reason.
    public boolean executeLocal(SendRequest request) {
        if (request.operation == SendOperation.FAULTY) {
            return false; // its poster has said how
        }
        Window window = request.window;
        Region region = request.windowRegion;
        MemoryVerdict verdict = window != null && region != null
                ? memory.bind(
                        window,
                        request.rkey,
                        region,
                        request.windowAddress,
                        request.windowBytes,
                        request.windowAccess,
                        parameters.protectionDomain,
                        parameters.qpn)
                : memory.invalidate(request.immediateOrKey, parameters.protectionDomain, parameters.qpn);
        if (verdict != MemoryVerdict.OK) {
            request.localError = WcStatus.MW_BIND_ERR;
            request.localCause = request.describe() + ": " + verdict.explanation();
        }
        return verdict == MemoryVerdict.OK;
    }

    // ---- state

    /// Changes the state on the protocol's own account. Posters learn of it before anything is flushed: see the
    /// queue pair's side.
    public void enter(QpState state, String cause) {
        parameters.state = state;
        if (rootCause == null) {
            rootCause = cause;
        }
        events.onState(state);
    }
}
