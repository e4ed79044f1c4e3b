package verbena.sim.ethernet;

import verbena.transport.congestion.CongestionControl;

/// A window by telemetry (Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, algorithm 1). Each
/// answer tells how busy each link of the way is and what waits there. The window is such that the busiest link is
/// used to 95 %.
///
/// It needs switches that write into packets ([Telemetry]), so it is a rule of experiments only.
final class Hpcc implements CongestionControl {
    /// The share of the busiest link that is to be used.
    private static final double TARGET = 0.95;
    /// The number of round trips that only add, before the window follows the measurement again.
    private static final int STAGES_MAX = 5;
    /// The number of flows that may add at once before queues grow.
    private static final int FLOWS = 100;

    private final double lineBytesPerNano;
    private final double baseNanos;
    private final int packetBytes;
    private final double addBytes;
    private final Telemetry last = new Telemetry();

    private double window;
    private double reference;
    private double used;
    private int stage;
    private long updateAfter;
    private boolean hasHeard;

    /// @param lineRate    bits per second
    /// @param baseNanos   the longest round trip of the network while its queues are empty
    /// @param packetBytes of a full packet on the wire
    Hpcc(double lineRate, long baseNanos, int packetBytes) {
        this.lineBytesPerNano = lineRate / 8e9;
        this.baseNanos = baseNanos;
        this.packetBytes = packetBytes;
        this.window = lineBytesPerNano * baseNanos;
        this.reference = window;
        this.addBytes = window * (1 - TARGET) / FLOWS;
        this.used = 1;
    }

    @Override
    public int limit() {
        return (int) Math.max(1, Math.ceil(window / packetBytes));
    }

    @Override
    public double bitsPerSecond(long now) {
        return 8e9 * window / baseNanos;
    }

    /// Handles an answer that carries the records of switches.
    ///
    /// @param answered the PSN before which all has come
    /// @param next     the PSN that is sent next
    void heard(Telemetry now, long answered, long next) {
        if (hasHeard && now.hops() == last.hops()) {
            measure(now);
            boolean isNewRound = answered > updateAfter;
            follow(isNewRound);
            if (isNewRound) {
                updateAfter = next;
            }
        }
        if (!hasHeard) {
            hasHeard = true;
            updateAfter = next; // the first round only measures
        }
        last.copyFrom(now);
    }

    private void measure(Telemetry now) {
        double most = 0;
        double over = 0;
        for (int hop = 0; hop < now.hops(); hop++) {
            double nanos = (now.atPicos(hop) - last.atPicos(hop)) / 1e3;
            if (nanos <= 0) {
                continue; // packets overtook each other
            }
            double bytesPerNano = 1e3 / now.picosPerByte(hop);
            double rate = (now.sentBytes(hop) - last.sentBytes(hop)) / nanos;
            double queue = Math.min(now.queuedBytes(hop), last.queuedBytes(hop));
            double use = queue / (bytesPerNano * baseNanos) + rate / bytesPerNano;
            if (use > most) {
                most = use;
                over = nanos;
            }
        }
        double weight = Math.min(over, baseNanos) / baseNanos;
        used = (1 - weight) * used + weight * most;
    }

    private void follow(boolean isNewRound) {
        if (used >= TARGET || stage >= STAGES_MAX) {
            window = reference / (used / TARGET) + addBytes;
            stage = isNewRound ? 0 : stage;
        } else {
            window = reference + addBytes;
            stage += isNewRound ? 1 : 0;
        }
        window = Math.min(lineBytesPerNano * baseNanos, Math.max(packetBytes / 100.0, window));
        if (isNewRound) {
            reference = window;
        }
    }
}
