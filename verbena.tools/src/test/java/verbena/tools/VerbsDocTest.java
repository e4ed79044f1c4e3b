package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The documents name classes and members of the code. What they name has to exist.
class VerbsDocTest {
    private static final Path ROOT =
            Path.of(Objects.requireNonNull(System.getProperty("verbena.root"), "verbena.root is set by the build"));
    private static final Path HEADER = Path.of("/usr/include/infiniband/verbs.h");
    private static final List<String> PACKAGES = List.of(
            "verbena.verbs",
            "verbena.verbs.cm",
            "verbena.verbs.counting",
            "verbena.verbs.internal",
            "verbena.verbs.spi",
            "verbena.verbs.waiting",
            "verbena.foreign",
            "verbena.foreign.crypto",
            "verbena.foreign.linux",
            "verbena.foreign.rdma",
            "verbena.provider",
            "verbena.wire",
            "verbena.wire.cm",
            "verbena.wire.ib",
            "verbena.wire.iwarp",
            "verbena.wire.mad",
            "verbena.wire.roce",
            "verbena.wire.psp",
            "verbena.wire.pcap",
            "verbena.wire.notation",
            "verbena.transport",
            "verbena.transport.congestion",
            "verbena.transport.iwarp",
            "verbena.transport.memory",
            "verbena.transport.near",
            "verbena.transport.psp",
            "verbena.transport.queue",
            "verbena.transport.rc",
            "verbena.transport.unreliable",
            "verbena.transport.weak",
            "verbena.cm",
            "verbena.cm.mpa",
            "verbena.cm.noise",
            "verbena.subnet",
            "verbena.subnet.node",
            "verbena.subnet.rmpp",
            "verbena.subnet.agent",
            "verbena.subnet.routing",
            "verbena.subnet.manager",
            "verbena.subnet.fabric",
            "verbena.subnet.link",
            "verbena.subnet.topology",
            "verbena.nic",
            "verbena.nic.capture",
            "verbena.nic.device",
            "verbena.nic.engine",
            "verbena.nic.kind",
            "verbena.nic.iwarp",
            "verbena.nic.roce",
            "verbena.nic.shm",
            "verbena.nic.ib",
            "verbena.nic.link",
            "verbena.nic.link.psp",
            "verbena.nic.link.tap",
            "verbena.nic.link.sharing",
            "verbena.nic.link.udp",
            "verbena.nic.link.shm",
            "verbena.nic.link.ethernet",
            "verbena.nic.link.tcp",
            "verbena.nic.link.ib",
            "verbena.nic.fabric",
            "verbena.nic.management",
            "verbena.nic.observe",
            "verbena.ibverbs",
            "verbena.ibverbs.lib",
            "verbena.ibverbs.objects",
            "verbena.ibverbs.cm",
            "verbena.stream",
            "verbena.stream.protocol",
            "verbena.stream.waiting",
            "verbena.nio",
            "verbena.abi",
            "verbena.abi.verbs",
            "verbena.abi.cm",
            "verbena.abi.rsocket",
            "verbena.abi.entry",
            "verbena.messages",
            "verbena.messages.protocol",
            "verbena.messages.rail",
            "verbena.sim",
            "verbena.sim.card",
            "verbena.sim.ethernet",
            "verbena.sim.scenario",
            "verbena.sim.traffic",
            "verbena.check",
            "verbena.check.litmus",
            "verbena.check.device",
            "verbena.check.races",
            "verbena.check.rules",
            "verbena.conformance",
            "verbena.conformance.fixture",
            "verbena.tools",
            "verbena.tools.decode",
            "verbena.tools.explain",
            "verbena.tools.files",
            "verbena.tools.kit",
            "verbena.tools.observe",
            "verbena.tools.pingpong",
            "verbena.tools.report",
            "java.lang",
            "java.lang.foreign",
            "java.lang.invoke",
            "java.net",
            "java.nio.channels",
            "java.nio.channels.spi",
            "java.nio.file",
            "java.security",
            "java.time",
            "java.util.random",
            "java.util.zip");
    /// `Class`, `Class.Nested`, `Class.CONSTANT`, `Class#member`: a capital, then a small letter somewhere.
    private static final Pattern NAME = Pattern.compile(
            "`(?<class>[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*)(?<parts>(?:\\.[A-Z]\\w*)*)(?:#(?<member>\\w+)(?:\\([^`]*\\))?)?`");

