package verbena.tools.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static verbena.tools.files.CopyTest.SMALL;
import static verbena.tools.files.CopyTest.assertSameTree;
import static verbena.tools.files.CopyTest.write;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.JavaCommand;

/// What a cut leaves, and how it goes on.
@Timeout(180)
class ResumeTest {
    private static final int SIZE = 50 * 4096 + 17;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6})
    void anUploadGoesOnWhereItWasCut(long seed) throws Exception {
        Terms terms = SMALL.with(seed % 2 == 0 ? Mode.READ : Mode.WRITE);
        int cut = 10 + new Random(seed).nextInt(40);
        Path file = write(folder.resolve("file"), SIZE);
        Thread client = Thread.currentThread();
        try (FilesFixture fixture =
                FilesFixture.serving(folder.resolve("served"), seed % 3 == 0 ? "iwarp" : "rocev2")) {
            assertThatThrownBy(() -> fixture.put(terms, Faulty.atRead(cut, client::interrupt), file, ""))
                    .as("seed " + seed)
                    .isInstanceOf(InterruptedException.class);
            fixture.logged("broken off");
            assertThat(fixture.served.resolve("file")).doesNotExist();

            Heard again = fixture.put(terms, file, "");

            assertThat(again.said.get("file")).as("seed " + seed).matches("goes on after \\d+, done");
            long kept = Long.parseLong(again.said.get("file").replaceAll("\\D", ""));
            assertThat(kept).isGreaterThanOrEqualTo((cut - 1 - 2L * terms.slots()) * 4096);
            assertThat(again.moved).hasValue(SIZE - kept);
        }

        assertSameTree(file, folder.resolve("served/file"));
        assertThat(left(folder.resolve("served"))).isEmpty();
    }

    @Test
    void aDownloadGoesOnAfterTheServerHasGone() throws Exception {
        Path served = Files.createDirectory(folder.resolve("served"));
        Path file = write(served.resolve("file"), SIZE);
        Path here = Files.createDirectory(folder.resolve("here"));
        FilesFixture[] first = new FilesFixture[1];
        try (FilesFixture fixture =
                FilesFixture.serving(served, "rocev2", Faulty.atRead(30, () -> first[0].disconnectAll()))) {
            first[0] = fixture;
            assertThatThrownBy(() -> fixture.get(SMALL, "file", here)).hasMessageStartingWith("the peer is gone: ");
        }
        assertThat(here.resolve("file")).doesNotExist();
        assertThat(left(here)).containsExactly(".file.verbena-journal", ".file.verbena-part");

        try (FilesFixture fixture = FilesFixture.serving(served, "rocev2")) {
            assertThat(fixture.get(SMALL, "file", here).said.get("file")).startsWith("goes on after ");
        }
        assertSameTree(file, here.resolve("file"));
    }

    @Test
    void damageInWhatWasLeftIsCopiedAgain() throws Exception {
        Path file = write(folder.resolve("file"), SIZE);
        try (FilesFixture fixture = FilesFixture.serving(folder.resolve("served"), "rocev2")) {
            cut(fixture, file, 40);
            Path part = fixture.served.resolve(".file.verbena-part");
            try (var channel = Files.newByteChannel(part, StandardOpenOption.WRITE)) {
                channel.position(5 * 4096 + 1).write(java.nio.ByteBuffer.wrap(new byte[] {1, 2, 3}));
            }

            assertThat(fixture.put(SMALL, file, "").said).containsEntry("file", "goes on after " + 5 * 4096 + ", done");
        }
        assertSameTree(file, folder.resolve("served/file"));
    }

    @Test
    void whatIsLeftOfAnotherSourceDoesNotCount() throws Exception {
        Path file = write(folder.resolve("file"), SIZE);
        try (FilesFixture fixture = FilesFixture.serving(folder.resolve("served"), "rocev2")) {
            cut(fixture, file, 40);
            Files.setLastModifiedTime(file, FileTime.from(Instant.ofEpochSecond(1)));

            assertThat(fixture.put(SMALL, file, "").said).containsEntry("file", "done");
        }
        assertSameTree(file, folder.resolve("served/file"));
    }

    @Test
    void aTreeGoesOnWithWhatIsMissing() throws Exception {
        for (int i = 0; i < 40; i++) {
            write(folder.resolve("tree/" + i), 3 * 4096 + i);
        }
        Path tree = folder.resolve("tree");
        Thread client = Thread.currentThread();
        try (FilesFixture fixture = FilesFixture.serving(folder.resolve("served"), "rocev2")) {
            assertThatThrownBy(() -> fixture.put(
                            SMALL, Faulty.atRead(100, client::interrupt), tree, "", Request.Option.RECURSIVE))
                    .isInstanceOf(InterruptedException.class);
            fixture.logged("broken off");

            Heard again = fixture.put(SMALL, tree, "", Request.Option.RECURSIVE);

            assertThat(again.said.values()).contains("same", "done");
        }
        assertSameTree(tree, folder.resolve("served/tree"));
    }

    @Test
    void twoTransfersDoNotWriteOneFile() throws Exception {
        Path file = write(folder.resolve("file"), SIZE);
        Heard[] second = new Heard[1];
        try (FilesFixture fixture = FilesFixture.serving(folder.resolve("served"), "rocev2")) {
            Heard first = fixture.put(
                    SMALL,
                    Faulty.atRead(20, () -> {
                        try {
                            second[0] = fixture.put(SMALL, file, "");
                        } catch (InterruptedException e) {
                            throw new IOException(e);
                        }
                    }),
                    file,
                    "");

            assertThat(second[0].said).containsEntry("file", "failed: file: another transfer is writing it");
            assertThat(first.said).containsEntry("file", "done");
        }
    }

    @Test
    void aKilledClientsFileIsGoneOnWith() throws Exception {
        Path file = write(folder.resolve("file"), 200 << 20);
        Path served = Files.createDirectory(folder.resolve("served"));
        Terms terms = new Terms(65_536, 4, Mode.WRITE, Checksum.CRC32C);
        try (FilesFixture fixture = FilesFixture.serving(served, "rocev2")) {
            List<String> command = new ArrayList<>(JavaCommand.again());
            command.addAll(List.of("cp", "--chunk", "64", "--in-flight", "4", "-P", "" + fixture.port()));
            command.addAll(List.of(file.toString(), fixture.host() + ":"));
            Process process = new ProcessBuilder(command).inheritIO().start();
            Path journal = served.resolve(".file.verbena-journal");
            while (process.isAlive() && (!Files.exists(journal) || Files.size(journal) < 500)) {
                process.waitFor(1, TimeUnit.MILLISECONDS);
            }
            process.destroyForcibly().waitFor();
            fixture.logged("broken off");
            assertThat(served.resolve("file")).doesNotExist();

            assertThat(fixture.put(terms, file, "").said.get("file")).startsWith("goes on after ");
        }
        assertSameTree(file, served.resolve("file"));
    }

    @Test
    void aFullDiskIsSaidWithWhatIsMissingAndKeepsWhatIsThere() throws Exception {
        Path file = write(folder.resolve("file"), SIZE);
        Path served = folder.resolve("served");
        try (FilesFixture fixture = FilesFixture.serving(served, "rocev2", Faulty.atWrite(60, () -> {
            throw new IOException("No space left on device");
        }))) {
            assertThatThrownBy(() -> fixture.put(SMALL, file, ""))
                    .isInstanceOf(CommandFailed.class)
                    .hasMessageMatching(
                            "the peer: file: no room \\(No space left on device\\): \\d.* KiB are missing, .*"
                                    + " are free; what is there is kept, and the same command goes on with it");
            fixture.logged("broken off");
        }
        assertThat(served.resolve("file")).doesNotExist();

        try (FilesFixture fixture = FilesFixture.serving(served, "rocev2")) {
            assertThat(fixture.put(SMALL, file, "").said.get("file")).startsWith("goes on after ");
        }
        assertSameTree(file, served.resolve("file"));
    }

    @Test
    void aLimitOfTheSystemIsSaidToo() throws Exception {
        Path served = Files.createDirectory(folder.resolve("served"));
        write(served.resolve("file"), 8 << 20);
        Path here = Files.createDirectory(folder.resolve("here"));
        try (FilesFixture fixture = FilesFixture.serving(served, "rocev2")) {
            String command = String.join(" ", JavaCommand.again()) + " cp -q --chunk 64 -P " + fixture.port() + " "
                    + fixture.host() + ":file " + here;
            Process process = new ProcessBuilder("bash", "-c", "ulimit -f 4096; exec " + command).start();
            String err = new String(process.getErrorStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);

            assertThat(process.waitFor()).isEqualTo(1);
            // counted from the chunk that was refused first, which need not be the very first
            assertThat(err)
                    .containsPattern("verbena cp: file: no room \\(File too large\\): [34]\\.\\d MiB are missing")
                    .contains("what is there is kept");
            assertThat(here.resolve("file")).doesNotExist();
        }
    }

    private static void cut(FilesFixture fixture, Path file, int at) throws InterruptedException {
        Thread client = Thread.currentThread();
        assertThatThrownBy(() -> fixture.put(SMALL, Faulty.atRead(at, client::interrupt), file, ""))
                .isInstanceOf(InterruptedException.class);
        fixture.logged("broken off");
    }

    private static List<String> left(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.map(each -> each.getFileName().toString())
                    .filter(name -> name.startsWith("."))
                    .sorted()
                    .toList();
        }
    }
}
