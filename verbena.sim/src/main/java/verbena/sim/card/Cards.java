package verbena.sim.card;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The reader of cards. A card is a text with a line for each number, which says where the number is from:
///
///     card mine A card of my own
///     like cx5
///     source manual https://example.org/manual
///     qp-cache  4000   # [manual] page 12
///     qp-miss   40ns   # assumed
///
/// After `#` stands the key of a source, the word `assumed`, or `from memory`. `like` takes everything from another
/// card. A card is also one line, `cx5 qp-cache=64`: a card that is known, and what is to be different.
public final class Cards {
    private static final List<String> KNOWN = List.of("cheap", "cx3", "connect-ib", "cx4", "cx5", "cx6", "cloud");
    private static final Pattern KEY = Pattern.compile("\\[([a-z0-9-]+)\\]");

    private final EnumMap<Quantity, Card.Entry> entries = new EnumMap<>(Quantity.class);
    private final EnumMap<Quantity, Boolean> read = new EnumMap<>(Quantity.class);
    private final Map<String, String> sources = new TreeMap<>();
    private String name = "";
    private String title = "";

    private Cards() {}

    /// Returns the cards that are known, from the slowest to the fastest and then that of a cloud.
    public static List<Card> known() {
        return KNOWN.stream().map(Cards::named).toList();
    }

    /// Reads a card that is known by its name, or one in a line.
    ///
    /// @throws IllegalArgumentException when there is a mistake in it; the message names the word
    public static Card of(String line) {
        String[] words = line.strip().split("\\s+", -1);
        if (!KNOWN.contains(words[0])) {
            throw new IllegalArgumentException(
                    "there is no card '" + words[0] + "'; there are " + String.join(", ", KNOWN));
        }
        Card card = named(words[0]);
        for (int i = 1; i < words.length; i++) {
            String[] pair = words[i].split("=", 2);
            if (pair.length != 2) {
                throw new IllegalArgumentException("'" + words[i] + "' is not NAME=VALUE, such as qp-cache=64");
            }
            Quantity quantity = quantity(pair[0]);
            card = card.with(quantity, quantity.parse(pair[1]));
        }
        return card;
    }

    /// Reads a card.
    ///
    /// @throws IllegalArgumentException when there is a mistake in it; the message names the line and the word
    public static Card parse(List<String> lines) {
        var text = new Cards();
        for (int i = 0; i < lines.size(); i++) {
            try {
                text.read(lines.get(i));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("line " + (i + 1) + ": " + e.getMessage(), e);
            }
        }
        return text.done();
    }

    private static Card named(String name) {
        try (InputStream in = Objects.requireNonNull(Cards.class.getResourceAsStream(name + ".card"), name)) {
            return parse(new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(name + ".card: " + e.getMessage(), e);
        }
    }

    private static Quantity quantity(String word) {
        return Quantity.of(word)
                .orElseThrow(() -> new IllegalArgumentException("'" + word + "' is none of " + Quantity.words()));
    }

    /// Reads a line.
    ///
    /// @throws IllegalArgumentException when there is a mistake in it; the message names the word
    private void read(String line) {
        String[] parts = line.split("#", 2);
        String[] words = parts[0].strip().split("\\s+", 3);
        if (words[0].isEmpty()) {
            return;
        }
        if (name.isEmpty() && !words[0].equals("card")) {
            throw new IllegalArgumentException("'" + words[0] + "': the first line is card NAME TITLE");
        }
        switch (words[0]) {
            case "card" -> {
                require(words.length == 3, "card NAME TITLE");
                require(name.isEmpty(), "a text has one card");
                name = words[1];
                title = words[2];
            }
            case "source" -> {
                require(words.length == 3, "source KEY TEXT");
                sources.put(words[1], words[2]);
            }
            case "like" -> {
                require(words.length == 2, "like NAME");
                require(entries.isEmpty(), "like stands before all numbers");
                Card other = words[1].equals("host") ? named("host") : of(words[1]);
                entries.putAll(other.entries());
                sources.putAll(other.sources());
            }
            default -> number(words, parts.length == 2 ? parts[1].strip() : "");
        }
    }

    private void number(String[] words, String source) {
        Quantity quantity = quantity(words[0]);
        require(words.length == 2, "'" + words[0] + "' has one value");
        require(read.put(quantity, true) == null, "'" + words[0] + "' stands twice");
        Matcher key = KEY.matcher(source);
        boolean hasKey = false;
        while (key.find()) {
            require(sources.containsKey(key.group(1)), "there is no source '" + key.group(1) + "' above");
            hasKey = true;
        }
        require(
                hasKey || source.startsWith("assumed") || source.startsWith("from memory"),
                "'" + words[0] + "' has no source: after # its key in brackets, or assumed, or from memory");
        entries.put(quantity, new Card.Entry(quantity.parse(words[1]), source));
    }

    /// Returns the card when it is whole.
    private Card done() {
        require(!name.isEmpty(), "there is no card: the first line is card NAME TITLE");
        for (Quantity each : Quantity.values()) {
            require(
                    entries.containsKey(each) || name.equals("host"),
                    "card " + name + " has no '" + each.word() + "': " + each.meaning());
        }
        return Card.of(name, title, entries, sources);
    }

    private static void require(boolean holds, String message) {
        if (!holds) {
            throw new IllegalArgumentException(message);
        }
    }
}
