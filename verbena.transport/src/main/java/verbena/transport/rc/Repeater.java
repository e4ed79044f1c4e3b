package verbena.transport.rc;

import verbena.transport.Counter;
import verbena.transport.QueuePairCore;
import verbena.transport.RequestWriter;
import verbena.transport.congestion.WindowShare;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.queue.SendRequest;
import verbena.wire.Frame;
import verbena.wire.ib.Psn;

/// Sends packets of a [Requester] once more, while its cursor stays where it is: those of probes ([LossRecovery]),
/// and requests for missing answers ([EarlyAnswers]), and those that the peer lacks ([MissingPackets]).
/// Engine-confined.
final class Repeater {
    private final QueuePairCore core;
    private final RequestWriter writer;
    private final SendCursor cursor;
    private final LossRecovery recovery;
    private final EarlyAnswers early;
    private final MissingPackets missing;
    private final WindowShare share;
    private final RequestFailures failures;

    Repeater(
            QueuePairCore core,
            RequestWriter writer,
            SendCursor cursor,
            LossRecovery recovery,
            EarlyAnswers early,
            MissingPackets missing,
            WindowShare share,
            RequestFailures failures) {
        this.core = core;
        this.writer = writer;
        this.cursor = cursor;
        this.recovery = recovery;
        this.early = early;
        this.missing = missing;
        this.share = share;
        this.failures = failures;
    }

    /// Polls the next packet that is sent again, if one is due.
    boolean poll(Frame frame, long now) {
        return pollProbe(frame) || pollMissing(frame, now) || pollLacked(frame, now);
    }

    /// Sends the next packet of a probe, if one is due.
    private boolean pollProbe(Frame frame) {
        while (true) {
            switch (recovery.takeProbe()) {
                case NONE -> {
                    return false;
                }
                case OLDEST -> {
                    if (cursor.underWay() > 0 && sendOldest(frame)) {
                        recovery.probed();
                        return true;
                    }
                }
                case NEWEST -> {
                    if (cursor.underWay() > 1 && sendNewest(frame)) {
                        recovery.probed();
                        return true;
                    }
                }
            }
        }
    }

    private boolean sendOldest(Frame frame) {
        if (cursor.oldest().operation.needsResponse()) {
            recovery.endProbe();
        }
        return send(cursor.oldestPosition(), cursor.unacked(), frame) > 0;
    }

    private boolean sendNewest(Frame frame) {
        long position = cursor.newestPosition();
        return !cursor.at(position).operation.needsResponse() && send(position, Psn.previous(cursor.next()), frame) > 0;
    }

    /// Asks for the next missing answer, and for those that follow it and are missing too.
    private boolean pollMissing(Frame frame, long now) {
        int askedMax = core.parameters.readsOutstandingMax;
        long position = early.findMissing(askedMax);
        int psns = position < 0 ? 0 : send(position, early.missing(), frame);
        if (psns > 0) {
            early.asked(psns, askedMax);
            recovery.probed();
            recovery.repaired(psns, now);
        }
        return psns > 0;
    }

    /// Sends the next packet that the peer lacks. It takes the place of the one that got lost, so it needs no room;
    /// it leaves at the rate of the connection.
    private boolean pollLacked(Frame frame, long now) {
        long position = missing.find();
        if (position < 0 || !share.mayLeave(now)) {
            return false;
        }
        int psns = send(position, missing.missing(), frame);
        if (psns > 0) {
            missing.repeated(psns);
            share.sentData(core.parameters.path, frame.length, now);
            recovery.repaired(1, now);
        }
        return psns > 0;
    }

    /// Sends the packet with this PSN once more; returns how many PSNs it takes, 0 when it cannot be sent.
    private int send(long position, int psn, Frame frame) {
        SendRequest request = cursor.at(position);
        int index = Psn.distance(request.firstPsn, psn);
        int psns = early.run(psn, request.psns(index));
        MemoryVerdict verdict = writer.write(frame, request, index, psns, psn, true);
        if (verdict != MemoryVerdict.OK) {
            failures.failLocally(request, position, index, verdict);
            return 0;
        }
        core.counters.count(Counter.RETRANSMITTED_PACKETS);
        countKeepAlive(position);
        return psns;
    }

    void countKeepAlive(long position) {
        if (cursor.isKeepAlive(position)) {
            core.counters.count(Counter.KEEP_ALIVES);
        }
    }
}
