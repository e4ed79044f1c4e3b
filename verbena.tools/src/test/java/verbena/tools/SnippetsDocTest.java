package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The code in the documents and in the comments of the API compiles: each piece by itself, with the names that the
/// text around it speaks of. README, `docs/start.md`, `docs/check.md`, `docs/junit.md` and `docs/netty.md` have
/// tests of their own.
class SnippetsDocTest {
    private static final Path ROOT =
            Path.of(Objects.requireNonNull(System.getProperty("verbena.root"), "verbena.root is set by the build"));

    private static final String IMPORTS = """
            import static java.lang.foreign.ValueLayout.JAVA_LONG;
            import java.io.*;
            import java.lang.foreign.*;
            import java.lang.invoke.*;
            import java.net.*;
            import java.nio.ByteBuffer;
            import java.nio.charset.StandardCharsets;
            import java.time.Duration;
            import java.util.*;
            import java.util.concurrent.*;
            import verbena.messages.*;
            import verbena.stream.*;
            import verbena.verbs.*;
            import verbena.verbs.cm.*;
            import verbena.verbs.WaitSource;
            """;

    @TempDir
    Path classes;

    /// Names of all pieces, which a piece may declare anew.
    private static final String NAMES = """
            volatile boolean isRunning;
            byte[] bytes, question;
            Duration limit;
            InetSocketAddress at, atFirst, atSecond;
            List<InetSocketAddress> addresses;
            ProtectionDomain pd;
            CompletionQueue cq;
            QueuePair qp;
            MemoryRegion region;
            Endpoint endpointOfTarget;
            int numberOfSrq;
            Connection connection;
            ByteBuffer answer;
            Log log;

            interface Log {
                void info(String format, Object... values);
            }

            void takeCompletions(CompletionQueue queue) {}

            void take(WorkCompletion completion) {}

            void serve(Connection connection) {}

            void serve(Connection reader, RemoteMemory table) {}
            """;

    /// What the names of a page mean, where pages differ.
    private record Page(String place, String names) {}

    private static final List<Page> PAGES = List.of(
            new Page("docs/connections.md", """
                    MemoryRegion memory, copy;
                    RemoteMemory theirs, table;
                    """),
            new Page("docs/messages.md", """
                    Worker worker, other;
                    RemoteWorker peer;
                    Waiter<Runnable> waiter;
                    MemorySegment memory, data, copy, header, latest;
                    byte[] request;
                    Context first, second;

                    MemorySegment answerTo(MemorySegment request) {
                        return request;
                    }

                    void handle(Received message, MemorySegment memory) {}
                    """),
            new Page("docs/ordering.md", """
                    static final int RECORD = 24;
                    static final VarHandle VERSION = JAVA_LONG.varHandle();
                    RemoteMemory remote;
                    MemoryRegion copy;
                    """),
            new Page("docs/stream.md", """
                    record Client(StreamChannel channel, ByteBuffer bytes) {}
                    """),
            new Page("docs/verbs.md", """
                    Context device;
                    CompletionChannel completions;
                    ConnectionListener listener;
                    """),
            new Page("verbena.messages/src/main/java", ""),
            new Page("verbena.stream/src/main/java", ""),
            new Page("verbena.verbs/src/main/java", """
                    CompletionChannel completions;
                    ConnectionListener listener;
                    Context context;
                    RemoteMemory remote;
                    """));

    /// A piece of code in a text.
    ///
    /// @param place the file and the line of its beginning
    private record Piece(String place, String code, String names) {
        private static final Pattern MEMBER = Pattern.compile(
                "(?m)\\A\\s*(@|\\w[^=;(]*\\) (throws \\w+ )?\\{|[^=;(]*\\(.*\\) (throws [\\w, ]+ )?\\{( //.*)?$)");
        private static final Pattern TYPE = Pattern.compile("(?m)^(public |final )*(class|record|interface) ");
        private static final Pattern STATEMENT = Pattern.compile("\\A\\s*(try|while|for|if|synchronized|//)\\b");

