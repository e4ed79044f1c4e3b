package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Documents and the comments of sources can be read once: no sentence of more than 30 words, and a noun for every
/// actor. Chinese documents have [rules of their own][ChineseProseTest].
class ProseDocTest {
    private static final Path ROOT =
            Path.of(Objects.requireNonNull(System.getProperty("verbena.root"), "verbena.root is set by the build"));
    private static final int WORDS_MAX = 30;

    private static final Pattern CODE = Pattern.compile("`[^`]*`");
    private static final Pattern LINK = Pattern.compile("!?\\[([^]]*)]\\([^)]*\\)");
    private static final Pattern SENTENCE_END = Pattern.compile("(?<=[.!?])[)*_\"]*\\s+");
    private static final Pattern LIST_ITEM = Pattern.compile("\\s*(?:[-*]|\\d+\\.) (.*)");
    /// Words for a thread, a peer or a process that has a name of its own.
    private static final Pattern NO_ACTOR =
            Pattern.compile("\\b(?:nobody|somebody|everybody|whoever)\\b|\\bunless told\\b", Pattern.CASE_INSENSITIVE);
    /// A thing is "that", a person is "who".
    private static final Pattern THING_WHO = Pattern.compile(
            "\\b(?:thread|peer|process|packet|device|queue pair|program|sender|receiver|requester|responder|engine|end"
                    + "|side|waiter|poller|owner|request|connection|server|client|task|link)(?:s|es)? who\\b",
            Pattern.CASE_INSENSITIVE);

    /// Lines of comments, one after the other.
    private static final Pattern COMMENT = Pattern.compile("(?m)(?:^[ \\t]*///?(?: .*)?\\n)+");
    private static final Pattern COMMENT_MARK = Pattern.compile("(?m)^[ \\t]*///? ?");
    private static final Pattern BLOCK_TAG = Pattern.compile("(?m)^@(?:(?:param|throws) \\S+|return|see.*)");
    private static final Pattern HALF_SENTENCE_END = Pattern.compile("[:;](?=\\s)");
    private static final Pattern REFERENCE = Pattern.compile("\\[[^\\]\\n]*](?!\\()");

    static Stream<String> rooms() throws IOException {
        try (Stream<Path> rooms = Files.list(ROOT);
                Stream<Path> workshop = Files.list(ROOT.resolve("workshop"))) {
            return Stream.concat(rooms, workshop)
                    .filter(folder -> Files.isDirectory(folder.resolve("src")))
                    .map(folder -> ROOT.relativize(folder).toString())
                    .sorted()
                    .toList()
                    .stream();
        }
    }

    @ParameterizedTest
    @MethodSource("rooms")
    void commentsCanBeReadOnce(String room) throws IOException {
        var findings = new ArrayList<String>();
        try (Stream<Path> files = Files.walk(ROOT.resolve(room).resolve("src"))) {
            for (Path file :
                    (Iterable<Path>) files.filter(each -> each.toString().endsWith(".java"))::iterator) {
                for (String finding : findings(comments(Files.readString(file)))) {
                    findings.add(file.getFileName() + ": " + finding);
                }
            }
        }
        assertThat(findings).isEmpty();
    }

    /// The comments of a source as a document: each is a paragraph, or several, and so is each tag. A colon or a
    /// semicolon ends a sentence here, because comments have lists behind the one and figures behind the other.
    private static String comments(String source) {
        return COMMENT.matcher(source)
                .results()
                .map(comment -> COMMENT_MARK.matcher(comment.group()).replaceAll(""))
                .map(text -> REFERENCE.matcher(text).replaceAll("name"))
                .map(text -> BLOCK_TAG.matcher(text).replaceAll("\n"))
                .map(text -> HALF_SENTENCE_END.matcher(text).replaceAll("."))
                .collect(Collectors.joining("\n\n"));
    }

