package verbena.sim.card;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/// A card: its numbers, and where each is from. [Cards] reads it.
public final class Card {
    /// A number, and where it is from.
    ///
    /// @param source such as `assumed: fits [swarm]`
    public record Entry(double value, String source) {}

    private final String name;
    private final String title;
    private final EnumMap<Quantity, Entry> entries;
    private final Map<String, String> sources;

    private Card(String name, String title, EnumMap<Quantity, Entry> entries, Map<String, String> sources) {
        this.name = name;
        this.title = title;
        this.entries = entries;
        this.sources = sources;
    }

    static Card of(String name, String title, EnumMap<Quantity, Entry> entries, Map<String, String> sources) {
        return new Card(name, title, new EnumMap<>(entries), new TreeMap<>(sources));
    }

    /// Returns its name, such as `cx5`.
    public String name() {
        return name;
    }

    /// Returns a line of what it is.
    public String title() {
        return title;
    }

    /// Returns the sources by their keys.
    public Map<String, String> sources() {
        return Map.copyOf(sources);
    }

    EnumMap<Quantity, Entry> entries() {
        return entries;
    }

    public double value(Quantity quantity) {
        return entry(quantity).value();
    }

    /// Returns where a number is from.
    public String source(Quantity quantity) {
        return entry(quantity).source();
    }

    private Entry entry(Quantity quantity) {
        return Objects.requireNonNull(entries.get(quantity), quantity.word());
    }

    int count(Quantity quantity) {
        return (int) value(quantity);
    }

    long picos(Quantity quantity) {
        return Math.round(value(quantity) * 1000);
    }

    /// Returns a card that has another value.
    ///
    /// @throws IllegalArgumentException when the value is out of range
    public Card with(Quantity quantity, double value) {
        var changed = new EnumMap<>(entries);
        changed.put(quantity, new Entry(quantity.check(value), "given"));
        return new Card(name, title, changed, sources);
    }
}
