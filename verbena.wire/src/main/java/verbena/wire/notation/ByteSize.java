package verbena.wire.notation;

import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A number of bytes as all options and commands take it: `65536`, `0x10000`, `64K`, `64KiB`, `1.5MiB`, `100KB`.
///
/// K, M, G and T, alone or as KiB and so on, are powers of 1,024; KB, MB, GB and TB are powers of 1,000. Capital and
/// small letters mean the same.
public final class ByteSize {
    private static final Pattern FORM = Pattern.compile(
            "(?:0[xX](?<hex>\\p{XDigit}{1,15})|(?<number>\\d{1,15}(?:\\.\\d{1,15})?) ?(?<unit>[a-zA-Z]*))");
    private static final Map<String, Double> UNITS = Map.ofEntries(
            Map.entry("b", 1.0),
            Map.entry("k", 0x1p10),
            Map.entry("m", 0x1p20),
            Map.entry("g", 0x1p30),
            Map.entry("t", 0x1p40),
            Map.entry("kib", 0x1p10),
            Map.entry("mib", 0x1p20),
            Map.entry("gib", 0x1p30),
            Map.entry("tib", 0x1p40),
            Map.entry("kb", 1e3),
            Map.entry("mb", 1e6),
            Map.entry("gb", 1e9),
            Map.entry("tb", 1e12));
    /// More than any file or memory has.
    private static final double MOST = 0x1p60;

    private ByteSize() {}

    /// Parses a size; without a unit it is in bytes.
    ///
    /// @throws IllegalArgumentException when the text is none
    public static long parse(String text) {
        return parse(text, 1);
    }

    /// Parses a size.
    ///
    /// @param bare the unit, in bytes, of a number that names none
    /// @throws IllegalArgumentException when the text is none
    public static long parse(String text, long bare) {
        Matcher form = FORM.matcher(text);
        double bytes = form.matches() ? bytes(form, bare) : Double.NaN;
        if (bytes == Math.rint(bytes) && bytes <= MOST) {
            return (long) bytes;
        }
        throw new IllegalArgumentException("a size, such as 65536, 64K, 64KiB or 64KB, got \"" + text + "\"");
    }

    private static double bytes(Matcher form, long bare) {
        if (form.group("hex") != null) {
            return (double) Long.parseLong(form.group("hex"), 16) * bare;
        }
        String unit = form.group("unit").toLowerCase(Locale.ROOT);
        double size = unit.isEmpty() ? bare : UNITS.getOrDefault(unit, Double.NaN);
        return Double.parseDouble(form.group("number")) * size;
    }
}
