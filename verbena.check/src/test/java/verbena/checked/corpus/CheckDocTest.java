package verbena.checked.corpus;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import verbena.check.Rule;

/// Holds the entries of rules in `docs/check.md` against the rules and the corpus; `-Dverbena.check.write=true`
/// writes them anew.
class CheckDocTest {
    private static final Path PAGE = Path.of("../docs/check.md");
    private static final String FROM = "<!-- the rules -->\n";
    private static final String TO = "<!-- the end of the rules -->\n";
    private static final int COLUMNS = 118;

    @Test
    void theEntriesAreThoseOfTheRulesAndTheCorpus() throws IOException {
        String page = Files.readString(PAGE);
        int from = page.indexOf(FROM) + FROM.length();
        int to = page.indexOf(TO);
        String expected = entries();
        if (Boolean.getBoolean("verbena.check.write")) {
            Files.writeString(PAGE, page.substring(0, from) + expected + page.substring(to));
            return;
        }
        assertThat(page.substring(from, to)).isEqualTo(expected);
    }

    private static String entries() throws IOException {
        var text = new StringBuilder("\n| rule | grade | what |\n|---|---|---|\n");
        for (Rule each : Rule.values()) {
            text.append("| [`")
                    .append(each.id())
                    .append("`](#")
                    .append(each.id().toLowerCase(Locale.ROOT));
            text.append(") | ")
                    .append(each.grade().word())
                    .append(" | ")
                    .append(each.sentence())
                    .append(" |\n");
        }
        for (Rule each : Rule.values()) {
            text.append("\n### `").append(each.id()).append("`\n");
            text.append(wrapped(capital(each.sentence()) + ".", "")).append("\n");
            text.append(item("Grade", each.grade().word()));
            text.append(item("Standard", each.clause()));
            text.append(item("On a card", each.card()));
            text.append(item("Cure", each.cure()));
            Program program = Corpus.PROGRAMS.stream()
                    .filter(one -> one.rule() == each)
                    .findFirst()
                    .orElseThrow();
            List<String> source = Files.readAllLines(
                    CorpusTest.SOURCES.resolve(program.getClass().getSimpleName() + ".java"));
            text.append("\n").append(wrapped("Wrong: " + comment(source), "")).append(code(source, "void wrong("));
            text.append("\nRight:\n").append(code(source, "void right("));
        }
        return text.append("\n").toString();
    }

    private static String capital(String text) {
        return Character.toUpperCase(text.charAt(0)) + text.substring(1);
    }

    private static String comment(List<String> source) {
        return source.stream()
                .filter(line -> line.startsWith("/// "))
                .map(line -> line.substring(4))
                .findFirst()
                .orElseThrow();
    }

    private static String item(String name, String text) {
        return wrapped("- **" + name + ":** " + text, "  ");
    }

    /// Returns a paragraph, or an item of a list, whose lines after the first are indented.
    private static String wrapped(String text, String indent) {
        var lines = new StringBuilder();
        var line = new StringBuilder();
        for (String word : text.split(" ", -1)) {
            if (!line.isEmpty() && line.length() + 1 + word.length() > COLUMNS) {
                lines.append(line).append("\n");
                line.setLength(0);
                line.append(indent).append(word);
            } else {
                line.append(line.isEmpty() ? "" : " ").append(word);
            }
        }
        return lines.append(line).append("\n").toString();
    }

    /// Returns the body of a method as a block of code.
    private static String code(List<String> source, String method) {
        List<String> lines = new ArrayList<>();
        boolean isIn = false;
        for (String line : source) {
            if (line.equals("    }")) {
                isIn = false;
            }
            if (isIn) {
                lines.add(line.isBlank() ? "" : line.substring(8).replace("scene.", ""));
            }
            isIn |= line.contains(method);
        }
        return "```java\n" + String.join("\n", lines) + "\n```\n";
    }
}
