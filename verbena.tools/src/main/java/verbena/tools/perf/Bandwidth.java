package verbena.tools.perf;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import verbena.tools.kit.CommandFailed;
import verbena.tools.report.Result;
import verbena.tools.report.Timeline;

/// The amount of data that went through, and its rate.
///
/// @param size bytes of a message
/// @param messages that were counted
/// @param peak bandwidth between the best two moments, in the unit of the report; 0 when it was not looked for
/// @param average bandwidth, in the unit of the report
/// @param messageRate millions of messages a second
record Bandwidth(long size, long messages, double peak, double average, double messageRate) {
    /// Bytes of the unit called MB.
    static final double MEGABYTE = 1 << 20;
    /// Bytes of the unit called Gb.
    static final double GIGABIT = 125_000_000;

    /// @param peakNanos least time a message took, over any stretch; 0 when not looked for
    static Bandwidth of(long size, long messages, long nanos, double peakNanos, boolean gigabits) {
        double unit = gigabits ? GIGABIT : MEGABYTE;
        double seconds = Math.max(nanos, 1) / 1e9;
        return new Bandwidth(
                size,
                messages,
                peakNanos == 0 ? 0 : size * 1e9 / peakNanos / unit,
                size * messages / seconds / unit,
                messages / seconds / 1e6);
    }

    /// Returns the bandwidth of both directions.
    Bandwidth plus(Bandwidth other) {
        return new Bandwidth(
                size, messages, peak + other.peak, average + other.average, messageRate + other.messageRate);
    }

    /// Returns these figures, which the peer has sent, after a check.
    ///
    /// @throws CommandFailed when that cannot be figures
    Bandwidth toldBy(String peer) {
        if (size < 1 || size > Integer.MAX_VALUE || messages < 0) {
            throw new CommandFailed(
                    "what the peer at " + peer + " tells are no figures: are -q, -a and -b the same at both ends?");
        }
        return this;
    }

    /// Returns these figures as a result of a report, whose bandwidths are in 2^20 bytes a second.
    ///
    /// @param series null for the only one
    Result result(@Nullable String series, boolean gigabits, @Nullable Timeline timeline) {
        double unit = gigabits ? GIGABIT / MEGABYTE : 1;
        return new Result(
                series,
                size,
                messages,
                average * unit,
                peak == 0 ? null : peak * unit,
                messageRate,
                null,
                timeline,
                null);
    }

    /// Exchanges the measured figures with the peer: number by number, as big-endian longs and doubles.
    Bandwidth swap(Exchange exchange) throws InterruptedException {
        return new Bandwidth(
                swap(exchange, size),
                swap(exchange, messages),
                swap(exchange, peak),
                swap(exchange, average),
                swap(exchange, messageRate));
    }

    private static double swap(Exchange exchange, double mine) throws InterruptedException {
        return Double.longBitsToDouble(swap(exchange, Double.doubleToRawLongBits(mine)));
    }

    private static long swap(Exchange exchange, long mine) throws InterruptedException {
        return ByteBuffer.wrap(exchange.swap(
                        ByteBuffer.allocate(Long.BYTES).putLong(mine).array()))
                .getLong();
    }

    /// Returns the least time that a message took, over any stretch from the post of one list to a completion.
    ///
    /// @param posted when each list was posted, at the index of its first message
    /// @param completed when each completion came, at the index of the last message that it stands for
    static double peakNanos(long[] posted, long[] completed, int messages, int list, int moderation) {
        double best = Double.MAX_VALUE;
        for (int i = 0; i < messages; i += list) {
            for (int j = (i + moderation) / moderation * moderation - 1; j < messages; j += moderation) {
                best = Math.min(best, (double) (completed[j] - posted[i]) / (j - i + 1));
            }
            if (messages % moderation != 0) {
                best = Math.min(best, (double) (completed[messages - 1] - posted[i]) / (messages - i));
            }
        }
        return best;
    }
}
