package verbena.tools.kit;

import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// The numbers of all commands' options: as Java reads them, and refused in words that need no Java.
public final class Numbers {
    private Numbers() {}

    /// Gives them to a command and all below it.
    public static void addTo(CommandLine line) {
        ITypeConverter<Integer> ints = text -> convert(text, Integer::valueOf);
        ITypeConverter<Long> longs = text -> convert(text, Long::valueOf);
        ITypeConverter<Double> doubles = text -> convert(text, Double::valueOf);
        line.registerConverter(int.class, ints);
        line.registerConverter(Integer.class, ints);
        line.registerConverter(long.class, longs);
        line.registerConverter(Long.class, longs);
        line.registerConverter(double.class, doubles);
        line.registerConverter(Double.class, doubles);
    }

    static <N> N convert(String text, Function<String, N> parse) {
        try {
            return parse.apply(text);
        } catch (NumberFormatException _) {
            boolean isLarge = text.matches("[+-]?(\\d+|0[xX]\\p{XDigit}+)");
            throw new TypeConversionException("'" + text + "' is " + (isLarge ? "too large" : "not a number"));
        }
    }
}
