package verbena.tools.house;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.MemberRefEntry;
import java.nio.file.FileVisitOption;
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
import verbena.tools.house.House.Room;

/// House rules that no compiler knows, read from the class files of all modules.
class TidyTest {
    /// All rooms that are modules, but for the command line: that prints, and waits for people.
    private static final List<Room> LIBRARIES = House.modules().stream()
            .filter(room -> !room.name().equals("verbena.tools"))
            .toList();

    /// Everything that a class refers to: `java/lang/System.nanoTime` for members, `java/net/Socket` for
    /// classes.
    private record Scanned(String name, Set<String> refers) {}

    @Test
    void protocolsAskForNeitherTimeNorThreadsNorChanceNorTheWorld() throws IOException {
        assertOnly(
                TidyTest::isOfTheWorld,
                rooms("verbena.wire", "verbena.transport", "verbena.cm", "verbena.subnet"),
                // Captures are files.
                "verbena/wire/pcap/",
                // Its counters: the engine counts while any thread reads them.
                "verbena/cm/CmOutbox");
    }

    /// The same for a package of a room whose other packages wait.
    @Test
    void theProtocolOfMessagesAsksForNoneOfTheseEither() throws IOException {
        List<Scanned> classes = scan(rooms("verbena.messages").getFirst()).stream()
                .filter(one -> one.name.startsWith("verbena/messages/protocol/"))
                .toList();
        assertThat(classes).hasSizeGreaterThan(5);
        assertThat(classes).allSatisfy(one -> assertThat(one.refers).noneMatch(TidyTest::isOfTheWorld));
    }

    private static boolean isOfTheWorld(String reference) {
        return reference.startsWith("java/lang/System.nanoTime")
                || reference.startsWith("java/lang/System.currentTimeMillis")
                || reference.matches("java/time/(Instant|Clock|LocalDateTime|ZonedDateTime)\\.now")
                || reference.matches("java/lang/Thread(\\..*)?")
                || reference.startsWith("java/util/concurrent/")
                || reference.startsWith("java/net/")
                || reference.startsWith("java/nio/channels/")
                || reference.startsWith("java/nio/file/")
                || reference.startsWith("java/io/")
                || reference.matches("java/util/Random(\\..*)?")
                || reference.startsWith("java/security/SecureRandom")
                || reference.startsWith("java/lang/foreign/Linker");
    }

    /// A change of the clock changes no time-out, no retry and no order: what waits counts [System#nanoTime].
    @Test
    void protocolsDoNotReadTheWallClock() throws IOException {
        assertOnly(
                reference -> reference.startsWith("java/lang/System.currentTimeMillis")
                        || reference.matches("java/time/[A-Za-z]+\\.now")
                        || reference.startsWith("java/time/Clock.")
                        || reference.startsWith("java/util/Date")
                        || reference.startsWith("java/util/Calendar")
                        || reference.startsWith("java/util/Timer"),
                LIBRARIES,
                // When a device was opened, for people.
                "verbena/nic/observe/Management",
                // The beginning of a log, which is read beside those of other processes.
                "verbena/check/races/RaceLog",
                // When a packet was seen, for readers of the file.
                "verbena/nic/capture/Capture",
                // Compared with the kernel's stamp of the same clock: a jump costs the datagrams that wait at that
                // moment, as if they were lost.
                "verbena/nic/link/sharing/SharedAddress",
                // Whether a certificate has expired.
                "verbena/nic/link/psp/Certificates",
                // A completion's time on the wall clock, which a C program may ask for.
                "verbena/abi/verbs/CompletionQueueHandle");
    }

    @Test
    void functionsOfCAreLinkedInTwoRooms() throws IOException {
        assertOnly(
                reference -> reference.startsWith("java/lang/foreign/Linker"),
                LIBRARIES,
                "verbena/foreign/",
                "verbena/abi/");
    }

    @Test
    void librariesDoNotPrint() throws IOException {
        assertOnly(
                reference -> reference.matches("java/lang/System\\.(out|err)"),
                LIBRARIES,
                // A fault of ours inside a C program, which has no other log.
                "verbena/abi/Errno",
                // Findings, at the end of a process that was checked.
                "verbena/check/device/CheckProvider",
                // The line by which a test's program says that it is ready.
                "verbena/junit/TestPeer",
                // What it was told to print, at the end of a process, when loggers have ended.
                "verbena/nio/NioAgent");
    }

    @Test
    void librariesDoNotSleep() throws IOException {
        assertOnly(reference -> reference.equals("java/lang/Thread.sleep"), LIBRARIES);
    }

    @Test
    void noFileNamesAPathOfAMachine() throws IOException {
        var path = Pattern.compile("/(home|root|work|Users)/[a-z]");
        var found = new TreeSet<String>();
        try (Stream<Path> files = Files.walk(House.ROOT)) {
            for (Path file : (Iterable<Path>) files.filter(TidyTest::isOurText)::iterator) {
                int number = 0;
                for (String line : Files.readAllLines(file)) {
                    number++;
                    if (path.matcher(line).find() && !line.contains("Pattern.compile")) {
                        found.add(House.ROOT.relativize(file) + ":" + number + ": " + line.strip());
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

    /// Classes of these rooms do it only where the name begins with one of those that are excused. An excuse
    /// that no class needs any more is a failure too.
    private static void assertOnly(Predicate<String> does, List<Room> rooms, String... excused) throws IOException {
        var guilty = new TreeSet<String>();
        var unneeded = new TreeSet<>(List.of(excused));
        for (Room room : rooms) {
            List<Scanned> classes = scan(room);
            assertThat(classes).as("classes of %s", room.name()).hasSizeGreaterThan(2);
            for (Scanned one : classes) {
                List<String> excuses =
                        Stream.of(excused).filter(one.name::startsWith).toList();
                for (String reference : one.refers) {
                    if (does.test(reference)) {
                        unneeded.removeAll(excuses);
                        if (excuses.isEmpty()) {
                            guilty.add(one.name + " refers to " + reference);
                        }
                    }
                }
            }
        }
        assertThat(guilty).isEmpty();
        assertThat(unneeded).as("excused for nothing").isEmpty();
    }

    private static List<Room> rooms(String... names) {
        return House.modules().stream()
                .filter(room -> List.of(names).contains(room.name()))
                .toList();
    }

    private static List<Scanned> scan(Room room) throws IOException {
        var found = new ArrayList<Scanned>();
        try (Stream<Path> files = Files.walk(room.classes(), FileVisitOption.FOLLOW_LINKS)) {
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
