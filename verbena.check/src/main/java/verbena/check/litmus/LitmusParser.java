package verbena.check.litmus;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import verbena.check.litmus.Litmus.Variant;
import verbena.check.litmus.Program.Queue;
import verbena.check.litmus.Program.Strand;
import verbena.check.litmus.Program.Word;

/// Reads the notation of a litmus. A line at the margin begins a section; indented lines belong to it; `#` begins a
/// comment. What a cure does not say anew is as in the program before it.
public final class LitmusParser {
    private static final Pattern SECTION = Pattern.compile("(title|question|why|can|allowed|see|cure): *(.*)");
    private static final Pattern THREAD = Pattern.compile("thread (\\w+)");
    private static final Pattern WORDS = Pattern.compile("(\\w+): (.+)");
    private static final Pattern WORD = Pattern.compile("([a-z]\\w*)(?:\\[(\\d)])? = (\\w+)");
    private static final Pattern QUEUE = Pattern.compile("(\\w+): (\\w+) (\\w+)( relaxed)?");
    private static final Pattern RECEIVES = Pattern.compile("(\\w+) at (\\w+): (.+)");
    /// The most threads, and steps of one.
    private static final int MOST_THREADS = 4;

    private static final int MOST_STEPS = 16;

    private final String name;
    private final String[] lines;
    private final Map<String, String> texts = new LinkedHashMap<>();
    private final List<Variant> variants = new ArrayList<>();
    private final List<Strand> threads = new ArrayList<>();
    private @Nullable Condition condition;
    private String cure = "";
    private final Scope scope;

    private LitmusParser(String name, String text) {
        this.name = name;
        lines = text.lines()
                .map(line -> line.replaceFirst("\\s*#.*", "").stripTrailing())
                .toArray(String[]::new);
        scope = new Scope(name, lines);
    }

    /// Reads a litmus.
    ///
    /// @throws IllegalArgumentException that names the line, when it is not in the notation
    public static Litmus parse(String name, String text) {
        return new LitmusParser(name, text).litmus();
    }

    private Litmus litmus() {
        while (scope.line < lines.length) {
            String line = lines[scope.line];
            if (line.isEmpty()) {
                scope.line++;
            } else {
                section(line);
            }
        }
        end();
        return new Litmus(name, text("title"), text("question"), text("why"), variants);
    }

    private void section(String line) {
        Matcher section = SECTION.matcher(line);
        Matcher thread = THREAD.matcher(line);
        if (section.matches()) {
            String key = section.group(1);
            if (key.equals("cure")) {
                end();
            }
            int begin = scope.line;
            var text = new StringBuilder(section.group(2));
            for (String more : body()) {
                text.append(text.isEmpty() ? "" : " ").append(more);
            }
            int behind = scope.line;
            scope.line = begin; // which a mistake in it is told with
            switch (key) {
                case "cure" -> cure = text.toString();
                case "can" -> condition = condition(text.toString());
                default -> {
                    if (texts.put(key, text.toString()) != null) {
                        throw scope.wrong("'" + key + "' is there twice");
                    }
                }
            }
            scope.line = behind;
        } else if (line.equals("memory")) {
            scope.words.clear();
            body(this::words);
        } else if (line.equals("queues")) {
            scope.queues.clear();
            body(this::queue);
        } else if (line.equals("receives")) {
            body(this::receives);
        } else if (thread.matches()) {
            thread(thread.group(1));
        } else {
            throw scope.wrong(
                    "begins no section: title, question, why, memory, queues, receives, thread NODE, can, allowed,"
                            + " see or cure");
        }
    }

    /// Returns the indented lines of a section, and goes on behind them.
    private List<String> body() {
        var body = new ArrayList<String>();
        body(body::add);
        return body;
    }

    private void body(Consumer<String> each) {
        scope.line++;
        while (scope.line < lines.length && (lines[scope.line].isEmpty() || lines[scope.line].startsWith(" "))) {
            if (!lines[scope.line].isEmpty()) {
                each.accept(lines[scope.line].strip());
            }
            scope.line++;
        }
    }

    // ---- what a program has

