package verbena.transport.rc;

import org.jspecify.annotations.Nullable;
import verbena.transport.Counter;
import verbena.transport.Counters;
import verbena.transport.QueuePairEvents;
import verbena.transport.QueuePairParameters;
import verbena.transport.memory.MemoryTable;
import verbena.transport.queue.CompletionRing;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;

/// What both halves of a connection need and neither owns: the parameters, and ways to complete a request, count and
/// address a packet. Holds the root cause once the connection has failed.
final class Shared {
    final QueuePairParameters parameters;
    final MemoryTable memory;
    final Counters counters;
    final QueuePairEvents events;
    /// Why the queue pair entered ERR, in words; null while it has not.
    @Nullable
    String rootCause;

    Shared(QueuePairParameters parameters, MemoryTable memory, Counters counters, QueuePairEvents events) {
        this.parameters = parameters;
        this.memory = memory;
        this.counters = counters;
        this.events = events;
    }

    void succeed(
            CompletionRing ring,
            long wrId,
            WcOpcode opcode,
            long bytes,
            int immediateOrRkey,
            int flags,
            boolean solicited) {
        count(ring.push(
                wrId, WcStatus.SUCCESS, opcode, 0, bytes, immediateOrRkey, parameters.qpn, 0, flags, "", solicited));
    }

    void fail(CompletionRing ring, long wrId, WcStatus status, WcOpcode opcode, int vendorError, String cause) {
        counters.count(Counter.COMPLETION_ERRORS);
        count(ring.push(wrId, status, opcode, vendorError, 0, 0, parameters.qpn, 0, 0, cause, true));
    }

    void flush(CompletionRing ring, long wrId, WcOpcode opcode) {
        String root = rootCause;
        fail(ring, wrId, WcStatus.WR_FLUSH_ERR, opcode, 0, root == null ? "" : root);
    }

    private void count(boolean pushed) {
        counters.count(pushed ? Counter.COMPLETIONS : Counter.COMPLETION_OVERFLOWS);
    }

    /// Writes the BTH and the addresses of a packet to the peer, and its length; what follows the BTH is the caller's.
    void begin(Frame frame, Opcode opcode, int payloadBytes, boolean solicited, boolean ackRequest, int psn) {
        var p = parameters;
        int pad = Packet.padCount(payloadBytes);
        Bth.write(frame.slot, Packet.BTH, opcode, solicited, pad, p.pkey, p.destinationQpn, ackRequest, psn);
        long end = Packet.payloadOffset(opcode) + (long) payloadBytes;
        for (int i = 0; i < pad; i++) {
            frame.slot.set(java.lang.foreign.ValueLayout.JAVA_BYTE, end + i, (byte) 0);
        }
        frame.length = Packet.length(opcode, payloadBytes);
        frame.sourceHigh = p.sourceHigh;
        frame.sourceLow = p.sourceLow;
        frame.destinationHigh = p.destinationHigh;
        frame.destinationLow = p.destinationLow;
        frame.sourcePort = p.sourcePort;
        frame.trafficClass = p.trafficClass;
        frame.hopLimit = p.hopLimit;
    }
}
