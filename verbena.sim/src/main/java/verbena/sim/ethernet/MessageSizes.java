package verbena.sim.ethernet;

import java.util.random.RandomGenerator;

/// The lengths of messages: a published distribution, as points of its cumulative function with straight lines
/// between.
public enum MessageSizes {
    /// Web search: Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, as used by most papers since.
    WEB_SEARCH(
            new long[] {
                1,
                10_000,
                20_000,
                30_000,
                50_000,
                80_000,
                200_000,
                1_000_000,
                2_000_000,
                5_000_000,
                10_000_000,
                30_000_000
            },
            new double[] {0, 0.15, 0.20, 0.30, 0.40, 0.53, 0.60, 0.70, 0.80, 0.90, 0.97, 1}),
    /// Hadoop at Facebook: Roy et al., "Inside the Social Network's (Datacenter) Network", SIGCOMM 2015.
    HADOOP(
            new long[] {1, 180, 216, 560, 900, 1_100, 1_870, 3_160, 10_000, 400_000, 3_160_000, 10_000_000, 30_000_000},
            new double[] {0, 0.10, 0.20, 0.30, 0.40, 0.50, 0.60, 0.70, 0.80, 0.90, 0.95, 0.98, 1}),
    /// Remote calls and storage, as in the evaluation of IRN (Mittal et al., SIGCOMM 2018): half of all messages
    /// are of one packet, 15 % between 200 KB and 3 MB.
    RPC_AND_STORAGE(new long[] {32, 1_000, 10_000, 200_000, 3_000_000}, new double[] {0, 0.50, 0.85, 0.85, 1});

    @SuppressWarnings("ImmutableEnumChecker") // written in the constructor only
    private final long[] bytes;

    @SuppressWarnings("ImmutableEnumChecker") // written in the constructor only
    private final double[] share;

    MessageSizes(long[] bytes, double[] share) {
        this.bytes = bytes;
        this.share = share;
    }

    /// Returns the length of one message.
    public long draw(RandomGenerator random) {
        double x = random.nextDouble();
        int i = 1;
        while (i < share.length - 1 && x >= share[i]) {
            i++;
        }
        double part = (x - share[i - 1]) / (share[i] - share[i - 1]);
        return Math.max(1, Math.round(bytes[i - 1] + part * (bytes[i] - bytes[i - 1])));
    }

    /// Returns the mean length in bytes.
    public double mean() {
        double sum = 0;
        for (int i = 1; i < share.length; i++) {
            sum += (share[i] - share[i - 1]) * (bytes[i - 1] + bytes[i]) / 2;
        }
        return sum;
    }
}
