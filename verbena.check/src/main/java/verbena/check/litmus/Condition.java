package verbena.check.litmus;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// A question about the end of a program: comparisons joined by `&&`, and those by `||`.
///
/// @param alternatives of which one has to be true, each a list of comparisons that are all true
public record Condition(List<List<Comparison>> alternatives) {
    /// A comparison of two values.
    public record Comparison(Value left, boolean equal, Value right) {
        boolean holds(ToIntFunction<String> values) {
            return (value(left, values) == value(right, values)) == equal;
        }

        private static int value(Value value, ToIntFunction<String> values) {
            return value.number() + (value.isNumber() ? 0 : values.applyAsInt(value.name()));
        }

        @Override
        public String toString() {
            return left + (equal ? " == " : " != ") + right;
        }
    }

    public Condition {
        alternatives = alternatives.stream().map(List::copyOf).toList();
    }

    /// Returns the registers and words that it speaks of, in the order of the text.
    SequencedSet<String> names() {
        return alternatives.stream()
                .flatMap(List::stream)
                .flatMap(each -> Stream.of(each.left(), each.right()))
                .filter(each -> !each.isNumber())
                .map(Value::name)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /// Returns whether it is true of an outcome.
    public boolean holds(Ending ending) {
        List<String> names = new ArrayList<>(names());
        return alternatives.stream()
                .anyMatch(all -> all.stream()
                        .allMatch(each -> each.holds(name -> ending.values().get(names.indexOf(name)))));
    }

    @Override
    public String toString() {
        return alternatives.stream()
                .map(all -> all.stream().map(Comparison::toString).collect(Collectors.joining(" && ")))
                .collect(Collectors.joining(" || "));
    }
}
