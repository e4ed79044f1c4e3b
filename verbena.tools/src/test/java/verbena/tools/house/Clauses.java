package verbena.tools.house;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Which clauses of the standards stand at rules, and which at scripts: `./verbena test --clauses`. Looked at
/// are chapters 9, 10 and 12 of IBTA's first volume, and RFC 5040, 5041 and 5044.
///
/// A clause is cited in a comment by its document and number: `IBTA 9.7.5.1`, `IBTA C9-88`, `RFC 5044 7.1.2`, and
/// several by `IBTA 10.6.3.1, 10.6.7`. Nothing else is needed: where the comment stands says what it cites.
///
/// Run by the JDK from this one file too, so it needs none other.
public final class Clauses {
    /// Code, in which a string may have slashes, and the comment behind it.
    private static final Pattern LINE =
            Pattern.compile("(?m)^((?:[^\"/\\n]|\"(?:[^\"\\\\\\n]|\\\\.)*\"|/(?!/))*)(?:///* ?([^\\n]*))?");
    private static final String NUMBER = "(?:[Co](?:9|10|12)-\\d[\\d.]*\\d|[Co](?:9|10|12)-\\d|\\d+(?:\\.\\d+)*)";
    private static final Pattern CITED =
            Pattern.compile("\\b(IBTA|RFC (?:5040|5041|5044))((?:,| and| or)? " + NUMBER + "(?![\\w-]))+");
    private static final Pattern ONE = Pattern.compile("(?<=[ ,])" + NUMBER);
    private static final Pattern PARTS = Pattern.compile("\\d+");

    /// By document, then by number.
    private static final Comparator<String> ORDER = Comparator.comparing(Clauses::sortable);

    /// Where a comment stands.
    public enum Place {
        /// Code of the product.
        RULE("rule"),
        /// The oracle of the random walks, which is checked against the product all the time.
        MODEL("model"),
        /// A script, a case of the suite, or another test.
        SCRIPT("script");

        private final String label;

        Place(String label) {
            this.label = label;
        }
    }

    /// For each place and clause the classes that cite it.
    private final Map<Place, Map<String, Set<String>>> cited = Map.of(
            Place.RULE, new TreeMap<>(ORDER), Place.MODEL, new TreeMap<>(ORDER), Place.SCRIPT, new TreeMap<>(ORDER));

    private Clauses() {}

    /// Prints the report.
    ///
    /// @param arguments the folder of the project
    public static void main(String[] arguments) throws IOException {
        System.out.print(of(Path.of(arguments[0])).report());
    }

    /// Reads all sources.
    public static Clauses of(Path root) throws IOException {
        var clauses = new Clauses();
        try (Stream<Path> rooms = Files.list(root)) {
            for (Path room : (Iterable<Path>) rooms.filter(one -> Files.isDirectory(one.resolve("src")))::iterator) {
                try (Stream<Path> files = Files.walk(room.resolve("src"))) {
                    for (Path file :
                            (Iterable<Path>) files.filter(one -> one.toString().endsWith(".java"))::iterator) {
                        clauses.read(room.getFileName().toString(), file);
                    }
                }
            }
        }
        return clauses;
    }

    private void read(String room, Path file) throws IOException {
        boolean isTest = file.toString().contains("/src/test/");
        Place place;
        if (file.toString().contains("/sim/model/") && !file.toString().endsWith("Test.java")) {
            place = Place.MODEL;
        } else if (isTest || room.equals("verbena.conformance")) {
            place = Place.SCRIPT;
        } else if (room.equals("verbena.sim")) {
            place = Place.MODEL;
        } else if (room.matches("verbena\\.(verbs|wire|transport|cm|nic|ibverbs|abi|provider|foreign)")) {
            place = Place.RULE;
        } else {
            return;
        }
        String name = file.getFileName().toString().replace(".java", "");
        if (name.startsWith("Clauses")) {
            return; // itself and its test, whose citations are examples
        }
        Matcher citation = CITED.matcher(comments(Files.readString(file)));
        while (citation.find()) {
            String document = citation.group(1);
            Matcher one = ONE.matcher(citation.group().substring(document.length()));
            while (one.find()) {
                if (isLookedAt(document, one.group())) {
                    cited.get(place)
                            .computeIfAbsent(document + " " + one.group(), clause -> new TreeSet<>())
                            .add(name);
                }
            }
        }
    }

    /// The text of all comments, each on one line.
    private static String comments(String source) {
        var text = new StringBuilder();
        boolean isOpen = false;
        for (Matcher line = LINE.matcher(source); line.find(); ) {
            boolean isComment = line.group(2) != null;
            text.append(isOpen && isComment && line.group(1).isBlank() ? " " : "\n");
            text.append(isComment ? line.group(2) : "");
            isOpen = isComment;
        }
        return text.toString();
    }

    /// Not the numbers of RFCs in a list of them, and no other chapters.
    private static boolean isLookedAt(String document, String number) {
        return document.equals("IBTA")
                ? number.matches("(9|10|12)(\\..*)?|[Co].*")
                : number.length() < 4 || number.contains(".");
    }

    private static String sortable(String clause) {
        var padded = new StringBuilder();
        Matcher part = PARTS.matcher(clause);
        int from = 0;
        while (part.find()) {
            padded.append(clause, from, part.start()).append(String.format("%6s", part.group()));
            from = part.end();
        }
        return padded.append(clause.substring(from)).toString();
    }

    /// Clauses that stand at a rule, and neither they nor a part of theirs at a script.
    public Set<String> withoutScript() {
        var found = new TreeSet<>(ORDER);
        Set<String> scripts = cited.get(Place.SCRIPT).keySet();
        for (String clause : cited.get(Place.RULE).keySet()) {
            if (scripts.stream().noneMatch(script -> script.equals(clause) || script.startsWith(clause + "."))) {
                found.add(clause);
            }
        }
        return found;
    }

    private String report() {
        var all = new TreeSet<>(ORDER);
        cited.values().forEach(place -> all.addAll(place.keySet()));
        Set<String> without = withoutScript();
        var text = new StringBuilder();
        for (String clause : all) {
            text.append(without.contains(clause) ? "- " : "  ").append(clause).append('\n');
            for (Place place : Place.values()) {
                Set<String> classes = cited.get(place).get(clause);
                if (classes != null) {
                    text.append("        ")
                            .append(String.format("%-7s", place.label))
                            .append(String.join(", ", classes))
                            .append('\n');
                }
            }
        }
        return text.append(all.size())
                .append(" clauses, ")
                .append(without.size())
                .append(" of them (-) at a rule and at no script\n")
                .toString();
    }
}
