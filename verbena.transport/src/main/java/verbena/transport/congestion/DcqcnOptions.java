package verbena.transport.congestion;

/// The options of [Dcqcn], by the names that the cards' drivers give it below `/sys/class/net/IF/ecn/roce_rp` and
/// `roce_np`, in words of Java. The values of [#PAPER] are those of Zhu et al., "Congestion Control for Large-Scale
/// RDMA Deployments", SIGCOMM 2015; the rates are for links of 40 Gbit/s.
///
/// @param gd               `dce_tcp_g`: the weight of a new mark in the estimate of congestion, more than 0, at most
///     1
/// @param initialAlpha     `initial_alpha_value`: that estimate before the first mark, 0 to 1
/// @param alphaNanos       `dce_tcp_rtt`: the estimate falls after each such time without a notification
/// @param timeResetNanos   `rpg_time_reset`: the rate rises after each such time
/// @param byteReset        `rpg_byte_reset`: and after so many bytes
/// @param threshold        `rpg_threshold`: so many rises only recover what was lost
/// @param aiRate           `rpg_ai_rate`: what a later rise adds to the target, bit/s
/// @param haiRate          `rpg_hai_rate`: the same once time and bytes have both passed the threshold, bit/s
/// @param minRate          `rpg_min_rate`: no sender is slower, bit/s
/// @param minDecFac        `rpg_min_dec_fac`: no cut leaves a smaller share of the rate, 0 to 1
/// @param monitorNanos     `rate_reduce_monitor_period`: at most one cut in this time
/// @param clampTargetRate  `clamp_tgt_rate`: whether a cut lowers the target even when nothing has risen since the
///     last
/// @param cnpNanos         `min_time_between_cnps`: a receiver sends at most one notification to a queue pair in this
/// time
public record DcqcnOptions(
        double gd,
        double initialAlpha,
        long alphaNanos,
        long timeResetNanos,
        long byteReset,
        int threshold,
        double aiRate,
        double haiRate,
        double minRate,
        double minDecFac,
        long monitorNanos,
        boolean clampTargetRate,
        long cnpNanos) {
    public static final DcqcnOptions PAPER =
            new DcqcnOptions(1.0 / 256, 1, 55_000, 55_000, 10_000_000, 5, 40e6, 400e6, 10e6, 0.5, 4_000, true, 50_000);

    private static final long MOST = 1_000_000_000_000L;

    public DcqcnOptions {
        between("gd", gd, Double.MIN_VALUE, 1);
        between("initialAlpha", initialAlpha, 0, 1);
        within("alphaNanos", alphaNanos, 1);
        within("timeResetNanos", timeResetNanos, 1);
        within("byteReset", byteReset, 1);
        between("threshold", threshold, 1, 1_000);
        between("aiRate", aiRate, 0, 1e15);
        between("haiRate", haiRate, aiRate, 1e15);
        between("minRate", minRate, 1, 1e15);
        between("minDecFac", minDecFac, 0, 1);
        within("monitorNanos", monitorNanos, 0);
        within("cnpNanos", cnpNanos, 0);
    }

    private static void between(String name, double value, double least, double most) {
        if (!(value >= least && value <= most)) {
            throw new IllegalArgumentException(name + ": " + value + " is not between " + least + " and " + most);
        }
    }

    private static void within(String name, long value, long least) {
        if (value < least || value > MOST) {
            throw new IllegalArgumentException(name + ": " + value + " is not between " + least + " and " + MOST);
        }
    }

    /// Returns these options with the rates of a link that has so many bits per second: the steps grow in
    /// proportion.
    public DcqcnOptions forLink(double bitsPerSecond) {
        double factor = bitsPerSecond / 40e9;
        return new DcqcnOptions(
                gd,
                initialAlpha,
                alphaNanos,
                timeResetNanos,
                byteReset,
                threshold,
                aiRate * factor,
                haiRate * factor,
                minRate,
                minDecFac,
                monitorNanos,
                clampTargetRate,
                cnpNanos);
    }

    /// Returns these options with other times and bytes between two rises.
    public DcqcnOptions rises(long nanos, long bytes) {
        return new DcqcnOptions(
                gd,
                initialAlpha,
                alphaNanos,
                nanos,
                bytes,
                threshold,
                aiRate,
                haiRate,
                minRate,
                minDecFac,
                monitorNanos,
                clampTargetRate,
                cnpNanos);
    }
}