    static Stream<String> documents() throws IOException {
        var names = new ArrayList<String>(List.of("examples/README.md"));
        for (String folder : List.of("", "docs", "docs/api", "docs/decisions", "docs/learn", "docs/status")) {
            try (var files = Files.newDirectoryStream(ROOT.resolve(folder), "*.md")) {
                files.forEach(file -> names.add(ROOT.relativize(file).toString()));
            }
        }
        names.removeIf(name -> name.endsWith(".zh-CN.md"));
        return names.stream().sorted();
    }

    @ParameterizedTest
    @MethodSource("documents")
    void aDocumentCanBeReadOnce(String document) throws IOException {
        assertThat(findings(Files.readString(ROOT.resolve(document)))).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("documents")
    void aLineOfProseHasNoMoreThan120Columns(String document) throws IOException {
        var found = new ArrayList<String>();
        boolean isCode = false;
        for (String line : Files.readAllLines(ROOT.resolve(document))) {
            isCode ^= line.strip().startsWith("```");
            boolean isProse = !isCode && !line.startsWith("|") && !line.startsWith("    ");
            if (isProse && line.codePointCount(0, line.length()) > 120) {
                found.add(line);
            }
        }
        assertThat(found).isEmpty();
    }

    @Test
    void everyKindOfFindingIsFound() {
        assertThat(findings("One " + "word ".repeat(WORDS_MAX) + "too many. Short."))
                .hasSize(1);
        assertThat(findings("One " + "word ".repeat(WORDS_MAX - 2) + "at the limit.\n- Short."))
                .hasSize(1);
        assertThat(findings("One " + "word ".repeat(WORDS_MAX - 3) + "within it.\n- Next item."))
                .isEmpty();
        assertThat(findings("The thread\nwho waits.")).hasSize(1);
        assertThat(findings("| table | Whoever comes |")).hasSize(1);
        assertThat(findings(
                        comments("    /// For whoever\n    /// waits.\n    ///\n    /// @param wait nobody knows\n")))
                .hasSize(2);
        assertThat(findings(comments("int a; // whoever\n"))).isEmpty();
        assertThat(findings("`nobody` and [a link](whoever.md)\n\n    nobody in code\n\n```\nnobody\n```\n"))
                .isEmpty();
    }

    /// What is wrong in a document, each with its sentence.
    private static List<String> findings(String document) {
        var findings = new ArrayList<String>();
        for (String paragraph : paragraphs(document)) {
            String prose =
                    LINK.matcher(CODE.matcher(paragraph).replaceAll("code")).replaceAll("$1");
            for (String sentence : SENTENCE_END.split(prose, -1)) {
                long words = Arrays.stream(sentence.split("\\s+", -1))
                        .filter(word -> word.chars().anyMatch(Character::isLetterOrDigit))
                        .count();
                if (words > WORDS_MAX && !paragraph.startsWith("|")) {
                    findings.add(words + " words: " + sentence);
                }
                if (NO_ACTOR.matcher(sentence).find()
                        || THING_WHO.matcher(sentence).find()) {
                    findings.add("name the actor: " + sentence);
                }
            }
        }
        return findings;
    }

    /// Paragraphs, items of lists and rows of tables, each on one line; headings and code are left out.
    private static List<String> paragraphs(String document) {
        var paragraphs = new ArrayList<String>();
        var paragraph = new StringBuilder();
        boolean fence = false;
        boolean list = false;
        for (String line : document.lines().toList()) {
            var item = LIST_ITEM.matcher(line);
            boolean code = fence || (line.startsWith("    ") && paragraph.isEmpty() && !list);
            boolean begins = line.isBlank() || line.startsWith("```") || line.startsWith("#") || line.startsWith("|");
            if (begins || item.matches()) {
                paragraphs.add(paragraph.toString());
                paragraph.setLength(0);
            }
            if (line.startsWith("```")) {
                fence = !fence;
            } else if (!code && !line.startsWith("#")) {
                list = item.matches() || (list && (line.isBlank() || line.startsWith(" ")));
                paragraph.append(item.matches() ? item.group(1) : line.strip()).append(line.isBlank() ? "" : " ");
            }
        }
        paragraphs.add(paragraph.toString());
        return paragraphs.stream()
                .map(String::strip)
                .filter(text -> !text.isEmpty())
                .toList();
    }
}
