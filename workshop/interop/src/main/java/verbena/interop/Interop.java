package verbena.interop;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/// The program of `verbena engines`. It runs systems of the JVM, unmodified with the agent or over our transport. It
/// compares their data, and prints for each run a line with the share of the bytes that went by RDMA.
public final class Interop {
    private static final List<Row> TABLE = List.of(
            new Row("netty", "netty", "netty.NettyEcho", "netty-transport", true, false),
            new Row("http2", "netty", "netty.NettyHttp2", "netty-codec-http2", false, false),
            new Row("netty-native", "netty-native", "nettynative.NativeEcho", "netty-transport", true, false),
            new Row("http2-native", "netty-native", "nettynative.NativeHttp2", "netty-codec-http2", false, false),
            new Row("netty-suite", "netty-suite", "nettysuite.NioSuite", "netty-testsuite", false, false),
            new Row(
                    "suite-native",
                    "netty-suite-native",
                    "nettysuitenative.NativeSuite",
                    "netty-testsuite",
                    false,
                    false),
            new Row("grpc", "grpc", "grpc.GrpcCalls", "grpc-netty", true, true),
            new Row("grpc-native", "grpc-native", "grpcnative.NativeGrpc", "grpc-netty", false, false),
            new Row("spring", "spring", "spring.SpringPages", "spring-boot", false, false),
            new Row("spring-native", "spring-native", "springnative.NativeSpring", "spring-boot", false, false),
            new Row("jdk", "", "JdkHttp", "", true, true),
            new Row("jetty", "jetty", "jetty.JettyPages", "jetty-server", false, false),
            new Row("kafka", "kafka", "kafka.KafkaRecords", "kafka-clients", false, true),
            new Row("zookeeper", "zookeeper", "zookeeper.ZooKeeperNodes", "zookeeper", false, false),
            new Row("hazelcast", "hazelcast", "hazelcast.HazelcastMembers", "hazelcast", false, false),
            new Row("ratis", "ratis", "ratis.RatisLog", "ratis-grpc", false, false));

    private final Arguments arguments;
    private final Path agent;
    private int passed;
    private int failed;
    private int skipped;

    /// @param folder of its jars, in `workshop/interop/systems`; empty for a system of the JDK
    /// @param jar whose version is that of the system
    /// @param isTriedBadly as [Subject] has it
    /// @param isMeasured that it has figures
    private record Row(
            String name, String folder, String exercise, String jar, boolean isTriedBadly, boolean isMeasured) {
        Subject subject(Path root) throws IOException {
            if (folder.isEmpty()) {
                return new Subject(
                        name,
                        "JDK " + Runtime.version().feature(),
                        Interop.class.getPackageName() + "." + exercise,
                        System.getProperty("java.class.path"),
                        Subject.Carrier.AGENT,
                        isTriedBadly);
            }
            Path target =
                    root.resolve("workshop/interop/systems").resolve(folder).resolve("target");
            return new Subject(
                    name,
                    version(target.resolve("lib")),
                    Interop.class.getPackageName() + "." + exercise,
                    target.resolve("classes") + File.pathSeparator + target.resolve("lib") + "/*",
                    folder.endsWith("-native") ? Subject.Carrier.TRANSPORT : Subject.Carrier.AGENT,
                    isTriedBadly);
        }

        private String version(Path libraries) throws IOException {
            String form = jar + "-(\\d.*)\\.jar";
            try (Stream<Path> jars = Files.list(libraries)) {
                return jars.map(each -> each.getFileName().toString())
                        .filter(each -> each.matches(form))
                        .map(each -> each.replaceFirst(form, "$1"))
                        .findFirst()
                        .orElseThrow(() -> new IOException(libraries + " has no " + jar));
            }
        }
    }

    private Interop(Arguments arguments, Path agent) {
        this.arguments = arguments;
        this.agent = agent;
    }

    /// Runs what was asked for, and exits with the status.
    ///
    /// @param arguments the checkout, the agent's jar, then those of the user
    public static void main(String[] arguments) throws Exception {
        Path root = Path.of(arguments[0]);
        Arguments wanted;
        try {
            wanted = Arguments.parse(
                    List.of(arguments).subList(2, arguments.length),
                    TABLE.stream().map(Row::name).toList());
        } catch (IllegalArgumentException e) {
            System.err.println("verbena engines: " + e.getMessage() + "; see verbena engines --help");
            System.exit(2);
            return;
        }
        System.exit(new Interop(wanted, Path.of(arguments[1])).run(root) ? 0 : 1);
    }

    private boolean run(Path root) throws IOException, InterruptedException {
        return arguments.isFigures() ? measure(root) : check(root);
    }

    private boolean measure(Path root) throws IOException, InterruptedException {
        List<Subject> subjects = TABLE.stream()
                .filter(row -> row.isMeasured() && arguments.isWanted(row.name()))
                .flatMap(row -> subject(row, root).stream())
                .toList();
        if (subjects.isEmpty()) {
            System.out.println("verbena engines: nothing that was asked for has figures, or its jars are not there");
            return false;
        }
        return new FigureRounds(jvm()).run(subjects);
    }

    private Run.Jvm jvm() {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        return new Run.Jvm(java, agent, arguments.isSmall());
    }

    private boolean check(Path root) throws IOException, InterruptedException {
        for (Row row : TABLE) {
            if (arguments.isWanted(row.name())) {
                Optional<Subject> subject = subject(row, root);
                if (subject.isPresent()) {
                    for (Scene scene : scenes(subject.get())) {
                        run(subject.get(), scene);
                    }
                }
            }
        }
        System.out.println(passed + " passed, " + failed + " failed, " + skipped + " skipped");
        return failed == 0;
    }

    private Optional<Subject> subject(Row row, Path root) {
        try {
            return Optional.of(row.subject(root));
        } catch (IOException e) {
            skipped++;
            System.out.println(column(row.name(), 14) + "skipped: its jars are not there: " + e.getMessage());
            return Optional.empty();
        }
    }

    private List<Scene> scenes(Subject subject) {
        var scenes = new ArrayList<Scene>();
        scenes.add(Scene.over(arguments.device()));
        if (subject.isTriedBadly() && !arguments.isOnlyGood()) {
            if (subject.carrier() == Subject.Carrier.AGENT) {
                scenes.addAll(List.of(Scene.clientOnly(), Scene.serverOnly()));
            }
            scenes.addAll(List.of(Scene.killed(), Scene.lossy()));
        }
        return scenes;
    }

    private void run(Subject subject, Scene scene) throws IOException, InterruptedException {
        String title = column(subject.name(), 14) + column(subject.version(), 13) + column(scene.what(), 20);
        try {
            Run.Outcome found = new Run(jvm(), subject, scene).go();
            passed++;
            System.out.printf(
                    Locale.ROOT, "%s%5.1f s  %s  %s%n", title, found.seconds(), found.counted(), found.checked());
        } catch (RunFailed e) {
            failed++;
            System.out.println(title + "FAILED: " + e.getMessage());
            e.lastWords().forEach(line -> System.out.println("    " + line));
        }
    }

    private static String column(String text, int width) {
        return text + " ".repeat(Math.max(1, width - text.length()));
    }
}
