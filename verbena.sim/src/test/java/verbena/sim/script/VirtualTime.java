package verbena.sim.script;

import java.math.BigDecimal;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Spans of virtual time as text: `4ms`, `67.108864ms`, `1.5s`.
final class VirtualTime {
    private static final Pattern SPAN = Pattern.compile("([0-9]+(?:\\.[0-9]+)?)(ns|us|ms|s)");

    private VirtualTime() {}

    /// Nanoseconds, exactly.
    static long nanos(String text) {
        Matcher matcher = SPAN.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("a time is 4ms, 1.5us or the like, not \"" + text + "\"");
        }
        int exponent = switch (matcher.group(2)) {
            case "ns" -> 0;
            case "us" -> 3;
            case "ms" -> 6;
            default -> 9;
        };
        return new BigDecimal(matcher.group(1)).scaleByPowerOfTen(exponent).longValueExact();
    }

    static String text(long nanos) {
        return "+" + BigDecimal.valueOf(nanos, 6).stripTrailingZeros().toPlainString() + "ms";
    }
}
