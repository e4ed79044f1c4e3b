package verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.MemberRefEntry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// House rules that no compiler knows, read from the class files of all modules.
class TidyTest {
    private static final Path ROOT = Path.of(System.getProperty("verbena.root"));
    private static final List<String> LIBRARIES = List.of(
            "verbena.verbs",
            "verbena.wire",
            "verbena.transport",
            "verbena.nic",
            "verbena.ibverbs",
            "verbena.sim",
            "verbena.conformance");

    /// Everything that a class refers to: `java/lang/System.nanoTime` for members, `java/net/Socket` for classes.
    private record Scanned(String name, Set<String> refers) {}

    @Test
    void protocolsAskForNeitherTimeNorThreadsNorChanceNorTheWorld() throws IOException {
        Predicate<String> forbidden = reference -> reference.startsWith("java/lang/System.nanoTime")
                || reference.startsWith("java/lang/System.currentTimeMillis")
                || reference.matches("java/time/(Instant|Clock|LocalDateTime|ZonedDateTime)\\.now")
                || reference.matches("java/lang/Thread(\\..*)?")
                || reference.startsWith("java/util/concurrent/")
                || reference.startsWith("java/net/")
                || reference.startsWith("java/nio/channels/")
                || reference.startsWith("java/nio/file/")
                || reference.startsWith("java/io/")
                || reference.matches("java/util/Random(\\..*)?")
                || reference.startsWith("java/security/")
                || reference.startsWith("java/lang/foreign/Linker");
        assertNobody(
                forbidden,
                List.of("verbena.wire", "verbena.transport"),
                name ->
                        // Captures are files.
                        name.startsWith("verbena/wire/pcap/"));
    }

    /// Whoever sets the clock changes no time-out, no retry and no order: what waits counts [System#nanoTime].
    @Test
    void protocolsDoNotReadTheWallClock() throws IOException {
        Set<String> excused = Set.of(
                // When a device was opened, for people.
                "verbena/nic/Management",
                // When a packet was seen, for who reads the file.
                "verbena/nic/capture/Capture",
                // Compared with the kernel's stamp of the same clock: a jump costs the datagrams that wait at that
                // moment,
                // as if they were lost.
                "verbena/nic/link/SharedAddress");
        assertNobody(
                reference -> reference.startsWith("java/lang/System.currentTimeMillis")
                        || reference.matches("java/time/[A-Za-z]+\\.now")
                        || reference.startsWith("java/time/Clock.")
                        || reference.startsWith("java/util/Date")
                        || reference.startsWith("java/util/Calendar")
                        || reference.startsWith("java/util/Timer"),
                List.of(
                        "verbena.verbs",
                        "verbena.wire",
                        "verbena.transport",
                        "verbena.cm",
                        "verbena.nic",
                        "verbena.sim"),
                excused::contains);
    }

    @Test
    void systemCallsLiveInOnePackageAndOneRoom() throws IOException {
        assertNobody(
                reference -> reference.startsWith("java/lang/foreign/Linker"),
                LIBRARIES,
                name -> name.startsWith("verbena/nic/link/") || name.startsWith("verbena/ibverbs/"));
    }

    @Test
    void librariesDoNotPrint() throws IOException {
        assertNobody(reference -> reference.matches("java/lang/System\\.(out|err)"), LIBRARIES, name -> false);
    }

    @Test
    void librariesDoNotSleep() throws IOException {
        assertNobody(reference -> reference.equals("java/lang/Thread.sleep"), LIBRARIES, name -> false);
    }

    @Test
    void noFileNamesAPathOfAMachine() throws IOException {
        var path = Pattern.compile("/(home|root|work|Users)/[a-z]");
        var found = new TreeSet<String>();
        try (Stream<Path> files = Files.walk(ROOT)) {
            for (Path file : (Iterable<Path>) files.filter(TidyTest::isOurText)::iterator) {
                int number = 0;
                for (String line : Files.readAllLines(file)) {
                    number++;
                    if (path.matcher(line).find() && !line.contains("Pattern.compile")) {
                        found.add(ROOT.relativize(file) + ":" + number + ": " + line.strip());
                    }
                }
            }
        }
        assertThat(found).isEmpty();
    }

    private static boolean isOurText(Path file) {
        String name = file.toString();
        return Files.isRegularFile(file)
                && !name.contains("/target/")
                && !name.contains("/.git/")
                && !name.contains("/.verbena/")
                && name.matches(".*\\.(java|md|xml|sh|properties)|.*/(verbena|run|lab)");
    }

    private static void assertNobody(Predicate<String> does, List<String> modules, Predicate<String> excused)
            throws IOException {
        var guilty = new TreeSet<String>();
        int scanned = 0;
        for (String module : modules) {
            for (Scanned one : scan(module)) {
                scanned++;
                for (String reference : one.refers) {
                    if (does.test(reference) && !excused.test(one.name)) {
                        guilty.add(one.name + " refers to " + reference);
                    }
                }
            }
        }
        assertThat(scanned).as("classes looked at").isGreaterThan(10 * modules.size());
        assertThat(guilty).isEmpty();
    }

    private static List<Scanned> scan(String module) throws IOException {
        var found = new ArrayList<Scanned>();
        try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("target/classes"))) {
            for (Path file : (Iterable<Path>) files.filter(f -> f.toString().endsWith(".class"))::iterator) {
                ClassModel model = ClassFile.of().parse(file);
                var refers = new TreeSet<String>();
                for (var entry : model.constantPool()) {
                    if (entry instanceof MemberRefEntry member) {
                        refers.add(member.owner().asInternalName() + "."
                                + member.name().stringValue());
                    } else if (entry instanceof ClassEntry type) {
                        refers.add(type.asInternalName());
                    }
                }
                found.add(new Scanned(model.thisClass().asInternalName(), refers));
            }
        }
        return found;
    }
}
