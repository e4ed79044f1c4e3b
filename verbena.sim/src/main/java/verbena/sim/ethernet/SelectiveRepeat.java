package verbena.sim.ethernet;

/// A transfer whose receiver takes packets in any order and tells of each. Only what is missing is sent again (IRN,
/// Mittal et al., SIGCOMM 2018, section 3): a packet is missing when one behind it was answered.
final class SelectiveRepeat extends Transfer {
    // The sender.
    private final PsnWindow answered;
    private long next;
    /// While something is missing: recovery ends when all before this have been answered. -1 otherwise.
    private long recoverUpTo = -1;
    /// The next packet that recovery may send again.
    private long repeatFrom;
    /// After a timeout: this packet is sent again even if nothing behind it was answered. -1 otherwise.
    private long presumedLost = -1;

    // The receiver.
    private final PsnWindow arrived;

    SelectiveRepeat(
            Host source, Host destination, long bytes, int hash, TransferOptions options, EthernetNetwork network) {
        super(source, destination, bytes, hash, options, network);
        int window = control.limit();
        answered = new PsnWindow(window);
        arrived = new PsnWindow(window);
    }

    @Override
    long next(long now) {
        if (presumedLost >= 0) {
            long psn = presumedLost;
            presumedLost = -1;
            if (psn >= unanswered && !answered.has(psn)) {
                resent();
                return psn;
            }
        }
        if (recoverUpTo >= 0) {
            long psn = Math.max(repeatFrom, unanswered);
            while (psn < answered.end() && answered.has(psn)) {
                psn++;
            }
            if (psn < answered.end()) {
                repeatFrom = psn + 1;
                resent();
                return psn;
            }
        }
        if (next == packets || next - unanswered >= control.limit() || !answered.isIn(next)) {
            return -1;
        }
        return next++;
    }

    @Override
    long underWay() {
        return next - unanswered;
    }

    @Override
    void heard(LightPacket answer, long now) {
        acknowledge(answer.psn, now);
        answered.advanceTo(unanswered);
        if (answer.kind == LightPacket.Kind.NAK && answered.isIn(answer.causedBy)) {
            answered.add(answer.causedBy);
            if (recoverUpTo < 0) {
                recoverUpTo = next;
                repeatFrom = unanswered;
                control.lost(now / Calendar.NANO, (now - answer.sentAt) / Calendar.NANO);
            }
        }
        if (unanswered >= recoverUpTo) {
            recoverUpTo = -1;
        }
    }

    @Override
    void timedOut(long now) {
        presumedLost = unanswered;
        recoverUpTo = next;
        repeatFrom = unanswered + 1;
    }

    @Override
    void took(LightPacket packet, long now) {
        long expected = arrived.base();
        if (packet.psn >= expected && arrived.isIn(packet.psn) && arrived.add(packet.psn)) {
            placed(packet);
            arrived.advance();
        }
        boolean isInOrder = packet.psn <= expected;
        answer(isInOrder ? LightPacket.Kind.ACK : LightPacket.Kind.NAK, arrived.base(), packet, now);
    }
}
