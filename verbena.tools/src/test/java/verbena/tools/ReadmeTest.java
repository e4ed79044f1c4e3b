package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.StringWriter;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What the README promises is true.
class ReadmeTest {
    private static final Path ROOT = Path.of(System.getProperty("verbena.root"));

    @Test
    void theProgramCompilesRunsAndPrintsWhatTheReadmeSays(@TempDir Path classes) throws Exception {
        String readme = Files.readString(ROOT.resolve("README.md"));
        var program = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(readme);
        assertThat(program.find()).as("a program in the README").isTrue();
        var promise = Pattern.compile("It prints `(.*?)`").matcher(readme);
        assertThat(promise.find()).as("what it prints").isTrue();

        var messages = new StringWriter();
        String source = program.group(1);
        var file = new SimpleJavaFileObject(URI.create("string:///Hello.java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return source;
            }
        };
        boolean compiled = ToolProvider.getSystemJavaCompiler()
                .getTask(
                        messages,
                        null,
                        null,
                        List.of("-d", classes.toString(), "-cp", System.getProperty("java.class.path")),
                        null,
                        List.of(file))
                .call();
        assertThat(compiled).as(messages.toString()).isTrue();

        var printed = new ByteArrayOutputStream();
        PrintStream before = System.out;
        try (var loader = new URLClassLoader(
                new URL[] {classes.toUri().toURL()}, getClass().getClassLoader())) {
            System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
            loader.loadClass("Hello").getMethod("main", String[].class).invoke(null, (Object) new String[0]);
        } finally {
            System.setOut(before);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8).strip()).isEqualTo(promise.group(1));
    }

    @Test
    void everyFileThatTheReadmeLinksToExists() throws Exception {
        var link = Pattern.compile("\\]\\(([^)#:]+)\\)").matcher(Files.readString(ROOT.resolve("README.md")));
        while (link.find()) {
            assertThat(ROOT.resolve(link.group(1))).exists();
        }
    }
}
