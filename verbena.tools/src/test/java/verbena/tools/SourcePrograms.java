package verbena.tools;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
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
import verbena.verbs.ConnectionException;

/// SourcePrograms of documents and examples, which are compiled and run in this process.
public final class SourcePrograms {
    /// The name of a program that names no class.
    private static final String COMPACT = "Program";

    private static final Pattern CLASS = Pattern.compile("public class (\\w+)");
    private static final Pattern PROMISE = Pattern.compile("/// Prints: (.*)");

    private SourcePrograms() {}

    /// Returns the sources of all examples that are one file each.
    public static List<String> examples() throws IOException {
        var all = new ArrayList<String>();
        try (var files = Files.newDirectoryStream(Cli.root().resolve("examples"), "*.java")) {
            for (Path file : files) {
                all.add(Files.readString(file));
            }
        }
        return all;
    }

    /// Returns what an example says that it prints.
    public static String promised(String example) {
        var promised = PROMISE.matcher(example);
        if (!promised.find()) {
            throw new AssertionError(name(example) + " does not say what it prints");
        }
        return promised.group(1);
    }

    public static String name(String source) {
        var name = CLASS.matcher(source);
        return name.find() ? name.group(1) : COMPACT;
    }

    /// Compiles sources into a folder.
    public static void compile(List<String> sources, Path classes) {
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
        boolean isCompiled = ToolProvider.getSystemJavaCompiler()
                .getTask(
                        messages,
                        null,
                        null,
                        List.of("-d", classes.toString(), "-cp", System.getProperty("java.class.path")),
                        null,
                        files)
                .call();
        if (!isCompiled) {
            throw new AssertionError(messages.toString());
        }
    }

    /// Returns what compiled programs print that run at once.
    public static String printed(List<String> sources, Path classes) throws Exception {
        var printed = new ByteArrayOutputStream();
        PrintStream before = System.out;
        try (var loader =
                        new URLClassLoader(new URL[] {classes.toUri().toURL()}, SourcePrograms.class.getClassLoader());
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
            var running = new ArrayList<Future<?>>();
            for (String source : sources) {
                Class<?> program = loader.loadClass(name(source));
                running.add(threads.submit(() -> {
                    untilSomebodyListens(program);
                    return true;
                }));
            }
            try {
                for (Future<?> program : running) {
                    program.get(60, TimeUnit.SECONDS);
                }
            } finally {
                threads.shutdownNow(); // a program that hangs would not end for this
            }
        } finally {
            System.setOut(before);
        }
        return printed.toString(StandardCharsets.UTF_8).strip();
    }

    /// Runs a program. A client that comes too early is told so, and comes again.
    private static void untilSomebodyListens(Class<?> program) throws Exception {
        while (true) {
            try {
                main(program);
                return;
            } catch (InvocationTargetException e) {
                if (!(e.getCause() instanceof ConnectionException refused)
                        || refused.reason() != ConnectionException.Reason.REFUSED) {
                    throw e;
                }
            }
        }
    }

    private static void main(Class<?> program) throws Exception {
        if (program.getName().equals(COMPACT)) {
            var made = program.getDeclaredConstructor();
            made.setAccessible(true);
            Method main = program.getDeclaredMethod("main");
            main.setAccessible(true);
            main.invoke(made.newInstance());
        } else {
            program.getMethod("main", String[].class).invoke(null, (Object) new String[0]);
        }
    }
}
