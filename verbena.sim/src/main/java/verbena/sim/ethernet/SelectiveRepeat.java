package verbena.sim.ethernet;

/// A transfer whose receiver takes packets in any order, and tells with each answer which it has. While something is
/// missing, it answers each packet. Only what is missing is sent again, as the transports do it (decision 05): a
/// packet is missing when one that left after it has come.
///
/// IRN (Mittal et al., SIGCOMM 2018, section 3) is the same, but for a packet that was sent again and got lost once
/// more: there a timer has to run out.
final class SelectiveRepeat extends Transfer {
    // The sender.
    private final PsnWindow answered = new PsnWindow();
    private long next;
    /// The times when each unanswered packet left last: a ring, whose length is a power of two.
    private long[] leftAt = new long[64];
    /// The time when the newest packet left that has come.
    private long comeLeftAt = -1;
    /// No packet before this one is known to be missing.
    private long lookFrom;
    /// The packet that is sent again after a timeout, even if nothing behind it was answered; -1 otherwise.
    private long presumedLost = -1;

    private long roundTripNanos;

    // The receiver.
    private final PsnWindow arrived = new PsnWindow();

    SelectiveRepeat(Host source, Host destination, long bytes, int hash, TransferOptions options, Runnable onEnd) {
        super(source, destination, bytes, hash, options, onEnd);
    }

    @Override
    long next(long now) {
        long psn = missing();
        if (psn >= 0) {
            resent();
            control.repaired(now / Calendar.NANO, roundTripNanos);
        } else if (next < packets && next - unanswered < control.limit()) {
            psn = next++;
        } else {
            return -1;
        }
        if (next - unanswered > leftAt.length) {
            lengthen();
        }
        leftAt[place(psn)] = now;
        return psn;
    }

    private long missing() {
        long psn = presumedLost;
        presumedLost = -1;
        if (psn >= unanswered) {
            return psn;
        }
        for (lookFrom = Math.max(lookFrom, unanswered); lookFrom < next; lookFrom++) {
            if (!answered.has(lookFrom) && leftAt[place(lookFrom)] < comeLeftAt) {
                return lookFrom++;
            }
        }
        return -1;
    }

    private int place(long psn) {
        return (int) psn & leftAt.length - 1;
    }

    private void lengthen() {
        long[] before = leftAt;
        leftAt = new long[2 * before.length];
        for (long psn = unanswered; psn < next; psn++) {
            leftAt[place(psn)] = before[(int) psn & before.length - 1];
        }
    }

    @Override
    long underWay() {
        return next - unanswered;
    }

    @Override
    void heard(LightPacket answer, long now) {
        acknowledge(answer.psn, now);
        answered.advanceTo(unanswered);
        answered.addAll(answer.psn + 1, answer.near);
        answered.addAll(answer.psn + 1 + Long.SIZE, answer.far);
        if (answer.causedBy >= unanswered) {
            answered.add(answer.causedBy);
        }
        if (answer.sentAt > comeLeftAt) {
            comeLeftAt = answer.sentAt;
            roundTripNanos = (now - answer.sentAt) / Calendar.NANO;
            lookFrom = unanswered;
        }
    }

    @Override
    void timedOut(long now) {
        presumedLost = unanswered;
    }

    @Override
    void took(LightPacket packet, long now) {
        boolean isExpected = packet.psn == arrived.base();
        boolean hadGap = arrived.end() > arrived.base();
        if (packet.psn >= arrived.base() && arrived.add(packet.psn)) {
            placed(packet);
            arrived.advance();
        }
        if (packet.asks || hadGap || !isExpected) {
            answer(LightPacket.Kind.ACK, arrived.base(), packet, now);
        }
    }

    @Override
    void tell(LightPacket answer) {
        answer.near = arrived.bits(answer.psn + 1);
        answer.far = arrived.bits(answer.psn + 1 + Long.SIZE);
    }
}
