package verbena.tools.house;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import verbena.tools.house.House.Room;
import verbena.tools.house.House.Source;

/// Guards the order inside packages: files that name each other, directly or by others, are a circle. None of them
/// can be read, tested or moved without the rest. `circles.txt` has the circles of today; the list may only become
/// shorter. After a change for the better, `-Dverbena.circles.write=true` writes it anew.
///
/// `circles-excepted.txt` has the families that are one thing in several files, each with a reason.
class CirclesTest {
    private static final Path LIST = House.ROOT.resolve("verbena.tools/src/test/circles.txt");
    private static final Path EXCEPTED = House.ROOT.resolve("verbena.tools/src/test/circles-excepted.txt");
    private static final int FILES_MAX = 120;
    private static final int KNOT_MAX = 3;
    private static final Pattern NAME = Pattern.compile("\\b[A-Z]\\w*");

    @Test
    void theCirclesOfFilesAreThoseOfTheList() throws IOException {
        List<String> found = circles();
        if (Boolean.getBoolean("verbena.circles.write")) {
            Files.write(LIST, found);
        }
        List<String> listed = Files.readAllLines(LIST);
        assertThat(found)
                .as("circles of files, %d files in all; of the list %d", files(found), files(listed))
                .isEqualTo(listed);
    }

    @Test
    void circlesAreFewAndSmall() throws IOException {
        Set<String> excepted = excepted();
        List<List<String>> others = Files.readAllLines(LIST).stream()
                .map(line -> paths(line).stream()
                        .filter(path -> !excepted.contains(path))
                        .toList())
                .toList();
        assertThat(others.stream().mapToInt(List::size).sum())
                .as("files in circles, but for those excepted by name")
                .isLessThan(FILES_MAX);
        assertThat(others).allSatisfy(knot -> assertThat(knot).hasSizeLessThanOrEqualTo(KNOT_MAX));
    }

    @Test
    void everyExceptionIsACircleAndHasAReason() throws IOException {
        Set<String> listed = Files.readAllLines(LIST).stream()
                .flatMap(line -> paths(line).stream())
                .collect(Collectors.toSet());
        assertThat(listed).containsAll(excepted());
        assertThat(Files.readAllLines(EXCEPTED))
                .allSatisfy(line -> assertThat(line).matches("[\\w.]+:( \\w+){2,} # \\w.{15,}"));
    }

    @Test
    void aCircleIsFoundHoweverLong() {
        Map<String, List<String>> names = Map.of(
                "A", List.of("B"), "B", List.of("C"), "C", List.of("A"), "D", List.of("A", "E"), "E", List.of("E"));

        assertThat(knots(names.keySet().stream().sorted().toList(), names::get))
                .containsExactly(List.of("A", "B", "C"));
    }

    @Test
    void twoCirclesWithOneFileInCommonAreOne() {
        Map<String, List<String>> names =
                Map.of("A", List.of("B"), "B", List.of("A", "C"), "C", List.of("B", "D"), "D", List.of());

        assertThat(knots(List.of("A", "B", "C", "D"), names::get)).containsExactly(List.of("A", "B", "C"));
    }

    private static Set<String> excepted() throws IOException {
        return Files.readAllLines(EXCEPTED).stream()
                .flatMap(line -> paths(line.substring(0, line.indexOf(" #"))).stream())
                .collect(Collectors.toSet());
    }

    /// The files of a line, each with its package.
    private static List<String> paths(String line) {
        String[] parts = line.split(":? ");
        return Arrays.stream(parts).skip(1).map(name -> parts[0] + "." + name).toList();
    }

    private static int files(List<String> circles) {
        return circles.stream().mapToInt(line -> line.split(" ").length - 1).sum();
    }

    /// A line for each: the package, then the names of the files.
    private static List<String> circles() {
        var packages = new TreeMap<String, Map<String, Source>>();
        for (Room room : House.rooms()) {
            for (Source source : room.sources()) {
                packages.computeIfAbsent(source.packageName(), _ -> new TreeMap<>())
                        .put(source.simpleName(), source);
            }
        }
        var lines = new ArrayList<String>();
        packages.forEach((name, sources) -> {
            Map<String, List<String>> named = sources.values().stream()
                    .collect(Collectors.toMap(Source::simpleName, source -> namedBy(source, sources)));
            for (List<String> knot : knots(List.copyOf(sources.keySet()), named::get)) {
                lines.add(name + ": " + String.join(" ", knot));
            }
        });
        return lines;
    }

    private static List<String> namedBy(Source source, Map<String, Source> sources) {
        var found = new TreeSet<String>();
        Matcher each = NAME.matcher(source.code());
        while (each.find()) {
            if (sources.containsKey(each.group())) {
                found.add(each.group());
            }
        }
        return List.copyOf(found);
    }

    /// The strongly connected components of more than one node, each sorted, in the order of their first nodes
    /// (Tarjan 1972).
    private static List<List<String>> knots(List<String> nodes, Function<String, List<String>> next) {
        var search = new Search(next);
        nodes.forEach(search::visit);
        search.found.sort((a, b) -> a.getFirst().compareTo(b.getFirst()));
        return search.found;
    }

    private static final class Search {
        private final Function<String, List<String>> next;
        private final Map<String, Integer> order = new HashMap<>();
        private final Map<String, Integer> low = new HashMap<>();
        private final Deque<String> open = new ArrayDeque<>();
        private final List<List<String>> found = new ArrayList<>();

        Search(Function<String, List<String>> next) {
            this.next = next;
        }

        void visit(String node) {
            if (order.putIfAbsent(node, order.size()) != null) {
                return;
            }
            low.put(node, order.get(node));
            open.push(node);
            for (String other : next.apply(node)) {
                boolean isNew = !order.containsKey(other);
                visit(other);
                if (isNew || open.contains(other)) {
                    low.merge(node, low.get(other), Math::min);
                }
            }
            if (low.get(node).equals(order.get(node))) {
                close(node);
            }
        }

        private void close(String first) {
            var knot = new ArrayList<String>();
            do {
                knot.add(open.pop());
            } while (!knot.getLast().equals(first));
            if (knot.size() > 1) {
                knot.sort(null);
                found.add(knot);
            }
        }
    }
}
