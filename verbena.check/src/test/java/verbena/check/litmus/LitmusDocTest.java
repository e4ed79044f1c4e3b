package verbena.check.litmus;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import verbena.check.litmus.Litmus.Variant;

/// The tables and the example of docs/litmus.md are those of the code.
class LitmusDocTest {
    private static String page() throws IOException {
        return Files.readString(Path.of("..", "docs", "litmus.md"));
    }

    private static List<String> table(String heading) throws IOException {
        return page().lines()
                .dropWhile(line -> !line.equals(heading))
                .skip(2)
                .takeWhile(line -> line.startsWith("|"))
                .toList();
    }

    @Test
    void theFreedomsAreThoseOfTheModel() throws IOException {
        assertThat(table("| freedom | from level | what may happen |"))
                .containsExactlyElementsOf(Stream.of(ModelFreedom.values())
                        .map(each -> "| `%s` | %s | %s |"
                                .formatted(each.text(), each.level().text(), each.meaning()))
                        .toList());
    }

    @Test
    void theProgramsAreAllAndWhatTheyAllowIsRight() throws IOException {
        var rows = new ArrayList<String>();
        for (Litmus litmus : Litmuses.all()) {
            List<String> cures = litmus.variants().stream()
                    .skip(1)
                    .map(cure -> cure.title()
                            + cure.allowed().map(level -> ": " + level.text()).orElse(""))
                    .toList();
            Variant first = litmus.variants().getFirst();
            rows.add("| `%s` | %s | %s | %s |"
                    .formatted(
                            litmus.name(),
                            litmus.question(),
                            first.allowed().map(Level::text).orElse("never"),
                            String.join("; ", cures)));
        }
        assertThat(table("| program | question | from level | cures |")).containsExactlyElementsOf(rows);
    }

    @Test
    void theExampleIsTheFileOfItsName() throws IOException {
        String page = page();
        int begin = page.indexOf("```litmus\n") + "```litmus\n".length();
        Litmus example = LitmusParser.parse("message-passing", page.substring(begin, page.indexOf("```", begin)));
        Litmus file = Litmuses.named("message-passing");
        assertThat(example.question()).isEqualTo(file.question());
        assertThat(example.variants()).isEqualTo(file.variants());
    }

    @Test
    void everyStepOfTheTableIsOne() throws IOException {
        int tried = 0;
        for (String row : table("| step | what it does |")) {
            for (String step : row.split("\\|", -1)[1].strip().replace("`", "").split(", ", -1)) {
                boolean isOwn = (step.equals("fence")
                                || Stream.of("r =", "store", "await").anyMatch(step::startsWith))
                        && !step.contains("done");
                Litmus litmus = LitmusParser.parse(
                        "page", """
                        title: T
                        question: Q?
                        why: W
                        memory
                          A: %sm = 0, buffer = 0
                          B: %srecord[2] = 0, inbox = 0
                        queues
                          q: A B
                        receives
                          q at B: inbox
                          q at A: none
                        thread A
                          %s
                          %s
                        can: inbox == 0
                        allowed: never
                        """.formatted(isOwn ? "x = 0, " : "", isOwn ? "" : "x = 0, ", before(step), step));
                assertThat(litmus.variants()
                                .getFirst()
                                .program()
                                .threads()
                                .getFirst()
                                .steps())
                        .as(step)
                        .hasSizeGreaterThan(1);
                tried++;
            }
        }
        assertThat(tried).isEqualTo(22);
    }

    // What a step needs before it.
    private static String before(String step) {
        return switch (step) {
            case "poll q" -> "WRITE q x <- 1";
            case "need r == 1" -> "r = load m";
            case "until a == b" -> "READ q m <- x\n  a = load m\n  b = load m";
            default -> "fence";
        };
    }
}
