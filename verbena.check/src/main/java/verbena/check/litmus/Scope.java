package verbena.check.litmus;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import verbena.check.litmus.Condition.Comparison;
import verbena.check.litmus.Program.Queue;
import verbena.check.litmus.Program.Word;

/// The names that a program has defined so far, and the line that is being read.
final class Scope {
    private static final Pattern COMPARISON = Pattern.compile("(.+?) (==|!=) (.+)");
    private static final Pattern VALUE = Pattern.compile("(?:([a-z][\\w.]*)(?: \\+ (\\d+))?|(\\d+|0x[0-9a-f]+))");
    private static final int MOST_VALUE = 255;

    final LinkedHashMap<String, Word> words = new LinkedHashMap<>();
    final LinkedHashMap<String, Queue> queues = new LinkedHashMap<>();
    /// The index of the line.
    int line;

    private final String name;
    private final String[] lines;

    /// @param name of the page
    Scope(String name, String[] lines) {
        this.name = name;
        this.lines = lines;
    }

    Comparison comparison(String text) {
        Matcher comparison = COMPARISON.matcher(text);
        if (!comparison.matches()) {
            throw wrong("'" + text + "' is no comparison by == or !=");
        }
        return new Comparison(value(comparison.group(1)), comparison.group(2).equals("=="), value(comparison.group(3)));
    }

    Value value(String text) {
        Matcher value = VALUE.matcher(text);
        if (!value.matches()) {
            throw wrong("'" + text + "' is no number, name or 'NAME + NUMBER'");
        }
        return value.group(3) != null
                ? new Value("", number(value.group(3)))
                : new Value(value.group(1), value.group(2) == null ? 0 : number(value.group(2)));
    }

    int number(String text) {
        try {
            int number = Integer.decode(text);
            if (number >= 0 && number <= MOST_VALUE) {
                return number;
            }
        } catch (NumberFormatException _) {
            // said below
        }
        throw wrong("'" + text + "' is no number from 0 to " + MOST_VALUE);
    }

    Word word(String text, String node) {
        Word word = words.get(text);
        if (word == null || !word.node().equals(node)) {
            throw wrong("node " + node + " has no word '" + text + "'");
        }
        return word;
    }

    boolean isWord(String text) {
        return words.containsKey(text);
    }

    /// Returns the words of an array, or a word that stands alone.
    List<String> array(String text, String node) {
        List<String> array = words.values().stream()
                .filter(word -> word.node().equals(node)
                        && (word.array().equals(text) || word.name().equals(text)))
                .map(Word::name)
                .toList();
        if (array.isEmpty()) {
            throw wrong("node " + node + " has no memory '" + text + "'");
        }
        return array;
    }

    Queue queue(String text, String node) {
        Queue queue = queues.get(text);
        if (queue == null || !queue.isBetween(node)) {
            throw wrong("node " + node + " has no queue '" + text + "'");
        }
        return queue;
    }

    /// Returns the exception for a line that is wrong.
    IllegalArgumentException wrong(String what) {
        String text = line < lines.length ? lines[line].strip() : "";
        return new IllegalArgumentException(name + ":" + (Math.min(line, lines.length - 1) + 1) + ": " + what
                + (text.isEmpty() ? "" : ": " + text));
    }
}