    private void words(String line) {
        Matcher words = WORDS.matcher(line);
        if (!words.matches()) {
            throw scope.wrong("is no 'NODE: WORD = VALUE, …'");
        }
        for (String each : words.group(2).split(", ", -1)) {
            Matcher word = WORD.matcher(each);
            if (!word.matches()) {
                throw scope.wrong("'" + each + "' is no 'WORD = VALUE' or 'WORD[COUNT] = VALUE'");
            }
            int initial = scope.number(word.group(3));
            String array = word.group(1);
            if (word.group(2) == null) {
                add(new Word(array, array, words.group(1), initial));
            } else {
                for (int i = 0; i < Integer.parseInt(word.group(2)); i++) {
                    add(new Word(array + "." + i, array, words.group(1), initial));
                }
            }
        }
    }

    private void add(Word word) {
        if (scope.words.put(word.name(), word) != null) {
            throw scope.wrong("'" + word.name() + "' is there twice");
        }
    }

    private void queue(String line) {
        Matcher queue = QUEUE.matcher(line);
        if (!queue.matches()) {
            throw scope.wrong("is no 'QUEUE: NODE NODE'");
        }
        String one = queue.group(2);
        String other = queue.group(3);
        if (one.equals(other)) {
            throw scope.wrong("a queue pair is between two nodes");
        }
        scope.queues.put(queue.group(1), new Queue(queue.group(1), one, other, queue.group(4) != null, Map.of()));
    }

    private void receives(String line) {
        Matcher receives = RECEIVES.matcher(line);
        if (!receives.matches()) {
            throw scope.wrong("is no 'QUEUE at NODE: ARRAY, …'");
        }
        String node = receives.group(2);
        Queue queue = scope.queue(receives.group(1), node);
        var lists = new ArrayList<List<String>>();
        for (String each : receives.group(3).split(", ", -1)) {
            lists.add(each.equals("none") ? List.of() : scope.array(each, node));
        }
        var all = new LinkedHashMap<>(queue.receives());
        all.put(node, lists);
        scope.queues.put(queue.name(), new Queue(queue.name(), queue.one(), queue.other(), queue.relaxed(), all));
    }

    private void thread(String node) {
        if (scope.words.values().stream().noneMatch(word -> word.node().equals(node))
                && scope.queues.values().stream().noneMatch(each -> each.isBetween(node))) {
            throw scope.wrong("node '" + node + "' has neither memory nor a queue");
        }
        if (threads.size() == MOST_THREADS) {
            throw scope.wrong("at most " + MOST_THREADS + " threads");
        }
        var steps = new ArrayList<Step>();
        var parser = new StepParser(scope, node, threads);
        body(line -> steps.add(parser.step(line)));
        if (steps.isEmpty() || steps.size() > MOST_STEPS) {
            throw scope.wrong("a thread has 1 to " + MOST_STEPS + " steps");
        }
        long others = threads.stream().filter(each -> each.node().equals(node)).count();
        threads.add(new Strand(others == 0 ? node : node + (others + 1), node, steps));
    }

    private Condition condition(String text) {
        return new Condition(Stream.of(text.split(" \\|\\| ", -1))
                .map(all ->
                        Stream.of(all.split(" && ", -1)).map(scope::comparison).toList())
                .toList());
    }

    // ---- the end of a program

    private void end() {
        if (threads.isEmpty()) {
            throw scope.wrong(cure.isEmpty() ? "a program needs a thread" : "a cure needs threads of its own");
        }
        if (condition == null) {
            throw scope.wrong("'can' is missing");
        }
        List<String> registers = threads.stream()
                .flatMap(thread -> StepParser.registers(thread.steps()))
                .toList();
        for (String each : condition.names()) {
            if (!scope.isWord(each) && !registers.contains(each)) {
                throw scope.wrong("can: nothing is named '" + each + "'");
            }
        }
        String allowed = text("allowed");
        variants.add(new Variant(
                cure,
                new Program(new LinkedHashMap<>(scope.words), new LinkedHashMap<>(scope.queues), threads, condition),
                level(allowed),
                texts.getOrDefault("see", "")));
        texts.remove("allowed");
        texts.remove("see");
        threads.clear();
    }

    private Optional<Level> level(String text) {
        if (text.equals("never")) {
            return Optional.empty();
        }
        return Optional.of(IntStream.range(0, Level.values().length)
                .mapToObj(i -> Level.values()[i])
                .filter(level -> level.text().equals(text.toLowerCase(Locale.ROOT)))
                .findFirst()
                .orElseThrow(() -> scope.wrong("allowed: strong, card, standard or never, got '" + text + "'")));
    }

    private String text(String key) {
        String text = texts.get(key);
        if (text == null) {
            throw scope.wrong("'" + key + "' is missing");
        }
        return text;
    }
}
