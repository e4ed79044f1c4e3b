package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import verbena.conformance.Case;
import verbena.conformance.Suite;

/// `docs/conformance-mapping.md`: what it names has to exist, and what it counts has to be there.
class ConformanceMappingTest {
    private static final Path ROOT =
            Path.of(Objects.requireNonNull(System.getProperty("verbena.root"), "verbena.root is set by the build"));
    private static final Pattern CASE = Pattern.compile("`([a-z]\\w*\\.[a-z]\\w*)`");
    private static final Pattern TEST = Pattern.compile("`(\\w+Test)`");
    /// `| file | 3: one, two, three | what says the same |`
    private static final Pattern ROW = Pattern.compile("\\| [^|]* \\| (\\d+): ([^|]+) \\| (.+) \\|");

    private static String text() throws IOException {
        return Files.readString(ROOT.resolve("docs/conformance-mapping.md"));
    }

    private static List<MatchResult> rows(String section) throws IOException {
        String from = text().split("\n## " + section + "\n", -1)[1].split("\n## ", -1)[0];
        return ROW.matcher(from).results().toList();
    }

    @Test
    void everyCaseThatIsNamedExists() throws IOException {
        var cases = Suite.cases().stream().map(Case::name).collect(Collectors.toSet());
        var topics = Suite.cases().stream().map(Case::topic).collect(Collectors.toSet());
        var named = CASE.matcher(text())
                .results()
                .map(found -> found.group(1))
                .filter(name -> topics.contains(name.substring(0, name.indexOf('.'))))
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(named).hasSizeGreaterThan(150).isSubsetOf(cases);
    }

    @Test
    void everyTestThatIsNamedExists() throws IOException {
        var files = new TreeSet<String>();
        try (Stream<Path> all = Files.walk(ROOT)) {
            all.map(path -> Objects.toString(path.getFileName()))
                    .filter(name -> name.endsWith("Test.java"))
                    .forEach(name -> files.add(name.substring(0, name.length() - ".java".length())));
        }
        var named = TEST.matcher(text())
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(named).isNotEmpty().isSubsetOf(files);
    }

    @Test
    void theCountsAreThoseOfTheRows() throws IOException {
        for (String section : List.of("google/rdma-unit-test", "rdma-core")) {
            int tests = 0;
            int withCounterpart = 0;
            for (MatchResult row : rows(section)) {
                int names = row.group(2).split(", ", -1).length;
                assertThat(Integer.parseInt(row.group(1))).as(row.group()).isEqualTo(names);
                tests += names;
                withCounterpart += row.group(3).startsWith("`") ? names : 0;
            }
            assertThat(text())
                    .containsPattern("\\| " + section + "[^|]* \\| " + tests + " \\| " + withCounterpart + " \\| "
                            + (tests - withCounterpart) + " \\|");
        }
    }

    @Test
    void noTestIsNamedTwice() throws IOException {
        for (String section : List.of("google/rdma-unit-test", "rdma-core")) {
            assertThat(rows(section)).isNotEmpty();
        }
        assertThat(rows("google/rdma-unit-test").stream()
                        .flatMap(row -> Stream.of(row.group(2).split(", ", -1))))
                .doesNotHaveDuplicates();
    }
}
