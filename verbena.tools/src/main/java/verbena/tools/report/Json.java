package verbena.tools.report;

import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A writer of legible JSON (RFC 8259): an object or list stands on one line where it fits there. ASCII only, and
/// without `<`, so that it can stand in a page.
public final class Json {
    private static final int COLUMNS = 160;
    private static final String INDENT = "  ";
    /// The digits of a number: more have no meaning in a measurement.
    private static final MathContext DIGITS = new MathContext(6);

    private Json() {}

    /// Returns the JSON of a record or a map (as an object), a list, text, a number or a truth value. A value that
    /// is null is left out of objects, and so is an empty list; a number that is not finite is null.
    ///
    /// @throws IllegalArgumentException for anything else
    public static String format(Object value) {
        return broken(plain(value), "");
    }

    // Records as maps, and so on, down to what JSON has.
    private static @Nullable Object plain(@Nullable Object value) {
        return switch (value) {
            case null -> null;
            case String _, Boolean _, Integer _, Long _, BigDecimal _ -> value;
            case Double number -> Double.isFinite(number) ? new BigDecimal(number).round(DIGITS) : null;
            case Collection<?> list -> list.stream().map(Json::plain).toList();
            case Map<?, ?> map -> {
                var object = new LinkedHashMap<String, Object>();
                map.forEach((name, member) -> put(object, name.toString(), member));
                yield object;
            }
            case Record tuple -> {
                var object = new LinkedHashMap<String, Object>();
                for (RecordComponent component : tuple.getClass().getRecordComponents()) {
                    put(object, component.getName(), read(component, tuple));
                }
                yield object;
            }
            default -> throw new IllegalArgumentException("value: has no JSON: " + value.getClass());
        };
    }

    private static void put(Map<String, Object> object, String name, @Nullable Object member) {
        Object plain = plain(member);
        if (plain != null && !(plain instanceof Collection<?> list && list.isEmpty())) {
            object.put(name, plain);
        }
    }

    private static @Nullable Object read(RecordComponent component, Record tuple) {
        try {
            return component.getAccessor().invoke(tuple);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException("value: cannot be read: " + component, e);
        }
    }

    private static String broken(@Nullable Object value, String indent) {
        Stream<String> members = switch (value) {
            case Map<?, ?> map ->
                map.entrySet().stream()
                        .map(entry ->
                                quoted(entry.getKey().toString()) + ": " + fitting(entry.getValue(), indent + INDENT));
            case Collection<?> list -> list.stream().map(member -> fitting(member, indent + INDENT));
            case null, default -> null;
        };
        if (members == null) {
            return oneLine(value);
        }
        String inner = members.map(member -> indent + INDENT + member).collect(Collectors.joining(",\n"));
        return value instanceof Map ? "{\n" + inner + "\n" + indent + "}" : "[\n" + inner + "\n" + indent + "]";
    }

    private static String fitting(@Nullable Object value, String indent) {
        String line = oneLine(value);
        return indent.length() + line.length() <= COLUMNS ? line : broken(value, indent);
    }

    private static String oneLine(@Nullable Object value) {
        return switch (value) {
            case Map<?, ?> map ->
                map.entrySet().stream()
                        .map(entry -> quoted(entry.getKey().toString()) + ": " + oneLine(entry.getValue()))
                        .collect(Collectors.joining(", ", "{", "}"));
            case Collection<?> list -> list.stream().map(Json::oneLine).collect(Collectors.joining(", ", "[", "]"));
            case String text -> quoted(text);
            case BigDecimal number ->
                number.signum() == 0 ? "0" : number.stripTrailingZeros().toPlainString();
            case null, default -> String.valueOf(value);
        };
    }

    private static String quoted(String text) {
        var quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"', '\\' -> quoted.append('\\').append(c);
                case '\n' -> quoted.append("\\n");
                default -> {
                    if (c < ' ' || c > '~' || c == '<') {
                        quoted.append(String.format("\\u%04x", (int) c));
                    } else {
                        quoted.append(c);
                    }
                }
            }
        }
        return quoted.append('"').toString();
    }
}