        /// Returns the source of a class that has it: as members if it declares some, else as the body of a method.
        String source(int number) {
            String text = code.replace("{ … }", "{ }").replaceAll("(?m)^import .*\n", "");
            boolean declares = TYPE.matcher(text).find()
                    || (MEMBER.matcher(text).find() && !STATEMENT.matcher(text).find());
            String body = declares ? text : "void run() throws Exception {\n" + text + "\n}\n";
            return IMPORTS + "class Piece" + number + " {\n" + NAMES + names + body + "}\n";
        }
    }

    private static Stream<Piece> pieces(Page page) throws IOException {
        try (Stream<Path> files = Files.walk(ROOT.resolve(page.place()))) {
            List<Piece> all = new ArrayList<>();
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                String name = ROOT.relativize(file).toString();
                all.addAll(pieces(name, Files.readString(file), page.names()));
            }
            return all.stream();
        }
    }

    private static List<Piece> pieces(String file, String text, String names) {
        List<Piece> found = new ArrayList<>();
        StringBuilder code = null;
        int number = 0;
        int begin = 0;
        for (String line : text.lines().toList()) {
            number++;
            String bare = file.endsWith(".java") ? line.replaceFirst("^ *(/// ?)?", "") : line;
            if (code == null) {
                if (bare.strip().equals("```java") && (!file.endsWith(".java") || line.contains("///"))) {
                    code = new StringBuilder();
                    begin = number;
                }
            } else if (bare.strip().equals("```")) {
                found.add(new Piece(file + ":" + begin, code.toString(), names));
                code = null;
            } else {
                code.append(bare).append('\n');
            }
        }
        return found;
    }

    /// Compiles pieces, and returns what is wrong: the place of a piece, the message, and the line of the code.
    private List<String> findings(List<Piece> pieces) {
        List<JavaFileObject> sources = new ArrayList<>();
        for (int i = 0; i < pieces.size(); i++) {
            String source = pieces.get(i).source(i);
            sources.add(
                    new SimpleJavaFileObject(URI.create("string:///Piece" + i + ".java"), JavaFileObject.Kind.SOURCE) {
                        @Override
                        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                            return source;
                        }
                    });
        }
        var diagnostics = new DiagnosticCollector<JavaFileObject>();
        var compiler = ToolProvider.getSystemJavaCompiler();
        boolean _ = compiler.getTask(
                        new StringWriter(),
                        null,
                        diagnostics,
                        List.of(
                                "-proc:none",
                                "-d",
                                classes.toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                "-XDshould-stop.ifError=FLOW"),
                        null,
                        sources)
                .call();
        List<String> findings = new ArrayList<>();
        for (var each : diagnostics.getDiagnostics()) {
            if (each.getKind() == Diagnostic.Kind.ERROR) {
                JavaFileObject source = each.getSource();
                int number =
                        source == null ? -1 : Integer.parseInt(source.getName().replaceAll("\\D", ""));
                findings.add((number < 0 ? "" : pieces.get(number).place() + ": ")
                        + each.getMessage(null)
                        + (number < 0
                                ? ""
                                : ": "
                                        + pieces.get(number)
                                                .source(number)
                                                .lines()
                                                .toList()
                                                .get((int) each.getLineNumber() - 1)
                                                .strip()));
            }
        }
        return findings;
    }

    @Test
    void eachPieceOfCodeCompiles() throws IOException {
        List<Piece> pieces = new ArrayList<>();
        for (Page page : PAGES) {
            pieces.addAll(pieces(page).toList());
        }
        assertThat(pieces).hasSizeGreaterThan(25);
        assertThat(findings(pieces)).isEmpty();
    }

    @Test
    void aPieceThatDoesNotCompileIsFound() {
        List<Piece> pieces = pieces("docs/made-up.md", """
                ```java
                Runnable next = () -> listener.accept(Duration.ZERO);
                ```
                """, "ConnectionListener listener;\n");
        assertThat(findings(pieces)).singleElement().asString().contains("docs/made-up.md:1", "InterruptedException");
    }
}
