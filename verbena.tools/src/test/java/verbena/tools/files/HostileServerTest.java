package verbena.tools.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static verbena.tools.files.CopyTest.write;
import static verbena.tools.files.FakeServer.entry;
import static verbena.tools.files.FakeServer.finish;
import static verbena.tools.files.FakeServer.offer;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import verbena.tools.Verbena;
import verbena.tools.files.Request.Option;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.ConnectionException;

/// A server that sends what its client has not asked for, or nothing.
@Timeout(180)
class HostileServerTest {
    private static final Duration SHORT = Duration.ofMillis(300);

    @TempDir
    private Path folder;

    private Path here;

    @BeforeEach
    void aFolderToCopyInto() throws Exception {
        here = Files.createDirectory(folder.resolve("here"));
    }

    @ParameterizedTest
    @CsvSource({
        "FILE,   .bashrc",
        "FOLDER, .ssh",
        "FOLDER, photo.jpg",
        "LINK,   photo.jpg",
        "FILE,   photo.jpg/x",
        "FILE,   /photo.jpg",
        "FILE,   ''",
        "FILE,   .",
        "FILE,   photo.jpg/../x"
    })
    void aFileThatWasAskedForIsAllThatComes(Attributes.Type type, String name) throws Exception {
        try (var server =
                FakeServer.sending(client -> offer(client, 0, type, name, type == Attributes.Type.LINK ? "x" : ""))) {
            assertThatThrownBy(() -> server.get("dir/photo.jpg", here, FilesFixture.TIMEOUT))
                    .isInstanceOf(CommandFailed.class)
                    .hasMessageStartingWith("the peer offers ");
        }
        assertThat(here).isEmptyDirectory();
    }

    @ParameterizedTest
    @ValueSource(strings = {"photo.jpg", "zzz"}) // again, and another
    void aSecondFileIsRefused(String name) throws Exception {
        write(here.resolve("photo.jpg"), 7);
        try (var server = FakeServer.sending(client -> {
            offer(client, 0, Attributes.Type.FILE, "photo.jpg", "");
            offer(client, 1, Attributes.Type.FILE, name, "");
        })) {
            assertThatThrownBy(() -> server.get("photo.jpg", here, FilesFixture.TIMEOUT))
                    .isInstanceOf(CommandFailed.class)
                    .hasMessageStartingWith("the peer offers \"" + name + "\"");
        }
        assertThat(here.resolve("zzz")).doesNotExist();
    }

    @Test
    void cpSaysWhatItsServerTriedAndEndsWithOne() throws Exception {
        try (var server =
                FakeServer.sending(client -> offer(client, 0, Attributes.Type.FILE, "\u001b[2J.bashrc", ""))) {
            var said = new StringWriter();
            CommandLine cp = Verbena.commandLine();
            cp.setErr(new PrintWriter(said));
            String host = server.address().getAddress().getHostAddress();
            String port = Integer.toString(server.address().getPort());

            assertThat(cp.execute("cp", "-q", "-P", port, host + ":photo.jpg", here.toString()))
                    .isEqualTo(1);

            assertThat(said.toString().strip())
                    .isEqualTo("verbena cp: the peer offers \"\\x1b[2J.bashrc\", which was not asked for");
        }
        assertThat(here).isEmptyDirectory();
    }

    @Test
    void aServerThatSendsNothingIsFoundOut() throws Exception {
        try (var server = FakeServer.sending(FakeServer::finish)) {
            assertThatThrownBy(() -> server.get("photo.jpg", here, FilesFixture.TIMEOUT))
                    .isInstanceOf(CommandFailed.class)
                    .hasMessage("the peer has sent nothing of what was asked for");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "other/x,      was not announced",
        "tree/b/x,     before its folder",
        "tree/a,       twice",
        "tree/a/x,     below a file that is none's folder",
        "tree,         the source again",
        "tree/Z,       out of order",
        "tree//c,      two separators",
        "/tree/c,      a separator at its start",
        "tree/./c,     a dot"
    })
    void insideATreeNamesStayBelowItAndInOrder(String name, String why) throws Exception {
        try (var server = FakeServer.sending(client -> {
            offer(client, 0, Attributes.Type.FOLDER, "tree", "");
            offer(client, 1, Attributes.Type.LINK, "tree/a", "x");
            offer(client, 2, Attributes.Type.FOLDER, name, "");
        })) {
            assertThatThrownBy(() -> server.get("tree", here, FilesFixture.TIMEOUT, Option.RECURSIVE))
                    .as(why)
                    .isInstanceOf(CommandFailed.class)
                    .hasMessageStartingWith("the peer offers ");
        }
        assertThat(CopyTest.names(here)).containsExactly("tree", "tree/a");
    }

    @Test
    void aChainOfLinksDoesNotLeadOutOfTheTree() throws Exception {
        write(folder.resolve("outside/file"), 10);
        try (var server = FakeServer.sending(client -> {
            offer(client, 0, Attributes.Type.FOLDER, "tree", "");
            offer(client, 1, Attributes.Type.FOLDER, "tree/a", "");
            offer(client, 2, Attributes.Type.FOLDER, "tree/a/b", "");
            offer(client, 3, Attributes.Type.LINK, "tree/a/b/l1", "../..");
            offer(client, 4, Attributes.Type.LINK, "tree/l2", "a/b/l1/../../outside");
            finish(client);
        })) {
            server.get("tree", here, FilesFixture.TIMEOUT, Option.RECURSIVE);
        }
        assertThat(Files.readSymbolicLink(here.resolve("tree/a/b/l1"))).isEqualTo(Path.of("../.."));
        assertThat(here.resolve("tree/l2")).doesNotExist();
        assertThat(Files.isSymbolicLink(here.resolve("tree/l2"))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void aSilentServerIsGivenUp(int messages) throws Exception {
        try (var server = new FakeServer(client -> {
            FakeServer.request(client);
            if (messages > 0) {
                client.send(client.write(Kind.TOTAL).int64(1).int64(5));
            }
            if (messages > 1) {
                client.send(entry(client, 0, Attributes.Type.FILE, "file", ""));
            }
            if (messages > 2) {
                client.send(client.write(Kind.CHUNK)
                        .int32(0)
                        .int32(0)
                        .int64(0)
                        .int32(5)
                        .put(new byte[4]));
            }
        })) {
            assertThatThrownBy(() -> server.get("file", here, SHORT))
                    .isInstanceOf(ConnectionException.class)
                    .hasMessage("the peer said nothing for 0.3 s");
        }
    }
}
