package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.verbs.ConnectionException;

/// What the documents promise of their programs is true.
class ReadmeTest {
    private static final Path ROOT = Path.of(System.getProperty("verbena.root"));

    @Test
    void theProgramOfTheReadmeDoesWhatItSays(@TempDir Path classes) throws Exception {
        assertThat(printedBy("README.md", "It prints `(.*?)`", classes)).isEqualTo("written from afar");
    }

    @Test
    void theServerAndItsClientDoWhatTheFirstStepsSay(@TempDir Path classes) throws Exception {
        assertThat(printedBy("docs/start.md", "The server prints `(.*?)`", classes))
                .isEqualTo("written from afar");
    }

    @Test
    void theReadmeIsShort() throws Exception {
        assertThat(Files.readAllLines(ROOT.resolve("README.md")))
                .hasSizeLessThanOrEqualTo(120)
                .allSatisfy(line -> assertThat(line.length()).as(line).isLessThanOrEqualTo(220));
    }

    @Test
    void theProgramWithoutAConnectionManagerDoesWhatTheMapSays(@TempDir Path classes) throws Exception {
        assertThat(printedBy("docs/verbs.md", "It prints `(.*?)`", classes)).isEqualTo("SUCCESS: written from afar");
    }

    /// What the page shows is part of a program that [#eachExamplePrintsWhatItSays] runs.
    @Test
    void thePageOfOrderShowsItsExample() throws Exception {
        String example = Files.readString(ROOT.resolve("examples/Seqlock.java"));
        assertThat(Pattern.compile("```java\n(.*?)```", Pattern.DOTALL)
                        .matcher(Files.readString(ROOT.resolve("docs/ordering.md")))
                        .results()
                        .map(match -> match.group(1).indent(4)))
                .hasSize(2)
                .allSatisfy(part -> assertThat(example).contains(part));
    }

    @Test
    void thePageOfStreamsShowsItsExample() throws Exception {
        String example = Files.readString(ROOT.resolve("examples/Streams.java"));
        var shown = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(ROOT.resolve("docs/stream.md")));
        assertThat(shown.find()).isTrue();
        assertThat(example).contains(shown.group(1));
    }

    @Test
    void theCallsOfTheReadmeAreTheExample() throws Exception {
        String example = Files.readString(ROOT.resolve("examples/Calls.java"));
        String readme = Files.readString(ROOT.resolve("README.md"));
        var shown = Pattern.compile("and prints\n`(.*?)`:\n\n```java\n(.*?)```", Pattern.DOTALL)
                .matcher(readme);
        assertThat(shown.find()).isTrue();
        assertThat(example)
                .contains("/// Prints: " + shown.group(1) + "\n", shown.group(2).indent(8));
    }

    /// Compiles the programs of a document and runs them at once; what they print is what the document promises.
    private String printedBy(String document, String promise, Path classes) throws Exception {
        String text = Files.readString(ROOT.resolve(document));
        var promised = Pattern.compile(promise).matcher(text);
        assertThat(promised.find()).as("what it prints").isTrue();
        List<String> sources = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL)
                .matcher(text)
                .results()
                .map(match -> match.group(1))
                .filter(source -> source.contains("void main"))
                .toList();
        assertThat(sources).as("programs").isNotEmpty();
        compile(sources, classes);
        assertThat(printed(sources, classes)).isEqualTo(promised.group(1));
        return promised.group(1);
    }

    @Test
    void eachExamplePrintsWhatItSays(@TempDir Path classes) throws Exception {
        var examples = new ArrayList<String>();
        try (var files = Files.newDirectoryStream(ROOT.resolve("examples"), "*.java")) {
            for (Path file : files) {
                examples.add(Files.readString(file));
            }
        }
        assertThat(examples).hasSizeGreaterThan(5);
        compile(examples, classes);
        for (String example : examples) {
            var promised = Pattern.compile("/// Prints: (.*)").matcher(example);
            assertThat(promised.find()).as("what it prints").isTrue();
            assertThat(printed(List.of(example), classes)).isEqualTo(promised.group(1));
            assertThat(example.lines().count()).as(name(example)).isLessThanOrEqualTo(80);
            assertThat(Files.readString(ROOT.resolve("examples/README.md"))).contains(name(example) + ".java");
        }
    }

    @Test
    void theReplicatedStoreIsAsShortAsItsPageSays() throws Exception {
        long lines = 0;
        try (var files = Files.newDirectoryStream(ROOT.resolve("examples/kv"), "*.java")) {
            for (Path file : files) {
                lines += Files.readAllLines(file).stream()
                        .filter(line -> !line.isBlank() && !line.strip().startsWith("//"))
                        .count();
            }
        }
        assertThat(lines).isLessThanOrEqualTo(800);
        assertThat(Files.readString(ROOT.resolve("examples/README.md"))).contains("in " + lines + " lines of code");
    }

    /// What programs print that run at once.
    private String printed(List<String> sources, Path classes) throws Exception {
        var printed = new ByteArrayOutputStream();
        PrintStream before = System.out;
        try (var loader = new URLClassLoader(
                        new URL[] {classes.toUri().toURL()}, getClass().getClassLoader());
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
            var running = new ArrayList<Future<?>>();
            for (String source : sources) {
                var main = loader.loadClass(name(source)).getMethod("main", String[].class);
                running.add(threads.submit(() -> {
                    untilSomebodyListens(main);
                    return true;
                }));
            }
            for (Future<?> program : running) {
                program.get(60, TimeUnit.SECONDS);
            }
        } finally {
            System.setOut(before);
        }
        return printed.toString(StandardCharsets.UTF_8).strip();
    }

    /// A client that comes too early is told so, and comes again.
    private static void untilSomebodyListens(Method main) throws Exception {
        while (true) {
            try {
                main.invoke(null, (Object) new String[0]);
                return;
            } catch (InvocationTargetException e) {
                if (!(e.getCause() instanceof ConnectionException refused)
                        || refused.reason() != ConnectionException.Reason.REFUSED) {
                    throw e;
                }
            }
        }
    }

    private static String name(String source) {
        var name = Pattern.compile("public class (\\w+)").matcher(source);
        assertThat(name.find()).isTrue();
        return name.group(1);
    }

    private static void compile(List<String> sources, Path classes) {
        var messages = new StringWriter();
        var files = sources.stream()
                .map(source ->
                        new SimpleJavaFileObject(
                                URI.create("string:///" + name(source) + ".java"), JavaFileObject.Kind.SOURCE) {
                            @Override
                            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                                return source;
                            }
                        })
                .toList();
        boolean compiled = ToolProvider.getSystemJavaCompiler()
                .getTask(
                        messages,
                        null,
                        null,
                        List.of("-d", classes.toString(), "-cp", System.getProperty("java.class.path")),
                        null,
                        files)
                .call();
        assertThat(compiled).as(messages.toString()).isTrue();
    }

    @Test
    void everyFileThatTheReadmeLinksToExists() throws Exception {
        var link = Pattern.compile("\\]\\(([^)#:]+)\\)").matcher(Files.readString(ROOT.resolve("README.md")));
        while (link.find()) {
            assertThat(ROOT.resolve(link.group(1))).exists();
        }
    }
}
