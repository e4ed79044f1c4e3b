package verbena.tools.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.tools.files.Request.Option;
import verbena.tools.kit.CommandFailed;

/// Files and trees, both ways, over each device and by each mode.
@Timeout(180)
class CopyTest {
    /// Small chunks and few slots: every file of some size has many of the one and waits for the other.
    static final Terms SMALL = new Terms(4096, 3, Mode.WRITE, Checksum.CRC32C);

    private static final Instant LONG_AGO = Instant.parse("2001-02-03T04:05:06.789012345Z");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"rocev2, WRITE", "rocev2, READ", "iwarp, WRITE", "iwarp, READ"})
    void filesOfAllSizesGoThereAndComeBack(String device, Mode mode) throws Exception {
        Terms terms = SMALL.with(mode);
        Path source = folder.resolve("source");
        for (int size : new int[] {0, 1, 4095, 4096, 4097, 3 * 4096, 100_001}) {
            write(source.resolve("of " + size), size);
        }
        Files.setLastModifiedTime(source, FileTime.from(LONG_AGO));
        try (FilesFixture fixture = FilesFixture.serving(folder.resolve("served"), device)) {
            fixture.put(terms, source, "there", Option.RECURSIVE);
            fixture.get(terms, "there", Files.createDirectory(folder.resolve("back")), Option.RECURSIVE);
        }

        assertSameTree(source, folder.resolve("served/there"));
        assertSameTree(source, folder.resolve("back/there"));
    }

    @Test
    void aTreeKeepsNamesLinksPermissionsAndTimes() throws Exception {
        Path tree = folder.resolve("tree");
        write(tree.resolve("a/b/c/deep"), 5000);
        write(tree.resolve("schön €.txt"), 10);
        write(tree.resolve("a b\nc'\"*"), 11);
        Files.createDirectories(tree.resolve("empty"));
        Files.createSymbolicLink(tree.resolve("a/link"), Path.of("../a/b/c/deep"));
        Files.createSymbolicLink(tree.resolve("a/nowhere"), Path.of("gone"));
        Files.createSymbolicLink(tree.resolve("a/secret"), Path.of("/etc/passwd"));
        Files.createSymbolicLink(tree.resolve("up"), Path.of("../../outside"));
        permissions(tree.resolve("a/b/c/deep"), "r--r-----");
        permissions(tree.resolve("a/b/c"), "r-xr-x---");
        permissions(tree.resolve("empty"), "rwx--x--x");
        Files.setLastModifiedTime(tree.resolve("a/b/c"), FileTime.from(LONG_AGO));
        Files.setLastModifiedTime(tree, FileTime.from(LONG_AGO));
        Heard heard;
        try (FilesFixture fixture = FilesFixture.serving(folder.resolve("served"), "rocev2")) {
            heard = fixture.put(SMALL, tree, "", Option.RECURSIVE);
        }

        assertThat(heard.said)
                .containsEntry("tree/a/secret", "left out: a link to outside of what is copied")
                .containsEntry("tree/up", "left out: a link to outside of what is copied")
                .containsEntry("tree/a/b", "made")
                .containsEntry("tree/a/b/c/deep", "done");
        Files.delete(tree.resolve("a/secret"));
        Files.delete(tree.resolve("up"));
        Files.setLastModifiedTime(tree, FileTime.from(LONG_AGO));
        Files.setLastModifiedTime(tree.resolve("a"), Files.getLastModifiedTime(folder.resolve("served/tree/a")));
        assertSameTree(tree, folder.resolve("served/tree"));
        permissions(tree.resolve("a/b/c"), "rwx------");
        permissions(folder.resolve("served/tree/a/b/c"), "rwx------");
    }

    @Test
    void aNameOfUnfinishedFilesIsLeftOutAndSaid() throws Exception {
        List<String> names = List.of(".a.verbena-part", ".a.verbena-journal", ".verbena-new-a", "a.verbena-part");
        for (String name : names) {
            write(folder.resolve("tree").resolve(name), 10);
        }
        try (FilesFixture fixture = FilesFixture.serving(folder.resolve("served"), "rocev2")) {
            Heard up = fixture.put(SMALL, folder.resolve("tree"), "", Option.RECURSIVE);
            for (String name : names.subList(0, 3)) {
                assertThat(up.said)
                        .containsEntry("tree/" + name, "left out: a name of files that cp has not completed");
            }
            assertThat(up.said).containsEntry("tree/a.verbena-part", "done");
            write(folder.resolve("served/tree").resolve(names.getFirst()), 10);
            Heard down = fixture.get(SMALL, "tree", Files.createDirectory(folder.resolve("back")), Option.RECURSIVE);
            assertThat(down.said)
                    .containsEntry("tree/" + names.getFirst(), "left out: a name of files that cp has not completed")
                    .containsEntry("tree/a.verbena-part", "done");
        }
    }

    @Test
    void whatIsThereAlreadyIsLeftAlone() throws Exception {
        Path tree = folder.resolve("tree");
        write(tree.resolve("one"), 9000);
        write(tree.resolve("two"), 9000);
        Path there = folder.resolve("served/tree");
        try (FilesFixture fixture = FilesFixture.serving(folder.resolve("served"), "rocev2")) {
            fixture.put(SMALL, tree, "", Option.RECURSIVE);
            write(tree.resolve("two"), 9001);

            Heard again = fixture.put(SMALL, tree, "", Option.RECURSIVE);
            assertThat(again.said).containsEntry("tree/one", "same").containsEntry("tree/two", "done");
            assertThat(again.moved).hasValue(9001);
            assertThat(fixture.put(SMALL, tree, "", Option.RECURSIVE, Option.ALWAYS).moved)
                    .hasValue(18_001);
        }

        assertSameTree(tree, there);
    }

    @Test
    void aRehearsalSaysWhatItWouldDoAndDoesNothing() throws Exception {
        write(folder.resolve("tree/a/one"), 9000);
        try (FilesFixture fixture = FilesFixture.serving(folder.resolve("served"), "rocev2")) {
            Heard heard = fixture.put(SMALL, folder.resolve("tree"), "", Option.RECURSIVE, Option.REHEARSAL);

            assertThat(heard.said)
                    .containsEntry("tree", "would")
                    .containsEntry("tree/a", "would")
                    .containsEntry("tree/a/one", "would");
            assertThat(names(folder.resolve("served"))).isEmpty();
        }
    }

    @Test
    void aFileIsReplacedAtOnceAndALinkOfItsNameIsNotFollowed() throws Exception {
        Path outside = write(folder.resolve("outside"), 10);
        byte[] before = Files.readAllBytes(outside);
        Path file = write(folder.resolve("file"), 20_000);
        try (FilesFixture fixture = FilesFixture.serving(folder.resolve("served"), "rocev2")) {
            Files.createSymbolicLink(fixture.served.resolve("file"), outside);
            fixture.put(SMALL, file, "");
        }

        assertSameTree(file, folder.resolve("served/file"));
        assertThat(Files.isSymbolicLink(folder.resolve("served/file"))).isFalse();
        assertThat(Files.readAllBytes(outside)).isEqualTo(before);
        assertThat(names(folder.resolve("served"))).containsExactly("file");
    }

    @Test
    void whereThingsGoIsDecidedAsByCp() throws Exception {
        Path file = write(folder.resolve("file"), 10);
        write(folder.resolve("tree/x"), 10);
        try (FilesFixture fixture = FilesFixture.serving(folder.resolve("served"), "rocev2")) {
            Files.createDirectory(fixture.served.resolve("folder"));
            fixture.put(SMALL, file, "other");
            fixture.put(SMALL, file, "folder");
            fixture.put(SMALL, folder.resolve("tree"), "copy", Option.RECURSIVE);
            fixture.put(SMALL, folder.resolve("tree"), "copy", Option.RECURSIVE);
            assertThatThrownBy(() -> fixture.put(SMALL, file, "none", Option.INTO_FOLDER))
                    .isInstanceOf(CommandFailed.class)
                    .hasMessage("the peer: put /none: no such file or folder");
            assertThatThrownBy(() -> fixture.put(SMALL, file, "none/file"))
                    .hasMessage("the peer: put /none/file: no such file or folder");
            Heard heard = fixture.put(SMALL, folder.resolve("tree"), "");
            assertThat(heard.said).containsEntry("tree", "failed: tree: a folder; -r copies folders");
        }

        assertThat(names(folder.resolve("served")))
                .containsExactly("copy", "copy/tree", "copy/tree/x", "copy/x", "folder", "folder/file", "other");
    }

    @Test
    void whatCannotBeReadIsNamedAndTheRestIsCopied() throws Exception {
        try (FilesFixture fixture = FilesFixture.serving(folder.resolve("served"), "rocev2")) {
            write(fixture.served.resolve("tree/good"), 10);
            Files.createSymbolicLink(fixture.served.resolve("tree/bad"), Path.of("/etc/passwd"));
            Path here = Files.createDirectory(folder.resolve("here"));

            assertThat(fixture.get(SMALL, "missing", here).said)
                    .containsEntry("missing", "failed: missing: no such file or folder");
            assertThat(fixture.get(SMALL, "tree", here, Option.RECURSIVE).said)
                    .containsEntry("tree/bad", "left out: a link to outside of what is copied")
                    .containsEntry("tree/good", "done");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rocev2,faults=loss:5%,seed:7", "rocev2,faults=loss:5%,duplicate:5%,reorder:5%,seed:8"})
    void aBadNetworkChangesNothing(String device) throws Exception {
        Path source = write(folder.resolve("file"), 1_000_003);
        try (FilesFixture fixture = FilesFixture.serving(folder.resolve("served"), device)) {
            fixture.put(new Terms(65_536, 4, Mode.WRITE, Checksum.CRC32C), source, "");
            fixture.get(
                    new Terms(65_536, 4, Mode.READ, Checksum.SHA256),
                    "file",
                    Files.createDirectory(folder.resolve("back")),
                    Option.VERIFY);
        }

        assertSameTree(source, folder.resolve("served/file"));
        assertSameTree(source, folder.resolve("back/file"));
    }

    @Test
    void severalClientsAtOnce() throws Exception {
        try (FilesFixture fixture = FilesFixture.serving(folder.resolve("served"), "rocev2")) {
            List<Thread> threads = Stream.of("a", "b", "c", "d")
                    .map(name -> Thread.ofPlatform().start(() -> {
                        try {
                            fixture.put(SMALL, write(folder.resolve(name), 200_000), "");
                        } catch (Exception e) {
                            throw new AssertionError(e);
                        }
                    }))
                    .toList();
            for (Thread thread : threads) {
                thread.join();
            }
        }

        for (String name : List.of("a", "b", "c", "d")) {
            assertSameTree(folder.resolve(name), folder.resolve("served").resolve(name));
        }
    }

    static Path write(Path file, int size) throws IOException {
        Files.createDirectories(file.getParent());
        var bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        Files.write(file, bytes);
        Files.setLastModifiedTime(file, FileTime.from(LONG_AGO.plusNanos(size)));
        return file;
    }

    private static void permissions(Path path, String permissions) throws IOException {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
    }

    static List<String> names(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(each -> !each.equals(folder))
                    .map(each -> folder.relativize(each).toString())
                    .sorted()
                    .toList();
        }
    }

    /// Names, types, contents, permissions and times of all in it.
    static void assertSameTree(Path expected, Path actual) throws IOException {
        assertThat(described(actual)).isEqualTo(described(expected));
        try (Stream<Path> all = Files.walk(expected)) {
            for (Path file :
                    (Iterable<Path>) all.filter(f -> Files.isRegularFile(f, LinkOption.NOFOLLOW_LINKS))::iterator) {
                assertThat(Files.mismatch(file, actual.resolve(expected.relativize(file))))
                        .as(file.toString())
                        .isEqualTo(-1);
            }
        }
    }

    private static Map<String, String> described(Path tree) throws IOException {
        var found = new TreeMap<String, String>();
        try (Stream<Path> all = Files.walk(tree)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                boolean isLink = Files.isSymbolicLink(each);
                found.put(
                        tree.relativize(each).toString(),
                        isLink
                                ? "-> " + Files.readSymbolicLink(each)
                                : (Files.isDirectory(each) ? "folder " : "file ")
                                        + PosixFilePermissions.toString(Files.getPosixFilePermissions(each))
                                        + " " + Files.getLastModifiedTime(each));
            }
        }
        return found;
    }
}
