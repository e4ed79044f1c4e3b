package verbena.transport.iwarp;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import verbena.wire.iwarp.Ddp;
import verbena.wire.iwarp.RdmapOpcode;
import verbena.wire.iwarp.Rtr;
import verbena.wire.iwarp.StreamTerms;

/// The progress of the messages that a [Receiver] is receiving. Engine-confined.
final class ArrivingMessages {
    static final int UNTAGGED_QUEUES = 4;

    /// The number that comes next in each queue.
    private final int[] msnExpected = new int[UNTAGGED_QUEUES];

    /// The opcode of a SEND that is incomplete.
    @Nullable
    RdmapOpcode sending;

    /// The bytes of that SEND so far.
    long received;
    /// The bytes so far of the WRITE that came last, or is coming.
    long written;
    /// Whether that WRITE is complete.
    boolean writeComplete = true;
    /// A SEND of no bytes may come first, for which no receive is posted (RFC 6581).
    boolean awaitsRtrSend;

    void start(StreamTerms terms) {
        Arrays.fill(msnExpected, 1);
        sending = null;
        received = 0;
        written = 0;
        writeComplete = true;
        awaitsRtrSend = !terms.isInitiator() && terms.rtr() == Rtr.SEND;
    }

    /// Returns whether a message is incomplete.
    boolean isInside() {
        return sending != null || !writeComplete;
    }

    int expectedMsn(int queue) {
        return msnExpected[queue];
    }

    /// Moves to the next message, because the expected one of the queue is here; returns the number of that one.
    int takeMsn(int queue) {
        return msnExpected[queue]++;
    }

    /// Returns the offset that comes next in a queue.
    long expectedOffset(int queue) {
        return queue == Ddp.QUEUE_SEND && sending != null ? received : 0;
    }

    /// Returns whether the segment is the SEND by which the connection begins.
    boolean isRtrSend(Segment segment) {
        return awaitsRtrSend && segment.payloadLeft == 0 && segment.isLast && segment.opcode == RdmapOpcode.SEND;
    }
}
