package verbena.check.litmus;

import java.util.List;
import java.util.SequencedCollection;
import java.util.stream.Collectors;

/// The values of the registers and words that a condition speaks of, in its order, at the end of a run.
public record Ending(List<Integer> values) implements Comparable<Ending> {
    public Ending {
        values = List.copyOf(values);
    }

    /// Returns it with the names, as `r == 0, x == 1`.
    String text(SequencedCollection<String> names) {
        var value = values.iterator();
        return names.stream()
                .map(name -> name + " == " + Value.text(value.next()))
                .collect(Collectors.joining(", "));
    }

    @Override
    public int compareTo(Ending other) {
        for (int i = 0; i < Math.min(values.size(), other.values.size()); i++) {
            int order = values.get(i).compareTo(other.values.get(i));
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(values.size(), other.values.size());
    }

    /// Returns the values alone, as `0 1`.
    @Override
    public String toString() {
        return values.stream().map(Value::text).collect(Collectors.joining(" "));
    }
}