    @Test
    void everyClassAndMemberNamedInTheMapOfVerbsExists() throws IOException {
        assertThat(namesThatDoNotExist("docs/verbs.md")).isEmpty();
        assertThat(NAME.matcher(Files.readString(ROOT.resolve("docs/verbs.md")))
                        .results()
                        .count())
                .isGreaterThan(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ARCHITECTURE.md",
                "HACKING.md",
                "docs/abi.md",
                "docs/card.md",
                "docs/files.md",
                "docs/ibverbs.md",
                "docs/internals.md",
                "docs/conformance.md",
                "docs/connections.md",
                "docs/explain.md",
                "docs/messages.md",
                "docs/ordering.md",
                "docs/reliability.md",
                "docs/security.md",
                "docs/seeing.md",
                "docs/simulation.md",
                "docs/stream.md",
                "docs/subnet.md",
                "docs/where.md"
            })
    void everyClassAndMemberNamedInADocumentExists(String document) throws IOException {
        assertThat(namesThatDoNotExist(document)).isEmpty();
    }

    @Test
    void everyDecisionNamesWhatExistsAndIsListed() throws IOException {
        Path decisions = ROOT.resolve("docs/decisions");
        String list = Files.readString(decisions.resolve("README.md"));
        try (Stream<Path> files = Files.list(decisions)) {
            assertThat(files.map(file -> file.getFileName().toString()).filter(name -> !name.equals("README.md")))
                    .isNotEmpty()
                    .allSatisfy(name -> {
                        assertThat(list).contains("(" + name + ")");
                        assertThat(namesThatDoNotExist("docs/decisions/" + name))
                                .isEmpty();
                    });
        }
    }

    @Test
    void everyFunctionStructAndEnumOfTheHeaderIsInTheMap() throws IOException {
        assumeTrue(Files.exists(HEADER), "libibverbs-dev is not installed: " + HEADER + " is what to compare with");
        String header = Files.readString(HEADER).replaceAll("(?s)/\\*.*?\\*/", "");
        var names = new TreeSet<String>();
        Stream.of("\\b(ibv_\\w+)\\s*\\(", "(?m)^(?:enum|struct|union)\\s+(ibv_\\w+)\\s*\\{")
                .flatMap(pattern -> Pattern.compile(pattern).matcher(header).results())
                .map(match -> match.group(1))
                .filter(name -> !name.matches("ibv_flow_spec\\w*|ibv_flow_\\w*filter"))
                .forEach(names::add);
        String map = Files.readString(ROOT.resolve("docs/verbs.md"));
        names.removeIf(
                name -> Pattern.compile("\\b" + name + "\\b").matcher(map).find());
        assertThat(names)
                .as("names of verbs.h that docs/verbs.md does not have")
                .isEmpty();
    }

    private static List<String> namesThatDoNotExist(String document) throws IOException {
        return NAME.matcher(Files.readString(ROOT.resolve(document)))
                .results()
                .filter(name -> !exists(name) && !isElsewhere(name.group("class")))
                .map(MatchResult::group)
                .distinct()
                .toList();
    }

    /// What stands on Netty and Spark, tests of other rooms, and all of the workshop are not on the class path of
    /// this room.
    private static boolean isElsewhere(String name) {
        try (Stream<Path> rooms = Files.list(ROOT);
                Stream<Path> workshop = Files.list(ROOT.resolve("workshop"))) {
            return Stream.concat(
                            rooms.map(room -> room.resolve("src/test/java")),
                            Stream.concat(
                                            workshop,
                                            Stream.of(
                                                            "verbena.netty",
                                                            "verbena.junit",
                                                            "verbena.micrometer",
                                                            "verbena.opentelemetry",
                                                            "verbena.spark")
                                                    .map(ROOT::resolve))
                                    .flatMap(room -> Stream.of("src/main/java", "src/test/java")
                                            .map(room::resolve)))
                    .filter(Files::isDirectory)
                    .anyMatch(sources -> hasFile(sources, name + ".java"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean hasFile(Path folder, String name) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.anyMatch(file -> file.endsWith(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean exists(MatchResult name) {
        return PACKAGES.stream()
                .map(at -> find(at + "." + name.group("class")))
                .flatMap(Optional::stream)
                .anyMatch(type -> exists(type, name.group("parts"), name.group("member")));
    }

    /// @param parts nested classes, or a constant, each after a dot
    private static boolean exists(Class<?> type, String parts, String member) {
        if (!parts.isEmpty()) {
            String first = parts.substring(1).replaceAll("\\..*", "");
            String rest = parts.substring(1 + first.length());
            return Arrays.stream(type.getDeclaredFields())
                            .anyMatch(field -> field.getName().equals(first))
                    || find(type.getName() + "$" + first)
                            .filter(nested -> exists(nested, rest, member))
                            .isPresent();
        }
        return member == null
                || Stream.of(type.getMethods(), type.getDeclaredMethods())
                        .flatMap(Arrays::stream)
                        .map(Method::getName)
                        .anyMatch(member::equals);
    }

    private static Optional<Class<?>> find(String name) {
        try {
            return Optional.of(Class.forName(name, false, VerbsDocTest.class.getClassLoader()));
        } catch (ClassNotFoundException e) {
            return Optional.empty();
        }
    }
}
