package verbena.sim.ethernet;

/// A transfer whose receiver takes packets in order only. One that is missing, and all behind it, are sent again
/// (IBTA 9.7.5.1).
final class GoBackN extends Transfer {
    // The sender.
    private long next;
    private long highest;

    // The receiver.
    private long expected;
    private boolean hasComplained;

    GoBackN(Host source, Host destination, long bytes, int hash, TransferOptions options, Runnable onEnd) {
        super(source, destination, bytes, hash, options, onEnd);
    }

    @Override
    long next(long now) {
        if (next == packets || next - unanswered >= control.limit()) {
            return -1;
        }
        if (next < highest) {
            resent();
        }
        long psn = next++;
        highest = Math.max(highest, next);
        return psn;
    }

    @Override
    long underWay() {
        return next - unanswered;
    }

    @Override
    void heard(LightPacket answer, long now) {
        acknowledge(answer.psn, now);
        next = Math.max(next, unanswered);
        if (answer.kind == LightPacket.Kind.NAK && answer.psn == unanswered) {
            control.lost(now / Calendar.NANO, (now - answer.sentAt) / Calendar.NANO);
            next = unanswered;
        }
    }

    @Override
    void timedOut(long now) {
        control.lost(now / Calendar.NANO, 0);
        next = unanswered;
    }

    @Override
    void took(LightPacket packet, long now) {
        if (packet.psn == expected) {
            expected++;
            hasComplained = false;
            placed(packet);
            if (packet.asks) {
                answer(LightPacket.Kind.ACK, expected, packet, now);
            }
        } else if (packet.psn < expected) {
            answer(LightPacket.Kind.ACK, expected, packet, now);
        } else if (!hasComplained) {
            hasComplained = true;
            answer(LightPacket.Kind.NAK, expected, packet, now);
        }
    }
}
