package verbena.sim.scenario;

import verbena.sim.ethernet.SwitchOptions;
import verbena.sim.ethernet.TransferOptions;
import verbena.transport.congestion.Dcqcn;
import verbena.transport.congestion.DcqcnOptions;
import verbena.transport.congestion.Swift;
import verbena.transport.congestion.SwiftOptions;

/// The rules of senders that experiments compare.
final class Rules {
    /// A number that is as good as no limit.
    static final int ALL = 1 << 20;

    private Rules() {}

    /// Returns options with pauses alone: senders send as fast as their line.
    static TransferOptions none() {
        return TransferOptions.window(ALL);
    }

    /// Returns DCQCN with the paper's values, in proportion to the line.
    static TransferOptions dcqcn() {
        return dcqcn(ALL);
    }

    /// Returns the same with at most so many packets under way.
    static TransferOptions dcqcn(int packets) {
        return none().control(
                        DcqcnOptions.PAPER.cnpNanos(),
                        line -> new Dcqcn(DcqcnOptions.PAPER.forLink(line), line, packets));
    }

    /// Returns Swift with a window of at most `packets`.
    static TransferOptions swift(int packets) {
        return none().control(0, _ -> new Swift(SwiftOptions.USUAL, packets, 1_082));
    }

    /// Returns options with marks as the paper's for DCQCN: 5 KB, 200 KB and 1 % at 40 Gbit/s, in proportion to the
    /// line.
    static SwitchOptions marking(SwitchOptions options, double bitsPerSecond) {
        double factor = bitsPerSecond / 40e9;
        return options.marking((long) (5_000 * factor), (long) (200_000 * factor), 0.01);
    }
}
