package verbena.tools.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import verbena.tools.files.Request.Option;

/// What is wanted of an entry, by what is there already.
class TargetTest {
    private static final Instant TIME = Instant.parse("2024-05-06T07:08:09Z");

    @TempDir
    private Path folder;

    @Test
    void aFileIsWantedUnlessOneOfItsSizeAndTimeIsThere() throws IOException {
        try (Target target = target(Set.of())) {
            assertThat(target.judge(entry(Attributes.Type.FILE, "new", 3))).isEqualTo(Verdict.SEND);
            Files.writeString(folder.resolve("old"), "abc");
            Files.setLastModifiedTime(folder.resolve("old"), FileTime.from(TIME));
            assertThat(target.judge(entry(Attributes.Type.FILE, "old", 3))).isEqualTo(Verdict.SAME);
            assertThat(target.judge(entry(Attributes.Type.FILE, "old", 4))).isEqualTo(Verdict.SEND);
        }
        try (Target target = target(Set.of(Option.ALWAYS))) {
            assertThat(target.judge(entry(Attributes.Type.FILE, "old", 3))).isEqualTo(Verdict.SEND);
        }
    }

    @Test
    void aFolderAndALinkAreMadeAtOnce() throws IOException {
        try (Target target = target(Set.of())) {
            assertThat(target.judge(entry(Attributes.Type.FOLDER, "tree", 0))).isEqualTo(Verdict.MADE);
            assertThat(target.judge(entry(Attributes.Type.FOLDER, "tree", 0))).isEqualTo(Verdict.SAME);
            var link = new Entry(
                    0, new Attributes(Attributes.Type.LINK, 0777, 0, TIME, 0), Path.of("tree/l"), Path.of("x"));
            assertThat(target.judge(link)).isEqualTo(Verdict.MADE);
            assertThat(Files.readSymbolicLink(folder.resolve("tree/l"))).isEqualTo(Path.of("x"));
        }
    }

    @Test
    void aRehearsalChangesNothing() throws IOException {
        Files.createDirectory(folder.resolve("tree"));
        FileTime before = Files.getLastModifiedTime(folder.resolve("tree"));
        try (Target target = target(Set.of(Option.REHEARSAL))) {
            Entry tree = entry(Attributes.Type.FOLDER, "tree", 0);
            assertThat(target.judge(tree)).isEqualTo(Verdict.SAME);
            target.complete(tree);
            assertThat(target.judge(entry(Attributes.Type.FOLDER, "tree/more", 0)))
                    .isEqualTo(Verdict.WOULD);
            assertThat(target.judge(entry(Attributes.Type.FILE, "tree/more/file", 9)))
                    .isEqualTo(Verdict.WOULD);
        }
        assertThat(Files.getLastModifiedTime(folder.resolve("tree"))).isEqualTo(before);
        assertThat(folder.resolve("tree/more")).doesNotExist();
    }

    @Test
    void aNameThatAnotherKindOfThingHasIsRefused() throws IOException {
        Files.createDirectory(folder.resolve("tree"));
        Files.writeString(folder.resolve("file"), "abc");
        try (Target target = target(Set.of())) {
            assertThatThrownBy(() -> target.judge(entry(Attributes.Type.FILE, "tree", 3)))
                    .hasMessageContaining("a folder has this name");
            assertThatThrownBy(() -> target.judge(entry(Attributes.Type.FOLDER, "file", 0)))
                    .hasMessageContaining("no folder has this name");
        }
        assertThat(Files.isDirectory(folder.resolve("tree"), LinkOption.NOFOLLOW_LINKS))
                .isTrue();
    }

    private Target target(Set<Option> options) throws IOException {
        return new Target(Landing.of(Folder.at(folder), Path.of(""), true), options, Terms.DEFAULT, false);
    }

    private static Entry entry(Attributes.Type type, String name, long size) {
        return new Entry(0, new Attributes(type, 0700, size, TIME, 0), Path.of(name), Entry.NO_TARGET);
    }
}
