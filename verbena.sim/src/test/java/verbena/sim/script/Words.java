package verbena.sim.script;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.StringTokenizer;

/// The words of one line of a script, taken from the left. A comma is a word of its own.
final class Words {
    private final String line;
    private final Deque<String> words = new ArrayDeque<>();

    Words(String line) {
        this.line = line.strip();
        var tokens = new StringTokenizer(this.line, " \t,", true);
        while (tokens.hasMoreTokens()) {
            String token = tokens.nextToken();
            if (!token.isBlank()) {
                words.add(token);
            }
        }
    }

    boolean isEmpty() {
        return words.isEmpty();
    }

    /// The next word, left where it is; empty at the end.
    String peek() {
        String word = words.peek();
        return word == null ? "" : word;
    }

    /// Takes the next word if it is this one.
    boolean accept(String word) {
        if (peek().equals(word)) {
            words.remove();
            return true;
        }
        return false;
    }

    /// @param what what is wanted, for the message when the line has ended
    String next(String what) {
        String word = words.poll();
        if (word == null) {
            throw wrong(what + " is missing");
        }
        return word;
    }

    void expect(String word) {
        if (!accept(word)) {
            throw wrong("\"" + word + "\" is missing before \"" + peek() + "\"");
        }
    }

    long number(String what) {
        String word = next(what);
        try {
            return word.startsWith("0x") ? Long.parseUnsignedLong(word, 2, word.length(), 16) : Long.parseLong(word);
        } catch (NumberFormatException _) {
            throw wrong(what + " is a number, not \"" + word + "\"");
        }
    }

    int integer(String what) {
        return (int) number(what);
    }

    /// All that is left, with single blanks.
    String rest() {
        String rest = String.join(" ", words);
        words.clear();
        return rest;
    }

    void end() {
        if (!words.isEmpty()) {
            throw wrong("\"" + peek() + "\" means nothing here");
        }
    }

    IllegalArgumentException wrong(String what) {
        return new IllegalArgumentException("script line \"" + line + "\": " + what);
    }
}
