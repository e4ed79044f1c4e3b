package verbena.tools.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static verbena.tools.files.CopyTest.SMALL;
import static verbena.tools.files.CopyTest.assertSameTree;
import static verbena.tools.files.CopyTest.write;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.ConnectionException;
import verbena.verbs.RemoteMemory;
import verbena.verbs.VerbsException;

/// Peers that want what they should not have, or say what no peer should.
@Timeout(180)
class HostileFilesTest {
    private static final Optional<Secret> SECRET = Optional.of(Secret.of("a secret of this test alone"));
    private static final Optional<Secret> WRONG = Optional.of(Secret.of("another secret, a wrong one"));

    @TempDir
    private Path folder;

    private Path served;

    @BeforeEach
    void somethingOutside() throws Exception {
        served = Files.createDirectory(folder.resolve("served"));
        write(folder.resolve("outside/file"), 10);
        write(served.resolve("inside/file"), 10);
        Files.createSymbolicLink(served.resolve("out"), Path.of("../outside"));
        Files.createSymbolicLink(
                served.resolve("far"), folder.resolve("outside").toAbsolutePath());
        Files.createSymbolicLink(served.resolve("in"), Path.of("inside"));
        Files.createSymbolicLink(served.resolve("inside/round"), Path.of("../in/round"));
    }

    // ---- paths

    @ParameterizedTest
    @ValueSource(
            strings = {
                "..",
                "../outside/file",
                "inside/../../outside/file",
                "out",
                "out/file",
                "far/file",
                "in/../../outside"
            })
    void aPathThatLeadsOutsideIsRefused(String path) throws Exception {
        Path here = Files.createDirectory(folder.resolve("here"));
        try (FilesFixture fixture = FilesFixture.serving(served, "rocev2")) {
            assertThatThrownBy(() -> fixture.get(SMALL, path, here, Request.Option.RECURSIVE))
                    .isInstanceOf(CommandFailed.class)
                    .hasMessage("the peer: get /" + path + ": leads outside of the folder");
            assertThatThrownBy(() -> fixture.put(SMALL, write(folder.resolve("x"), 5), path + "/new"))
                    .hasMessageContaining("leads outside of the folder");
        }
        assertThat(here).isEmptyDirectory();
        assertThat(folder.resolve("outside")).isDirectoryContaining("glob:**/file");
        assertThat(children(folder.resolve("outside"))).hasSize(1);
    }

