package verbena.sim.script;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// What the network does with a packet: `->` delivers it, `-x` loses it, `->>4ms` delivers it late, `-2>` twice,
/// `-2>>4ms` once now and once late. `-~>` delivers it with a bit flipped, `-ce>` with the mark of a congested
/// switch (RFC 3168).
///
/// @param copiesNow deliveries at once
/// @param lateNanos when one more copy arrives; negative for never
/// @param flips whether a bit is flipped on the way
/// @param marks whether a switch marks it
record Arrow(int copiesNow, long lateNanos, boolean flips, boolean marks) {
    private static final Pattern LATE = Pattern.compile("-(2?)>>(.+)");

    /// Null when the word is no arrow.
    static @Nullable Arrow parse(String word) {
        Matcher late = LATE.matcher(word);
        if (late.matches()) {
            return new Arrow(late.group(1).isEmpty() ? 0 : 1, VirtualTime.nanos(late.group(2)), false, false);
        }
        return switch (word) {
            case "->" -> new Arrow(1, -1, false, false);
            case "-x" -> new Arrow(0, -1, false, false);
            case "-2>" -> new Arrow(2, -1, false, false);
            case "-~>" -> new Arrow(1, -1, true, false);
            case "-ce>" -> new Arrow(1, -1, false, true);
            default -> null;
        };
    }
}
