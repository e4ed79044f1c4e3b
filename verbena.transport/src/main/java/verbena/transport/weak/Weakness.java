package verbena.transport.weak;

import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;

/// The freedoms that a device takes, and the seed from which it decides when. With the same seed, the same program in
/// virtual time sees the same.
///
/// @param freedoms which
/// @param seed of all its decisions
public record Weakness(Set<Freedom> freedoms, long seed) {
    /// The freedoms of the standard.
    private static final Set<Freedom> STANDARD = EnumSet.allOf(Freedom.class);
    /// The freedoms of cards in hosts of today, whose memory never tears 8 aligned bytes.
    private static final Set<Freedom> CARD = EnumSet.complementOf(EnumSet.of(Freedom.TORN_WORDS));

    public Weakness {
        if (freedoms.isEmpty()) {
            throw new IllegalArgumentException("freedoms: at least one");
        }
        freedoms = Collections.unmodifiableSet(EnumSet.copyOf(freedoms));
    }

    /// Reads `card`, `standard`, or the names of freedoms with commas between.
    ///
    /// @throws IllegalArgumentException when there is no such name; the message lists the valid ones
    public static Weakness parse(String text, long seed) {
        var freedoms = EnumSet.noneOf(Freedom.class);
        for (String name : text.split(",", -1)) {
            freedoms.addAll(named(name));
        }
        return new Weakness(freedoms, seed);
    }

    private static Collection<Freedom> named(String name) {
        return switch (name) {
            case "card" -> CARD;
            case "standard" -> STANDARD;
            default ->
                Set.of(Arrays.stream(Freedom.values())
                        .filter(freedom -> freedom.label().equals(name))
                        .findFirst()
                        .orElseThrow(() -> new IllegalArgumentException("there is no freedom \"" + name
                                + "\"; there are card, standard and " + labels(STANDARD, ", "))));
        };
    }

    /// Returns the same without one freedom.
    public Weakness without(Freedom freedom) {
        var fewer = EnumSet.copyOf(freedoms);
        fewer.remove(freedom);
        return new Weakness(fewer, seed);
    }

    /// Returns the same with another seed.
    public Weakness withSeed(long other) {
        return new Weakness(freedoms, other);
    }

    /// Returns whether a device takes this freedom.
    public boolean has(Freedom freedom) {
        return freedoms.contains(freedom);
    }

    /// Returns the text that [#parse] reads.
    public String text() {
        return freedoms.equals(STANDARD) ? "standard" : freedoms.equals(CARD) ? "card" : labels(freedoms, ",");
    }

    private static String labels(Set<Freedom> of, String between) {
        return of.stream().map(Freedom::label).collect(Collectors.joining(between));
    }
}
