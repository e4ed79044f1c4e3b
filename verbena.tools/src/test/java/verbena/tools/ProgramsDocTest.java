package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// The list of programs that were tried (`docs/nio.md`) has all that `./verbena engines` runs, with the versions that
/// it runs.
class ProgramsDocTest {
    private static final Path ROOT = Path.of(System.getProperty("verbena.root"));
    private static final String JDK = "JDK 25";

    /// A system of others.
    ///
    /// @param name of its row in `docs/nio.md`, or of its beginning
    /// @param version the property of its version, in the pom of all systems or of all rooms
    /// @param runs the names by which `./verbena engines` runs it
    private record Program(String name, String version, List<String> runs) {}

    private static final List<Program> PROGRAMS = List.of(
            new Program("Netty, NIO transport", "netty.version", List.of("netty", "netty-native")),
            new Program("Netty, HTTP/2", "netty.version", List.of("http2", "http2-native")),
            new Program("Netty's own test suite", "netty.version", List.of("netty-suite", "suite-native")),
            new Program("gRPC for Java", "grpc.version", List.of("grpc", "grpc-native")),
            new Program("Spring Boot", "spring-boot.version", List.of("spring", "spring-native")),
            new Program("the JDK's", JDK, List.of("jdk")),
            new Program("Jetty", "jetty.version", List.of("jetty")),
            new Program("Kafka", "kafka.version", List.of("kafka")),
            new Program("ZooKeeper", "zookeeper.version", List.of("zookeeper")),
            new Program("Hazelcast", "hazelcast.version", List.of("hazelcast")),
            new Program("Ratis", "ratis.version", List.of("ratis")),
            new Program("Spark", "spark.version", List.of()));

    private static String read(String file) throws IOException {
        return Files.readString(ROOT.resolve(file));
    }

    private static List<String> all(String form, String text) {
        return Pattern.compile(form, Pattern.MULTILINE)
                .matcher(text)
                .results()
                .map(each -> each.group(1))
                .toList();
    }

    private static String version(String property) throws IOException {
        if (property.equals(JDK)) {
            return JDK;
        }
        String poms = read("pom.xml") + read("workshop/interop/systems/pom.xml");
        return all("<" + Pattern.quote(property) + ">(.*?)(?:\\.Final)?</", poms)
                .getFirst();
    }

    @Test
    void eachProgramIsInTheListWithTheVersionThatRuns() throws IOException {
        String list = read("docs/nio.md").replaceFirst("(?s).*\n## Programs that were tried\n", "");
        List<MatchResult> rows = Pattern.compile("^\\| ([^|]+) \\| ([^|]+) \\|.*\\|$", Pattern.MULTILINE)
                .matcher(list)
                .results()
                .filter(row -> !row.group(1).equals("program"))
                .toList();
        assertThat(rows).hasSameSizeAs(PROGRAMS);
        for (int i = 0; i < rows.size(); i++) {
            assertThat(rows.get(i).group(1)).startsWith(PROGRAMS.get(i).name());
            assertThat(rows.get(i).group(2))
                    .as(rows.get(i).group(1))
                    .isEqualTo(version(PROGRAMS.get(i).version()));
        }
    }

    @Test
    void eachRunIsOfAProgramInTheList() throws IOException {
        List<String> runs = all(
                "new Row\\(\\s*\"([a-z0-9-]+)\"", read("workshop/interop/src/main/java/verbena/interop/Interop.java"));
        assertThat(runs)
                .hasSizeGreaterThan(10)
                .containsExactlyInAnyOrderElementsOf(PROGRAMS.stream()
                        .flatMap(program -> program.runs().stream())
                        .toList());
    }
}