    @Test
    void aPathThatStaysInsideIsServedAlsoOverLinks() throws Exception {
        Path here = Files.createDirectory(folder.resolve("here"));
        try (FilesFixture fixture = FilesFixture.serving(served, "rocev2")) {
            assertThat(fixture.get(SMALL, "/in/../inside/./file", here).said).containsEntry("file", "done");
            assertThatThrownBy(() -> fixture.get(SMALL, "inside/round", here))
                    .hasMessageContaining("links that lead in a circle");
        }
        assertSameTree(served.resolve("inside/file"), here.resolve("file"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"..", "a/../../x", "../x", ".", "/../x", "a/.."})
    void anEntryByAPathIsRefused(String name) throws Exception {
        try (FilesFixture fixture = FilesFixture.serving(served, "rocev2");
                MessageChannel peer = putting(fixture, Mode.WRITE)) {
            peer.send(entry(peer, Attributes.Type.FOLDER, name.getBytes(StandardCharsets.UTF_8), ""));

            assertThatThrownBy(() -> peer.receive(FilesFixture.TIMEOUT))
                    .isInstanceOf(CommandFailed.class)
                    .hasMessageMatching("the peer: the peer offers a file by a path, not a name: .*");
        }
        assertThat(children(folder)).hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/etc", "../x", "../../outside", "a/../../x", "/"})
    void anEntryOfALinkThatLeadsOutsideIsRefused(String target) throws Exception {
        try (FilesFixture fixture = FilesFixture.serving(served, "rocev2");
                MessageChannel peer = putting(fixture, Mode.WRITE)) {
            FakeServer.offer(peer, 0, Attributes.Type.FOLDER, "tree", "");
            peer.send(entry(peer, Attributes.Type.LINK, "tree/link".getBytes(StandardCharsets.UTF_8), target));

            Message want = peer.expect(Kind.WANT, FilesFixture.TIMEOUT);
            assertThat(want.bytes().getInt()).isZero();
            assertThat(want.bytes().getLong()).isEqualTo(-1);
            assertThat(want.bytes().get()).isEqualTo((byte) Verdict.REFUSED.ordinal());
            assertThat(want.takeText())
                    .matches(
                            "tree/link: a link (to|with \\.\\. behind a name, which may lead) outside of what is copied");
        }
    }

    @Test
    void nothingIsWrittenThroughALinkThatLeadsOutside() throws Exception {
        try (FilesFixture fixture = FilesFixture.serving(served, "rocev2");
                MessageChannel peer = putting(fixture, Mode.WRITE)) {
            assertThat(FakeServer.offer(peer, 0, Attributes.Type.FOLDER, "out", ""))
                    .isEqualTo(Verdict.REFUSED);
            assertThat(FakeServer.offer(peer, 1, Attributes.Type.FILE, "out/new", ""))
                    .isEqualTo(Verdict.REFUSED);
        }
        assertThat(children(folder.resolve("outside"))).hasSize(1);
    }

    @Test
    void aServerCannotWriteOutsideOfTheClientsFolderEither() throws Exception {
        var entry = new Entry(
                0, new Attributes(Attributes.Type.FILE, 0644, 5, Instant.EPOCH, 0), Path.of("a"), Entry.NO_TARGET);
        assertThatThrownBy(() -> Entry.readFrom(told(entry, "../../.ssh/authorized_keys")))
                .hasMessageContaining("path");
    }

    private static Message told(Entry entry, String name) {
        Message message = new Message(0, java.nio.ByteBuffer.allocate(Message.MAX)).begin(Kind.ENTRY);
        Attributes a = entry.attributes();
        message.int32(0).int8(a.type().ordinal()).int32(a.mode()).int64(a.size());
        message.int64(0)
                .int32(0)
                .int64(0)
                .counted(name.getBytes(StandardCharsets.UTF_8))
                .counted(new byte[0]);
        return message.arrived(message.bytes().position()).open();
    }

    private static List<String> children(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.map(each -> each.getFileName().toString()).toList();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"a folder", "a second file", "a link", "a file below"})
    void anUploadOfOneFileBringsNothingElse(String what) throws Exception {
        try (FilesFixture fixture = FilesFixture.serving(served, "rocev2");
                MessageChannel peer = fixture.stranger()) {
            Handshake.asClient(peer, SMALL, Optional.empty(), FilesFixture.TIMEOUT);
            peer.send(new Request(true, FilesFixture.set(), Path.of("new"))
                    .writeTo(peer.write(Kind.REQUEST))
                    .memory(Window.NONE));
            peer.expect(Kind.READY, FilesFixture.TIMEOUT);
            peer.send(peer.write(Kind.TOTAL).int64(1).int64(5));
            assertThatThrownBy(() -> {
                        switch (what) {
                            case "a folder" -> FakeServer.offer(peer, 0, Attributes.Type.FOLDER, "x", "");
                            case "a second file" -> {
                                FakeServer.offer(peer, 0, Attributes.Type.FILE, "x", "");
                                FakeServer.offer(peer, 1, Attributes.Type.FILE, "y", "");
                            }
                            case "a link" -> FakeServer.offer(peer, 0, Attributes.Type.LINK, "x", "y");
                            default -> FakeServer.offer(peer, 0, Attributes.Type.FILE, "x/y", "");
                        }
                    })
                    .isInstanceOf(CommandFailed.class)
                    .hasMessageStartingWith("the peer: the peer offers \"");
        }
        assertThat(served.resolve("new")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {"twice", "of nothing", "done too early", "dropped too early", "free too early"})
    void aReceiverSaysOfAFileOnlyWhatCanBe(String what) throws Exception {
        try (FilesFixture fixture = FilesFixture.serving(served, "rocev2");
                MessageChannel peer = fixture.stranger()) {
            Handshake.asClient(peer, SMALL.with(Mode.READ), Optional.empty(), FilesFixture.TIMEOUT);
            peer.send(new Request(false, FilesFixture.set(), Path.of("inside/file"))
                    .writeTo(peer.write(Kind.REQUEST))
                    .memory(Window.NONE));
            peer.expect(Kind.READY, FilesFixture.TIMEOUT);
            peer.expect(Kind.TOTAL, FilesFixture.TIMEOUT);
            int id = peer.expect(Kind.ENTRY, FilesFixture.TIMEOUT).bytes().getInt();
            switch (what) {
                case "twice" -> {
                    want(peer, id);
                    want(peer, id);
                }
                case "of nothing" -> want(peer, id + 1);
                case "done too early" ->
                    peer.send(peer.write(Kind.DONE).int32(id).text(""));
                case "dropped too early" -> peer.send(peer.write(Kind.DROPPED).int32(id));
                default -> peer.send(peer.write(Kind.FREE).int32(0));
            }
            assertThatThrownBy(() -> {
                        while (true) {
                            peer.receive(FilesFixture.TIMEOUT);
                        }
                    })
                    .isInstanceOf(CommandFailed.class)
                    .hasMessageMatching("the peer: the peer (says of file what it cannot know|speaks of a .* not .*)");
        }
    }

    private static void want(MessageChannel peer, int id) throws InterruptedException {
        peer.send(peer.write(Kind.WANT).int32(id).int64(0).int8(0).text(""));
    }

    // ---- secrets

    @Test
    void whoKnowsTheSecretIsServedAndWhoDoesNotIsTold() throws Exception {
        var settings = new FileServer.Settings(
                Folder.at(served), true, SECRET, false, 4, 1 << 20, false, FilesFixture.TIMEOUT);
        try (FilesFixture fixture = FilesFixture.serving(served, settings, new GuessLimit(System::nanoTime))) {
            fixture.client(SMALL, SECRET).close();
            assertThatThrownBy(() -> fixture.client(SMALL, WRONG)).hasMessage("the peer: wrong secret");
            assertThatThrownBy(() -> fixture.client(SMALL)).hasMessageStartingWith("the server wants a secret: ");
        }
    }

    @Test
    void aServerThatDoesNotKnowTheSecretIsNotBelieved() throws Exception {
        try (FilesFixture fixture = FilesFixture.serving(served, "rocev2")) {
            assertThatThrownBy(() -> fixture.client(SMALL, SECRET))
                    .hasMessageStartingWith("the server asks for no secret, so it may be any program");
        }
    }

    @Test
    void aProofIsGoodForOneConnectionAndOneRoleOnly() {
        Secret secret = SECRET.orElseThrow();
        byte[] hello = {1, 2, 3};
        byte[] challenge = {4, 5};

        byte[] proof = secret.proof(true, hello, challenge);

        assertThat(secret.isProof(proof, true, hello, challenge)).isTrue();
        assertThat(secret.isProof(proof, false, hello, challenge)).isFalse();
        assertThat(secret.isProof(proof, true, hello, new byte[] {4, 6})).isFalse();
        assertThat(secret.isProof(proof, true, new byte[] {1, 2, 3, 4}, new byte[] {5}))
                .isFalse();
        assertThat(WRONG.orElseThrow().isProof(proof, true, hello, challenge)).isFalse();
    }

    @Test
    void anAddressThatGuessesHasToWait() throws Exception {
        var now = new AtomicLong();
        var settings = new FileServer.Settings(
                Folder.at(served), true, SECRET, false, 4, 1 << 20, false, FilesFixture.TIMEOUT);
        try (FilesFixture fixture = FilesFixture.serving(served, settings, new GuessLimit(now::get))) {
            for (int i = 0; i < GuessLimit.BURST; i++) {
                assertThatThrownBy(() -> fixture.client(SMALL, WRONG)).hasMessage("the peer: wrong secret");
            }
            assertThatThrownBy(() -> fixture.client(SMALL, SECRET))
                    .hasMessage("the peer: too many wrong secrets from this address; try again later");
            now.addAndGet(GuessLimit.REFILL_NANOS);
            assertThatThrownBy(() -> fixture.client(SMALL, WRONG)).hasMessage("the peer: wrong secret");
            assertThatThrownBy(() -> fixture.client(SMALL, SECRET)).hasMessageContaining("too many wrong secrets");
            now.addAndGet(GuessLimit.REFILL_NANOS);
            fixture.client(SMALL, SECRET).close();
        }
    }

    @Test
    void aSecretIsLongAndItsFileIsPrivate() throws Exception {
        Path file = folder.resolve("secret");
        Files.writeString(file, "short\n");
        assertThatThrownBy(() -> Secret.find(file, java.util.Map.of())).hasMessageContaining("chmod 600");
        Files.setPosixFilePermissions(file, java.nio.file.attribute.PosixFilePermissions.fromString("rw-------"));
        assertThatThrownBy(() -> Secret.find(file, java.util.Map.of())).hasMessageContaining("at least 16 bytes");
        assertThatThrownBy(() -> Secret.find(folder.resolve("none"), java.util.Map.of()))
                .hasMessageStartingWith("--secret-file: there is no ");
        assertThat(Secret.find(null, java.util.Map.of())).isEmpty();
    }

    @Test
    void aServerForReadingIsNotWrittenTo() throws Exception {
        var settings = new FileServer.Settings(
                Folder.at(served), false, Optional.empty(), false, 4, 1 << 20, false, FilesFixture.TIMEOUT);
        try (FilesFixture fixture = FilesFixture.serving(served, settings, new GuessLimit(System::nanoTime))) {
            assertThatThrownBy(() -> fixture.put(SMALL, write(folder.resolve("x"), 5), ""))
                    .hasMessage("the peer: the served folder is not to be changed; 'serve --writable' allows it");
        }
        assertThat(served.resolve("x")).doesNotExist();
    }

    @Test
    void moreClientsThanAllowedAreSentAway() throws Exception {
        var settings = new FileServer.Settings(
                Folder.at(served), false, Optional.empty(), false, 1, 1 << 20, false, FilesFixture.TIMEOUT);
        try (FilesFixture fixture = FilesFixture.serving(served, settings, new GuessLimit(System::nanoTime));
                FileClient first = fixture.client(SMALL)) {
            assertThat(first.terms().slots()).isEqualTo(3);
            assertThatThrownBy(() -> fixture.get(SMALL, "inside/file", folder))
                    .hasMessage("the peer: the server has its 1 clients; try again later");
        }
    }

    @Test
    void aClientGetsNoMoreMemoryThanTheServerAllows() throws Exception {
        var settings = new FileServer.Settings(
                Folder.at(served), false, Optional.empty(), false, 1, 1 << 20, false, FilesFixture.TIMEOUT);
        try (FilesFixture fixture = FilesFixture.serving(served, settings, new GuessLimit(System::nanoTime));
                FileClient client = fixture.client(new Terms(Terms.CHUNK_MAX, 64, Mode.READ, Checksum.CRC32C))) {
            assertThat(client.terms().windowBytes()).isLessThanOrEqualTo(1 << 20);
        }
    }

    // ---- memory

    @ParameterizedTest
    @ValueSource(strings = {"read of what is for writing", "write behind the end", "write with another key"})
    void onlyTheWindowCanBeTouchedAndOnlyInItsWay(String what) throws Exception {
        try (FilesFixture fixture = FilesFixture.serving(served, "rocev2")) {
            try (MessageChannel peer = fixture.stranger()) {
                Handshake.asClient(peer, SMALL, Optional.empty(), FilesFixture.TIMEOUT);
                RemoteMemory theirs = request(peer);
                try (var window = new Window(peer.connection(), SMALL.with(Mode.READ), true)) {
                    int rkey = theirs.rkey();
                    long end = theirs.address() + theirs.length();
                    switch (what) {
                        case "read of what is for writing" -> peer.read(0, window.region(), 0, 4096, theirs);
                        case "write behind the end" -> writeTo(peer, window, new RemoteMemory(end - 4095, rkey, 4096));
                        default -> writeTo(peer, window, new RemoteMemory(end - 4096, rkey ^ 0x100, 4096));
                    }
                    assertThatThrownBy(() -> peer.receive(FilesFixture.TIMEOUT))
                            .isInstanceOf(ConnectionException.class);
                }
            }
            assertThat(fixture.get(SMALL, "inside/file", folder).said).containsEntry("file", "done");
        }
    }

    private static void writeTo(MessageChannel peer, Window window, RemoteMemory to) throws InterruptedException {
        peer.send(peer.write(Kind.FINISH), window.region(), 0, 4096, to);
    }

    // ---- chunks

    @ParameterizedTest
    @ValueSource(strings = {"WRITE", "READ"})
    void aDamagedChunkIsAskedForAgain(String mode) throws Exception {
        Terms terms = SMALL.with(Mode.valueOf(mode));
        try (FilesFixture fixture = FilesFixture.serving(served, "rocev2");
                MessageChannel peer = fixture.stranger()) {
            Handshake.asClient(peer, terms, Optional.empty(), FilesFixture.TIMEOUT);
            try (var window = new Window(peer.connection(), terms, true)) {
                RemoteMemory theirs = request(peer, window.exposed());
                peer.send(entry(peer, Attributes.Type.FILE, "file".getBytes(StandardCharsets.UTF_8), ""));
                peer.expect(Kind.WANT, FilesFixture.TIMEOUT);
                window.slot(0).put(0, new byte[] {1, 2, 3, 4, 5}).limit(5);
                var sum = new byte[Checksum.MAX];
                terms.checksum().computer().compute(window.slot(0), sum);
                window.slot(0).put(3, (byte) 99);
                for (int i = 0; i < 5; i++) {
                    chunk(peer, terms, window, theirs, sum);
                    assertThat(peer.expect(Kind.AGAIN, FilesFixture.TIMEOUT)
                                    .bytes()
                                    .getInt())
                            .isZero();
                }
                assertThat(served.resolve("file")).doesNotExist();
                window.slot(0).put(3, (byte) 4);
                chunk(peer, terms, window, theirs, sum);
                peer.expect(Kind.FREE, FilesFixture.TIMEOUT);
                peer.send(peer.write(Kind.END)
                        .int32(0)
                        .put(Checksum.fileDigest(5)
                                .digest(java.util.Arrays.copyOf(
                                        sum, terms.checksum().bytes()))));
                Message done = peer.expect(Kind.DONE, FilesFixture.TIMEOUT);
                done.bytes().getInt();
                assertThat(done.takeText()).isEmpty();
            }
        }
        assertThat(Files.readAllBytes(served.resolve("file"))).containsExactly(1, 2, 3, 4, 5);
    }

    @Test
    void aWrongDigestIsNoFile() throws Exception {
        try (FilesFixture fixture = FilesFixture.serving(served, "rocev2");
                MessageChannel peer = putting(fixture, Mode.WRITE)) {
            peer.send(new Entry(
                            0,
                            new Attributes(Attributes.Type.FILE, 0644, 0, Instant.EPOCH, 0),
                            Path.of("file"),
                            Entry.NO_TARGET)
                    .writeTo(peer.write(Kind.ENTRY)));
            peer.expect(Kind.WANT, FilesFixture.TIMEOUT);
            peer.send(peer.write(Kind.END).int32(0).put(new byte[Checksum.DIGEST]));

            Message done = peer.expect(Kind.DONE, FilesFixture.TIMEOUT);
            done.bytes().getInt();
            assertThat(done.takeText()).startsWith("file: its digest is not that of the source");
        }
        assertThat(served.resolve("file")).doesNotExist();
        assertThat(served.resolve(".file.verbena-part")).doesNotExist();
    }

    @Test
    void aDiskThatDoesNotGiveBackWhatWasWrittenIsFoundOut() throws Exception {
        Path file = write(folder.resolve("file"), 9000);
        try (FilesFixture fixture = FilesFixture.serving(served, "rocev2", Faulty.damaging((bytes, position) -> {
            if (position == 4096) {
                bytes.put(7, (byte) (bytes.get(7) ^ 1));
            }
        }))) {
            assertThat(fixture.put(SMALL, file, "", Request.Option.VERIFY).said)
                    .containsEntry("file", "failed: file: the disk does not give back what was written");
        }
        assertThat(served.resolve("file")).doesNotExist();
    }

    @Test
    void aSourceThatChangesIsAnErrorThatNamesIt() throws Exception {
        Path file = write(folder.resolve("file"), 100_000);
        Path shrinking = write(folder.resolve("shrinking"), 100_000);
        try (FilesFixture fixture = FilesFixture.serving(served, "rocev2")) {
            assertThat(fixture.put(
                                    SMALL,
                                    Faulty.atRead(
                                            10,
                                            () -> Files.writeString(
                                                    file, "more", java.nio.file.StandardOpenOption.APPEND)),
                                    file,
                                    "")
                            .said)
                    .containsEntry("file", "failed: file: it has changed while it was copied");
            assertThat(fixture.put(SMALL, Faulty.atRead(10, () -> Files.write(shrinking, new byte[10])), shrinking, "")
                            .said)
                    .containsEntry("shrinking", "failed: shrinking: it has become shorter while it was copied");
        }
        assertThat(served.resolve("file")).doesNotExist();
        assertThat(served.resolve("shrinking")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void messagesByChanceHarmNobodyElse(long seed) throws Exception {
        var random = new Random(seed);
        try (FilesFixture fixture = FilesFixture.serving(served, "rocev2")) {
            try (MessageChannel peer = random.nextBoolean() ? fixture.stranger() : putting(fixture, Mode.WRITE)) {
                for (int i = 0; i < 20; i++) {
                    Message message = peer.write(Kind.values()[random.nextInt(Kind.values().length - 1)]);
                    var bytes = new byte[random.nextInt(80)];
                    random.nextBytes(bytes);
                    if (random.nextBoolean() && bytes.length > 4) {
                        bytes[0] = bytes[1] = bytes[2] = bytes[3] = 0;
                    }
                    peer.send(message.put(bytes));
                }
            } catch (VerbsException e) {
                // It was thrown out while it was talking.
            }
            assertThat(fixture.get(SMALL, "inside/file", folder).said)
                    .as("seed " + seed)
                    .containsEntry("file", "done");
        }
        assertThat(children(folder)).as("seed " + seed).hasSize(3);
    }

    // ---- a client by hand

    /// A client that has asked to put something into the folder.
    private static MessageChannel putting(FilesFixture fixture, Mode mode) throws InterruptedException {
        MessageChannel peer = fixture.stranger();
        Handshake.asClient(peer, SMALL.with(mode), Optional.empty(), FilesFixture.TIMEOUT);
        request(peer);
        return peer;
    }

    private static RemoteMemory request(MessageChannel peer) throws InterruptedException {
        return request(peer, Window.NONE);
    }

    private static RemoteMemory request(MessageChannel peer, RemoteMemory exposed) throws InterruptedException {
        var request = new Request(true, FilesFixture.set(Request.Option.RECURSIVE), Path.of(""));
        peer.send(request.writeTo(peer.write(Kind.REQUEST)).memory(exposed));
        RemoteMemory theirs = peer.expect(Kind.READY, FilesFixture.TIMEOUT).takeMemory();
        peer.send(peer.write(Kind.TOTAL).int64(1).int64(5));
        return theirs;
    }

    private static Message entry(MessageChannel peer, Attributes.Type type, byte[] name, String target)
            throws InterruptedException {
        Message message = peer.write(Kind.ENTRY);
        message.int32(0)
                .int8(type.ordinal())
                .int32(0644)
                .int64(5)
                .int64(0)
                .int32(0)
                .int64(0);
        return message.counted(name).counted(target.getBytes(StandardCharsets.UTF_8));
    }

    private static void chunk(MessageChannel peer, Terms terms, Window window, RemoteMemory theirs, byte[] sum)
            throws InterruptedException {
        Message message = peer.write(Kind.CHUNK).int32(0).int32(0).int64(0).int32(5);
        message.bytes().put(sum, 0, terms.checksum().bytes());
        if (terms.mode() == Mode.WRITE) {
            peer.send(message, window.region(), 0, 5, theirs);
        } else {
            peer.send(message);
        }
    }

    @Test
    void aReceiverThatAlwaysFindsDamageIsGivenUp() throws Exception {
        Path file = write(folder.resolve("file"), 4096);
        var heard = new Heard();
        try (FilesFixture fixture = FilesFixture.serving(served, "rocev2", Faulty.damaging((bytes, position) -> {}))) {
            fixture.refuseChunks(SMALL, List.of(Walk.Source.of(Folder.at(folder), file.getFileName())), heard);
        }
        assertThat(heard.said).containsEntry("file", "failed: file: arrived damaged 4 times");
    }
}
