package verbena.tools.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static verbena.tools.files.CopyTest.write;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.tools.files.Request.Option;

/// Which links are made, and that none is gone through.
@Timeout(180)
class LinksTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "tree/l,     x,          true",
        "tree/l,     x/y/z,      true",
        "tree/l,     .,          true",
        "tree/l,     ./x,        true",
        "tree/l,     ..,         false",
        "tree/l,     ../x,       false",
        "tree/a/l,   ..,         true",
        "tree/a/l,   ../b/c,     true",
        "tree/a/l,   .././b,     true",
        "tree/a/l,   ../..,      false",
        "tree/a/b/l, ../../x,    true",
        "tree/a/b/l, ../../../x, false",
        "tree/a/b/l, x/..,       false",
        "tree/a/b/l, ../x/../y,  false",
        "tree/l,     /etc,       false",
        "tree/l,     '',         false",
        "l,          x,          false"
    })
    void aLinkGoesUpAtItsStartOnlyAndNotOutOfItsTree(String link, String target, boolean stays) {
        assertThat(Entry.staysBehind(Path.of(link), Path.of(target)) == null).isEqualTo(stays);
    }

    @ParameterizedTest
    @CsvSource({
        "tree/l,   b,         true",
        "tree/l,   b/c,       true",
        "tree/l,   gone/x,    true",
        "tree/l,   out,       false",
        "tree/l,   out/file,  false",
        "tree/l,   far,       false",
        "tree/l,   b/up/b,    true",
        "tree/l,   b/upup,    false",
        "tree/b/l, ../out,    false",
        "tree/l,   round,     true",
        "tree/l,   chain,     false",
        "tree/l,   b/file/x,  true"
    })
    void aLinkOverOthersThatAreThereLeadsWhereTheyLead(String link, String target, boolean stays) throws Exception {
        Path tree = folder.resolve("base/tree");
        write(tree.resolve("b/file"), 3);
        Files.createDirectory(folder.resolve("base/outside"));
        Files.createSymbolicLink(tree.resolve("out"), Path.of("../outside"));
        Files.createSymbolicLink(tree.resolve("far"), folder.toAbsolutePath());
        Files.createSymbolicLink(tree.resolve("b/up"), Path.of(".."));
        Files.createSymbolicLink(tree.resolve("b/upup"), Path.of("../.."));
        Files.createSymbolicLink(tree.resolve("round"), Path.of("b/../round"));
        Files.createSymbolicLink(tree.resolve("chain"), Path.of("b/up/out"));
        Files.createSymbolicLink(folder.resolve("to base"), Path.of("base"));

        for (String base : new String[] {"base", "to base"}) {
            assertThat(Folder.at(folder).leadsInside(Path.of(base), Path.of(link), Path.of(target)))
                    .as(base)
                    .isEqualTo(stays);
        }
    }

    @Test
    void whatIsALinkHereIsNoFolderToPutSomethingInto() throws Exception {
        write(folder.resolve("inside/file"), 10);
        Path here = Files.createDirectory(folder.resolve("here"));
        Files.createDirectory(here.resolve("tree"));
        Files.createDirectory(here.resolve("elsewhere"));
        Files.createSymbolicLink(here.resolve("tree/l"), Path.of("../elsewhere"));
        var verdicts = new java.util.ArrayList<Verdict>();
        try (var server = FakeServer.sending(client -> {
            FakeServer.offer(client, 0, Attributes.Type.FOLDER, "tree", "");
            FakeServer.offer(client, 1, Attributes.Type.LINK, "tree/a", "b");
            verdicts.add(FakeServer.offer(client, 2, Attributes.Type.FOLDER, "tree/l", ""));
            verdicts.add(FakeServer.offer(client, 3, Attributes.Type.FILE, "tree/l/new", ""));
            verdicts.add(FakeServer.offer(client, 4, Attributes.Type.LINK, "tree/m", "l/new"));
            FakeServer.finish(client);
        })) {
            server.get("tree", here, FilesFixture.TIMEOUT, Option.RECURSIVE);
        }
        assertThat(verdicts).containsExactly(Verdict.REFUSED, Verdict.REFUSED, Verdict.REFUSED);
        assertThat(here.resolve("elsewhere")).isEmptyDirectory();
        assertThat(Files.isSymbolicLink(here.resolve("tree/a"))).isTrue();
    }

    @Test
    void aLinkTakesThePlaceOfALinkAndNotOfAFolder() throws Exception {
        Path here = Files.createDirectory(folder.resolve("here"));
        Files.createDirectories(here.resolve("tree/d"));
        Files.createSymbolicLink(here.resolve("tree/l"), Path.of("/etc"));
        var verdicts = new java.util.ArrayList<Verdict>();
        try (var server = FakeServer.sending(client -> {
            FakeServer.offer(client, 0, Attributes.Type.FOLDER, "tree", "");
            verdicts.add(FakeServer.offer(client, 1, Attributes.Type.LINK, "tree/d", "l"));
            verdicts.add(FakeServer.offer(client, 2, Attributes.Type.LINK, "tree/l", "d"));
            FakeServer.finish(client);
        })) {
            server.get("tree", here, FilesFixture.TIMEOUT, Option.RECURSIVE);
        }
        assertThat(verdicts).containsExactly(Verdict.REFUSED, Verdict.MADE);
        assertThat(Files.readSymbolicLink(here.resolve("tree/l"))).isEqualTo(Path.of("d"));
    }

    @Test
    void aFolderThatBecomesALinkMeanwhileIsNotGoneThrough() throws Exception {
        Path outside = Files.createDirectory(folder.resolve("outside"));
        Path base = Files.createDirectories(folder.resolve("base"));
        Files.createDirectory(base.resolve("d"));
        Files.createSymbolicLink(base.resolve("link"), Path.of("../outside"));
        var isOver = new AtomicBoolean();
        Thread other = Thread.ofPlatform().start(() -> exchange(base, isOver));
        int made = 0;
        try {
            for (int i = 0; i < 500; i++) {
                try (Spot spot = Folder.at(folder).find(Path.of("base"), Path.of("d", "new"))) {
                    spot.open(spot.name(), StandardOpenOption.CREATE, StandardOpenOption.WRITE)
                            .close();
                    made++;
                } catch (FileSystemException _) {
                    // A link, or nothing, at this moment.
                }
            }
        } finally {
            isOver.set(true);
            other.join();
        }
        assertThat(outside).as(made + " were made").isEmptyDirectory();
    }

    private static void exchange(Path base, AtomicBoolean isOver) {
        try {
            while (!isOver.get()) {
                Files.move(base.resolve("d"), base.resolve("was"), StandardCopyOption.ATOMIC_MOVE);
                Files.move(base.resolve("link"), base.resolve("d"), StandardCopyOption.ATOMIC_MOVE);
                Files.move(base.resolve("d"), base.resolve("link"), StandardCopyOption.ATOMIC_MOVE);
                Files.move(base.resolve("was"), base.resolve("d"), StandardCopyOption.ATOMIC_MOVE);
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    void aPathIsNotDeeperThanThereAreFilesToOpen() throws Exception {
        Path deep = folder;
        Path name = Path.of("x");
        for (int i = 0; i < 130; i++) {
            deep = deep.resolve("x");
            name = name.resolve("x");
        }
        Files.createDirectories(deep);
        Path tooDeep = name;
        assertThatThrownBy(() -> Folder.at(folder).find(Path.of(""), tooDeep))
                .isInstanceOf(FileSystemException.class)
                .hasMessageContaining("more than 128 folders deep");
    }
}
