package verbena.tools;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A document in English and the same one in Chinese. They are equal where a reader types, measures or follows:
/// blocks, code, figures and links.
record Translation(String english, String chinese) {
    private static final Path ROOT =
            Path.of(Objects.requireNonNull(System.getProperty("verbena.root"), "verbena.root is set by the build"));
    private static final String LEARN = "docs/learn/";

    private static final Pattern CODE = Pattern.compile("`[^`]+`");
    private static final Pattern LINK = Pattern.compile("\\[([^]]*)]\\(([^)\\s]*)\\)");
    private static final Pattern LIST_ITEM = Pattern.compile("(?:[-*]|\\d+\\.) .*");
    /// The words behind a line of code, which are prose.
    private static final Pattern COMMENT = Pattern.compile("(?m)(?<=\\s)(?:#|//) .*$");
    private static final Pattern FIGURE = Pattern.compile("(?<hex>0x\\p{XDigit}+)"
            + "|(?<number>\\d+(?:,\\d{3})*(?:\\.\\d+)?)"
            + " ?(?<scale>million|thousand|百万|万|亿)?"
            + " ?(?<unit>%|µs|微秒|ms|毫秒|ns|纳秒|s(?![\\p{Alpha}])|秒|min(?:utes)?|分钟|[KMGT]i?B(?:/s)?|[KMG]bit/s"
            + "|bytes?|字节|bits?|位|/s)?");
    private static final Map<String, Integer> SCALES = Map.of("thousand", 3, "万", 4, "million", 6, "百万", 6, "亿", 8);
    private static final Map<String, String> UNITS = Map.ofEntries(
            Map.entry("微秒", "µs"),
            Map.entry("毫秒", "ms"),
            Map.entry("纳秒", "ns"),
            Map.entry("秒", "s"),
            Map.entry("minutes", "min"),
            Map.entry("分钟", "min"),
            Map.entry("byte", "B"),
            Map.entry("bytes", "B"),
            Map.entry("字节", "B"),
            Map.entry("bits", "bit"),
            Map.entry("位", "bit"));

    /// A heading, a paragraph, an item of a list, a row of a table or a piece of code, on which headings it stands
    /// under.
    private record Block(int section, String kind, String text) {
        boolean isCode() {
            return kind.startsWith("code");
        }

        /// What is read, with the comments of code, without its targets of links.
        String prose() {
            if (isCode()) {
                return String.join(
                        "\n",
                        COMMENT.matcher(text)
                                .results()
                                .map(each -> each.group())
                                .toList());
            }
            return LINK.matcher(CODE.matcher(text).replaceAll("")).replaceAll("$1");
        }

        List<String> codes() {
            if (isCode()) {
                return List.of(COMMENT.matcher(text).replaceAll("#"));
            }
            return CODE.matcher(text)
                    .results()
                    .map(each -> each.group().replaceAll("\\s+", " "))
                    .toList();
        }
    }

    /// All pairs: a document that has a translation is one of them.
    static List<Translation> all() throws IOException {
        var all = new ArrayList<>(List.of(new Translation("README.md", chineseOf("README.md"))));
        for (String folder : List.of(LEARN, LEARN + "zh/")) {
            try (var files = Files.newDirectoryStream(ROOT.resolve(folder), "*.md")) {
                files.forEach(file ->
                        all.add(new Translation(LEARN + file.getFileName(), LEARN + "zh/" + file.getFileName())));
            }
        }
        return all.stream().distinct().toList();
    }

    String englishText() {
        return text(english);
    }

    String chineseText() {
        return text(chinese);
    }

