package verbena.nic.link;

import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The faults that a [FaultyLink] makes. Each packet is judged by itself: a probability of 0.05 hits one in twenty.
///
/// @param loss the probability that a packet is lost
/// @param duplicate the probability that it arrives twice
/// @param reorder the probability that it is held back for [#REORDER_NANOS], so that later packets overtake it
/// @param corrupt the probability that one of its bits is inverted
/// @param mark the probability that it is marked as by a congested switch, if it says that it may be (ECN, RFC 3168)
/// @param delayNanos how much later than without faults a packet arrives
/// @param on the packets that are judged
/// @param seed the seed of the decisions: equal seeds decide equally for the n-th packet sent and the n-th received;
///     empty for a seed that is drawn when the link is made
public record Faults(
        double loss,
        double duplicate,
        double reorder,
        double corrupt,
        double mark,
        long delayNanos,
        On on,
        OptionalLong seed) {
    /// The packets that are judged.
    public enum On {
        /// The packets that the link sends.
        SENT,
        /// The packets that the link receives.
        RECEIVED,
        /// The packets in both directions.
        BOTH
    }

    /// The time that a packet is held back to be overtaken.
    public static final long REORDER_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /// The longest delay; longer ones are refused, because packets on their way have to be kept.
    public static final long DELAY_NANOS_MAX = TimeUnit.SECONDS.toNanos(10);

    /// The value without faults.
    public static final Faults NONE = new Faults(0, 0, 0, 0, 0, 0, On.BOTH, OptionalLong.empty());

    private static final Pattern PERCENTAGE = Pattern.compile("([0-9]+(?:\\.[0-9]+)?)%");
    private static final Pattern DURATION = Pattern.compile("([0-9]{1,9})(ns|us|ms|s)");

    public Faults {
        for (double probability : new double[] {loss, duplicate, reorder, corrupt, mark}) {
            if (!(probability >= 0 && probability <= 1)) {
                throw new IllegalArgumentException("probability: 0 to 1, got " + probability);
            }
        }
        if (delayNanos < 0 || delayNanos > DELAY_NANOS_MAX) {
            throw new IllegalArgumentException("delay: 0 to 10 s, got " + delayNanos + " ns");
        }
    }

    /// Reads `loss:5%,duplicate:1%,reorder:3%,corrupt:0.1%,mark:2%,delay:2ms,on:received,seed:7`, any of these in
    /// any order.
    ///
    /// @throws IllegalArgumentException when a name or a value is invalid; the message lists the valid ones
    public static Faults parse(String text) {
        Faults faults = NONE;
        for (String one : text.split(",", -1)) {
            String[] pair = one.split(":", 2);
            faults = faults.with(pair[0], pair.length == 2 ? pair[1] : "");
        }
        return faults;
    }

    private Faults with(String name, String value) {
        return switch (name) {
            case "loss" ->
                new Faults(probability(name, value), duplicate, reorder, corrupt, mark, delayNanos, on, seed);
            case "duplicate" ->
                new Faults(loss, probability(name, value), reorder, corrupt, mark, delayNanos, on, seed);
            case "reorder" ->
                new Faults(loss, duplicate, probability(name, value), corrupt, mark, delayNanos, on, seed);
            case "corrupt" ->
                new Faults(loss, duplicate, reorder, probability(name, value), mark, delayNanos, on, seed);
            case "mark" ->
                new Faults(loss, duplicate, reorder, corrupt, probability(name, value), delayNanos, on, seed);
            case "delay" -> new Faults(loss, duplicate, reorder, corrupt, mark, nanos(value), on, seed);
            case "on" -> new Faults(loss, duplicate, reorder, corrupt, mark, delayNanos, on(value), seed);
            case "seed" ->
                new Faults(loss, duplicate, reorder, corrupt, mark, delayNanos, on, OptionalLong.of(seed(value)));
            default ->
                throw new IllegalArgumentException("there is no fault \"" + name
                        + "\"; there are loss, duplicate, reorder, corrupt, mark, delay, and on and seed");
        };
    }

    private static double probability(String name, String value) {
        Matcher percentage = PERCENTAGE.matcher(value);
        if (percentage.matches()) {
            double percent = Double.parseDouble(percentage.group(1));
            if (percent <= 100) {
                return percent / 100;
            }
        }
        throw new IllegalArgumentException(name + ": a percentage, 0% to 100%, got \"" + value + "\"");
    }

    private static long nanos(String value) {
        Matcher duration = DURATION.matcher(value);
        if (duration.matches()) {
            TimeUnit unit = switch (duration.group(2)) {
                case "ns" -> TimeUnit.NANOSECONDS;
                case "us" -> TimeUnit.MICROSECONDS;
                case "ms" -> TimeUnit.MILLISECONDS;
                default -> TimeUnit.SECONDS;
            };
            long nanos = unit.toNanos(Long.parseLong(duration.group(1)));
            if (nanos <= DELAY_NANOS_MAX) {
                return nanos;
            }
        }
        throw new IllegalArgumentException(
                "delay: a whole number of ns, us, ms or s, at most 10s, got \"" + value + "\"");
    }

    private static On on(String value) {
        return switch (value) {
            case "sent" -> On.SENT;
            case "received" -> On.RECEIVED;
            case "both" -> On.BOTH;
            default -> throw new IllegalArgumentException("on: sent, received or both, got \"" + value + "\"");
        };
    }

    private static long seed(String value) {
        try {
            return Long.parseLong(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("seed: a whole number of 64 bits, got \"" + value + "\"", e);
        }
    }
}