    static String text(String document) {
        try {
            return Files.readString(ROOT.resolve(document));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// In what the two differ: nothing, when both say the same.
    ///
    /// @param englishText of the one, as it is or changed
    /// @param chineseText of the other
    List<String> differences(String englishText, String chineseText) {
        var findings = new ArrayList<String>();
        List<Block> here = withoutLanguageLine(englishText, languageLine("中文", english, chinese), findings);
        List<Block> there = withoutLanguageLine(chineseText, languageLine("English", chinese, english), findings);
        compare("blocks", shape(here), shape(there), findings);
        if (!findings.isEmpty()) {
            return findings;
        }
        for (int i = 0; i < here.size(); i++) {
            String where = "section " + here.get(i).section + ", block " + i;
            compare(where + ", code", here.get(i).codes(), there.get(i).codes(), findings);
            compare(where + ", links", links(english, here.get(i)), links(chinese, there.get(i)), findings);
        }
        Map<Integer, List<String>> figures = figures(there);
        figures(here)
                .forEach((section, each) -> compare(
                        "section " + section + ", figures", each, figures.getOrDefault(section, List.of()), findings));
        return findings;
    }

    private static void compare(String what, List<String> english, List<String> chinese, List<String> findings) {
        if (!english.equals(chinese)) {
            findings.add(what + ": " + english + " in English, " + chinese + " in Chinese");
        }
    }

    private static String languageLine(String word, String from, String to) {
        return "[" + word + "](" + folder(from).relativize(Path.of(to)) + ")";
    }

    /// The line that leads to the other language stands below the title, and nowhere else.
    private static List<Block> withoutLanguageLine(String text, String line, List<String> findings) {
        var blocks = new ArrayList<>(blocks(text));
        if (blocks.size() < 2 || !blocks.remove(1).text.equals(line)) {
            findings.add("below the title stands not: " + line);
        }
        return blocks;
    }

    private static List<String> shape(List<Block> blocks) {
        return blocks.stream().map(block -> block.section + " " + block.kind).toList();
    }

    private static Map<Integer, List<String>> figures(List<Block> blocks) {
        var figures = new TreeMap<Integer, List<String>>();
        for (Block block : blocks) {
            FIGURE.matcher(block.prose())
                    .results()
                    .map(each -> figure(FIGURE.matcher(each.group())))
                    .forEach(figures.computeIfAbsent(block.section, _ -> new ArrayList<>())::add);
        }
        return figures;
    }

    /// A figure in one form: `2.63 million/s` and `263 万/s` are the same.
    private static String figure(Matcher figure) {
        if (!figure.matches() || figure.group("hex") != null) {
            return figure.group();
        }
        var value = new BigDecimal(figure.group("number").replace(",", ""));
        String scale = figure.group("scale");
        String unit = Objects.requireNonNullElse(figure.group("unit"), "");
        String written = scale == null
                ? figure.group("number")
                : value.scaleByPowerOfTen(SCALES.get(scale)).toPlainString();
        return (written + " " + UNITS.getOrDefault(unit, unit)).strip();
    }

    /// The targets of links from the root, those of Chinese pages under their English names. What does not exist,
    /// or is a page of the other language, has a mark.
    private static List<String> links(String document, Block block) {
        if (block.isCode()) {
            return List.of();
        }
        return LINK.matcher(CODE.matcher(block.text).replaceAll(""))
                .results()
                .map(link -> target(document, link.group(2)))
                .toList();
    }

    private static String target(String document, String link) {
        if (link.contains("://")) {
            return link;
        }
        String file = folder(document)
                .resolve(link.replaceFirst("#.*", ""))
                .normalize()
                .toString();
        String anchor = link.replaceFirst("^[^#]*", "");
        if (!Files.exists(ROOT.resolve(file))) {
            return file + " (does not exist)" + anchor;
        }
        String chinese = chineseOf(file);
        boolean isChinese = document.equals(chineseOf(document));
        if (isChinese && !file.equals(chinese) && Files.exists(ROOT.resolve(chinese))) {
            return file + " (is there in Chinese)" + anchor;
        }
        return chinese + anchor;
    }

    /// Where a document lies in Chinese, if it is translated.
    private static String chineseOf(String document) {
        if (document.equals("README.md")) {
            return "README.zh-CN.md";
        }
        return document.replaceFirst("^" + LEARN + "(?!zh/)(?=[^/]+\\.md$)", LEARN + "zh/");
    }

    private static Path folder(String document) {
        return Objects.requireNonNullElse(Path.of(document).getParent(), Path.of(""));
    }

    /// Sections are counted, because their titles differ.
    private static List<Block> blocks(String document) {
        var blocks = new ArrayList<Block>();
        int section = 0;
        List<String> lines = document.lines().toList();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            int end = i + 1;
            String kind = "paragraph";
            if (line.isBlank()) {
                continue;
            } else if (line.startsWith("#")) {
                kind = line.replaceAll("[^#].*", "");
                section++;
            } else if (line.startsWith("```")) {
                kind = "code " + line;
                while (end < lines.size() && !lines.get(end).startsWith("```")) {
                    end++;
                }
                end++;
            } else if (line.startsWith("    ")) {
                kind = "code";
                end = endOfIndented(lines, end);
            } else if (line.startsWith("|")) {
                kind = "row of " + line.chars().filter(each -> each == '|').count();
            } else {
                kind = LIST_ITEM.matcher(line).matches() ? "item" : kind;
                end = endOfParagraph(lines, end);
            }
            int last = Math.min(end, lines.size());
            blocks.add(new Block(section, kind, String.join("\n", lines.subList(i, last))));
            i = last - 1;
        }
        return blocks;
    }

    private static int endOfIndented(List<String> lines, int from) {
        int end = from;
        while (end < lines.size() && lines.get(end).startsWith("    ")) {
            end++;
        }
        return end;
    }

    private static int endOfParagraph(List<String> lines, int from) {
        int end = from;
        while (end < lines.size() && !begins(lines.get(end))) {
            end++;
        }
        return end;
    }

    private static boolean begins(String line) {
        return line.isBlank()
                || line.startsWith("#")
                || line.startsWith("|")
                || line.startsWith("```")
                || LIST_ITEM.matcher(line).matches();
    }
}
