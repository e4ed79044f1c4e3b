package verbena.tools.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static verbena.tools.files.CopyTest.assertSameTree;
import static verbena.tools.files.CopyTest.write;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.tools.files.Request.Option;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.RemoteMemory;
import verbena.verbs.VerbsException;

/// Many entries in a message and many files in a slot, between honest ends and hostile ones.
@Timeout(180)
class PackTest {
    private static final Terms TERMS = new Terms(4096, 3, Mode.WRITE, Checksum.CRC32C);

    @TempDir
    private Path folder;

    // ---- honest ends

    @ParameterizedTest
    @EnumSource(Mode.class)
    void manySmallFilesTakeFewMessages(Mode mode) throws Exception {
        var terms = new Terms(1 << 18, 4, mode, Checksum.CRC32C);
        for (int i = 0; i < 300; i++) {
            write(folder.resolve("tree/" + i % 3 + "/" + i), i);
        }
        Path here = Files.createDirectory(folder.resolve("here"));
        var heard = new Heard();
        long messages;
        try (FilesFixture fixture = FilesFixture.serving(folder, "rocev2");
                MessageChannel channel = fixture.stranger();
                var session = new Session(handshaken(channel, terms), terms, false, false)) {
            var request = new Request(false, FilesFixture.set(Option.RECURSIVE, Option.NO_SYNC), Path.of("tree"));
            channel.send(request.writeTo(channel.write(Kind.REQUEST)).memory(session.exposed()));
            RemoteMemory theirs =
                    channel.expect(Kind.READY, FilesFixture.TIMEOUT).takeMemory();
            session.receive(
                    theirs, new Landing(Folder.at(here), Path.of(""), null), request.scope(), request.options(), heard);
            messages = channel.messagesReceived();
        }
        assertSameTree(folder.resolve("tree"), here.resolve("tree"));
        assertThat(heard.said.values()).containsOnly("done", "made");
        assertThat(heard.moved).hasValue(299 * 300 / 2);
        assertThat(messages).isLessThan(60); // with a message for each step of each file it would be 1200
    }

    private static MessageChannel handshaken(MessageChannel channel, Terms terms) throws InterruptedException {
        Handshake.asClient(channel, terms, Optional.empty(), FilesFixture.TIMEOUT);
        return channel;
    }

    @Test
    void aFileThatFailsDoesNotTakeTheOthersOfItsSlotWithIt() throws Exception {
        Path tree = folder.resolve("tree");
        for (String name : List.of("a", "b", "c", "d")) {
            write(tree.resolve(name), 100);
        }
        try (FilesFixture fixture = FilesFixture.serving(folder.resolve("served"), "rocev2")) {
            Files.createDirectories(fixture.served.resolve("tree/c"));
            Heard heard = fixture.put(
                    TERMS,
                    Faulty.atRead(2, () -> Files.write(tree.resolve("b"), new byte[3])),
                    tree,
                    "",
                    Option.RECURSIVE);
            assertThat(heard.said)
                    .containsEntry("tree/a", "done")
                    .containsEntry("tree/b", "failed: tree/b: it has become shorter while it was copied")
                    .containsEntry("tree/c", "failed: tree/c: a folder has this name")
                    .containsEntry("tree/d", "done");
        }
        assertThat(folder.resolve("served/tree/b")).doesNotExist();
        assertSameTree(tree.resolve("d"), folder.resolve("served/tree/d"));
        assertThat(CopyTest.names(folder.resolve("served"))).containsExactly("tree", "tree/a", "tree/c", "tree/d");
    }

    @Test
    void aReceiverThatAlwaysFindsDamageIsToldThatTheFilesAreGivenUp() throws Exception {
        write(folder.resolve("tree/a"), 100);
        write(folder.resolve("tree/b"), 100);
        try (FilesFixture fixture = FilesFixture.serving(folder, "rocev2");
                MessageChannel peer = getting(fixture)) {
            takeEntries(peer);
            for (int i = 0; i < 4; i++) {
                assertThat(missing(peer.expect(Kind.PACK, FilesFixture.TIMEOUT)))
                        .containsExactly("", "");
                peer.send(peer.write(Kind.AGAIN).int32(0));
            }
            assertThat(missing(peer.expect(Kind.PACK, FilesFixture.TIMEOUT)))
                    .containsExactly("arrived damaged 4 times", "arrived damaged 4 times");
            peer.send(peer.write(Kind.STORED).int32(0).text("so it is").text(""));
            peer.expect(Kind.FINISH, FilesFixture.TIMEOUT);
            peer.send(peer.write(Kind.BYE));
            assertThat(fixture.logged("2 failed")).contains("get /tree");
        }
    }

    // ---- a hostile sender

    @Test
    void aSlotOfWholeFilesIsCheckedAndStored() throws Exception {
        try (FilesFixture fixture = FilesFixture.serving(folder.resolve("served"), "rocev2");
                MessageChannel peer = fixture.stranger();
                var window = new Window(peer.connection(), TERMS, true)) {
            RemoteMemory theirs = putting(peer);
            offer(peer, 5, 0, 7);
            fill(window, 12);
            pack(peer, window, theirs, 12, 1, 0, 1, 2);
            assertThat(peer.expect(Kind.AGAIN, FilesFixture.TIMEOUT).bytes().getInt())
                    .isZero();
            assertThat(CopyTest.names(fixture.served)).isEmpty();

            pack(peer, window, theirs, 12, 0, 0, 1, 2);
            Message stored = peer.expect(Kind.STORED, FilesFixture.TIMEOUT);
            assertThat(stored.bytes().getInt()).isZero();
            assertThat(stored.takeText() + stored.takeText() + stored.takeText())
                    .isEmpty();
            assertThat(stored.hasMore()).isFalse();
            FakeServer.finish(peer);
            assertThat(Files.readAllBytes(fixture.served.resolve("f000"))).containsExactly(0, 1, 2, 3, 4);
            assertThat(fixture.served.resolve("f001")).isEmptyFile();
            assertThat(Files.readAllBytes(fixture.served.resolve("f002"))).containsExactly(5, 6, 7, 8, 9, 10, 11);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(fixture.served.resolve("f002"))))
                    .isEqualTo("rw-r-----");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a file twice",
                "a file that was not offered",
                "a file of several chunks",
                "a file that goes in chunks",
                "a file that is stored",
                "more bytes than its files",
                "fewer bytes than its files",
                "a negative length",
                "more than a slot",
                "more files than it may",
                "no files",
                "a record that is cut",
                "a slot that is not there",
                "a slot before the first",
                "an end besides",
                "a failure besides",
                "a chunk besides"
            })
    void whatDoesNotBelongIntoASlotEndsTheRequest(String what) throws Exception {
        try (FilesFixture fixture = FilesFixture.serving(folder.resolve("served"), "rocev2");
                MessageChannel peer = fixture.stranger();
                var window = new Window(peer.connection(), TERMS, true)) {
            RemoteMemory theirs = putting(peer);
            int[] sizes = new int[70];
            sizes[1] = 9000;
            sizes[2] = 4096;
            sizes[3] = 4096;
            offer(peer, sizes);
            fill(window, 4096);
            assertThatThrownBy(() -> {
                        hostile(peer, window, theirs, what);
                        while (true) {
                            Message message = peer.receive(FilesFixture.TIMEOUT);
                            // A chunk may be judged, and asked for again, before the slot is looked at.
                            assertThat(message.kind()).isIn(Kind.STORED, Kind.FREE, Kind.DONE, Kind.AGAIN);
                            if (what.equals("a file that is stored")) {
                                pack(peer, window, theirs, 0, 0, 0);
                            }
                        }
                    })
                    .as(what)
                    .isInstanceOf(CommandFailed.class)
                    .hasMessageMatching(
                            "the peer: the peer('s| fills| names| puts| speaks| ends| gives| sends| sent) .*");
        }
        assertThat(folder).isDirectoryNotContaining(each -> !each.endsWith("served"));
    }

    private static void hostile(MessageChannel peer, Window window, RemoteMemory theirs, String what)
            throws InterruptedException {
        switch (what) {
            case "a file twice" -> pack(peer, window, theirs, 0, 0, 4, 5, 4);
            case "a file that was not offered" -> pack(peer, window, theirs, 0, 0, 700);
            case "a file of several chunks" -> pack(peer, window, theirs, 9000, 0, 1);
            case "a file that goes in chunks" -> {
                Message chunk =
                        peer.write(Kind.CHUNK).int32(1).int32(2).int64(0).int32(4096);
                peer.send(chunk.int32(0));
                pack(peer, window, theirs, 4096, 0, 2);
            }
            case "a file that is stored" -> pack(peer, window, theirs, 0, 0, 0);
            case "more bytes than its files" -> pack(peer, window, theirs, 4095, 0, 0);
            case "fewer bytes than its files" -> pack(peer, window, theirs, 4095, 0, 2);
            case "a negative length" -> pack(peer, window, theirs, -1, 0, 0);
            case "more than a slot" -> pack(peer, window, theirs, 8192, 0, 2, 3);
            case "more files than it may" -> {
                int[] many = new int[Terms.PACK_MAX + 1];
                for (int i = 0; i < many.length; i++) {
                    many[i] = 4 + i;
                }
                pack(peer, window, theirs, 0, 0, many);
            }
            case "no files" -> pack(peer, window, theirs, 0, 0);
            case "a record that is cut" -> {
                Message message = peer.write(Kind.PACK).int32(0).int32(0).int32(0);
                peer.send(message.int32(0).int8(0).int8(7)); // 7 bytes of text, says its length
            }
            case "a slot that is not there" ->
                peer.send(peer.write(Kind.PACK)
                        .int32(3)
                        .int32(0)
                        .int32(0)
                        .int32(0)
                        .text(""));
            case "a slot before the first" ->
                peer.send(peer.write(Kind.PACK)
                        .int32(-1)
                        .int32(0)
                        .int32(0)
                        .int32(0)
                        .text(""));
            default -> {
                pack(peer, window, theirs, 4096, 0, 2);
                switch (what) {
                    case "an end besides" ->
                        peer.send(peer.write(Kind.END).int32(2).put(new byte[Checksum.DIGEST]));
                    case "a failure besides" ->
                        peer.send(peer.write(Kind.FAILED).int32(2).text("no"));
                    default ->
                        peer.send(peer.write(Kind.CHUNK)
                                .int32(1)
                                .int32(2)
                                .int64(7)
                                .int32(4096)
                                .int32(0));
                }
            }
        }
    }

    @Test
    void aSenderOffersNoMoreThanItMay() throws Exception {
        try (FilesFixture fixture = FilesFixture.serving(folder.resolve("served"), "rocev2")) {
            try (MessageChannel peer = fixture.stranger()) {
                putting(peer);
                assertThatThrownBy(() -> {
                            for (int i = 0; i <= Terms.ENTRIES_MAX; i++) {
                                peer.send(entry(peer.write(Kind.ENTRY), i, 1));
                                peer.expect(Kind.WANT, FilesFixture.TIMEOUT);
                            }
                        })
                        .hasMessage("the peer: the peer offers more than it may");
            }
        }
    }

    @Test
    void partsOfNoMoreFilesThanAllowedAreOpen() throws Exception {
        try (FilesFixture fixture = FilesFixture.serving(folder.resolve("served"), "rocev2");
                MessageChannel peer = fixture.stranger();
                var window = new Window(peer.connection(), TERMS, true)) {
            RemoteMemory theirs = putting(peer);
            int[] sizes = new int[Terms.FILES_MAX + 1];
            Arrays.fill(sizes, 4);
            offer(peer, sizes);
            fill(window, 4);
            assertThatThrownBy(() -> {
                        for (int i = 0; i < sizes.length; i++) {
                            Message chunk = peer.write(Kind.CHUNK)
                                    .int32(0)
                                    .int32(i)
                                    .int64(0)
                                    .int32(4);
                            chunk.bytes().put(sum(window, 4), 0, 4);
                            peer.send(chunk, window.region(), 0, 4, theirs);
                            peer.expect(Kind.FREE, FilesFixture.TIMEOUT);
                        }
                    })
                    .hasMessage("the peer: the peer sends parts of more files at once than it may");
        }
    }

    @Test
    void severalEntriesThatAreCutAnywhereAreNone() {
        Message message = new Message(0, ByteBuffer.allocate(Message.MAX)).begin(Kind.ENTRY);
        entry(message, 0, 1);
        int first = message.bytes().position();
        entry(message, 1, 1);
        int length = message.bytes().position();
        for (int cut = first + 1; cut < length; cut++) {
            message.arrived(cut).open();
            Entry.readFrom(message);
            assertThat(message.hasMore()).isTrue();
            assertThatThrownBy(() -> Entry.readFrom(message))
                    .as("at " + cut)
                    .isInstanceOf(BufferUnderflowException.class);
        }
    }

    @Test
    void answersShareTheRoomOfTheirMessage() {
        Message message = new Message(0, ByteBuffer.allocate(Message.MAX)).begin(Kind.STORED);
        for (int i = Terms.PACK_MAX - 1; i >= 0; i--) {
            message.text("x".repeat(5000), i, Short.BYTES);
        }
        message.arrived(message.bytes().position()).open();
        for (int i = 0; i < Terms.PACK_MAX; i++) {
            assertThat(message.takeText()).hasSizeGreaterThan(100);
        }
        assertThat(message.hasMore()).isFalse();
    }

    @Test
    void slotsByChanceHarmNobodyElse() throws Exception {
        Path served = folder.resolve("served");
        write(served.resolve("other"), 10);
        var random = new Random(7);
        try (FilesFixture fixture = FilesFixture.serving(served, "rocev2")) {
            for (int round = 0; round < 20; round++) {
                try (MessageChannel peer = fixture.stranger();
                        var window = new Window(peer.connection(), TERMS, true)) {
                    RemoteMemory theirs = putting(peer);
                    offer(peer, 5, 0, 7);
                    fill(window, 12);
                    Message message = packed(peer, window, 12, 0, 0, 1, 2);
                    int length = message.bytes().position();
                    message.bytes().put(1 + random.nextInt(length - 1), (byte) random.nextInt());
                    if (random.nextInt(3) == 0) {
                        message.bytes().position(1 + random.nextInt(length));
                    }
                    peer.send(message, window.region(), 0, 12, theirs);
                    assertThat(peer.receive(FilesFixture.TIMEOUT).kind()).isIn(Kind.STORED, Kind.AGAIN);
                } catch (CommandFailed | VerbsException e) {
                    assertThat(e).hasMessageStartingWith("the peer");
                }
            }
            Path here = Files.createDirectory(folder.resolve("here"));
            assertThat(fixture.get(TERMS, "other", here).said).containsEntry("other", "done");
        }
        assertThat(folder).isDirectoryNotContaining(each -> !each.endsWith("served") && !each.endsWith("here"));
    }

    // ---- a hostile receiver

    @ParameterizedTest
    @ValueSource(
            strings = {
                "stored before it is sent",
                "stored with too few answers",
                "stored with too many answers",
                "stored twice",
                "free",
                "a fault",
                "done",
                "dropped",
                "wanted again",
                "a part of it"
            })
    void aReceiverSaysOfASlotOnlyWhatCanBe(String what) throws Exception {
        write(folder.resolve("tree/a"), 100);
        write(folder.resolve("tree/b"), 100);
        try (FilesFixture fixture = FilesFixture.serving(folder, "rocev2");
                MessageChannel peer = getting(fixture)) {
            assertThatThrownBy(() -> {
                        if (what.equals("stored before it is sent")) {
                            peer.send(peer.write(Kind.STORED).int32(0).text("").text(""));
                        } else if (what.equals("a part of it")) {
                            peer.send(peer.write(Kind.WANT)
                                    .int32(1)
                                    .int64(1)
                                    .int8(Verdict.SEND.ordinal())
                                    .text(""));
                        } else {
                            takeEntries(peer);
                            peer.expect(Kind.PACK, FilesFixture.TIMEOUT);
                            answer(peer, what);
                        }
                        while (true) {
                            peer.receive(FilesFixture.TIMEOUT);
                        }
                    })
                    .as(what)
                    .isInstanceOf(CommandFailed.class)
                    .hasMessageMatching("the peer: the peer (says|speaks|does not say|wants|sent) .*");
            Path here = Files.createDirectory(folder.resolve("here"));
            assertThat(fixture.get(TERMS, "tree/a", here).said).containsEntry("a", "done");
        }
    }

    private static void answer(MessageChannel peer, String what) throws InterruptedException {
        switch (what) {
            case "stored with too few answers" ->
                peer.send(peer.write(Kind.STORED).int32(0).text(""));
            case "stored with too many answers" ->
                peer.send(peer.write(Kind.STORED).int32(0).text("").text("").text(""));
            case "stored twice" -> {
                peer.send(peer.write(Kind.STORED).int32(0).text("").text(""));
                peer.send(peer.write(Kind.STORED).int32(0).text("").text(""));
            }
            case "free" -> peer.send(peer.write(Kind.FREE).int32(0));
            case "a fault" -> peer.send(peer.write(Kind.FAULT).int32(1).text("no"));
            case "done" -> peer.send(peer.write(Kind.DONE).int32(1).text(""));
            case "dropped" -> peer.send(peer.write(Kind.DROPPED).int32(1));
            default ->
                peer.send(peer.write(Kind.WANT)
                        .int32(1)
                        .int64(0)
                        .int8(Verdict.SEND.ordinal())
                        .text(""));
        }
    }

    // ---- by hand

    private static RemoteMemory putting(MessageChannel peer) throws InterruptedException {
        Handshake.asClient(peer, TERMS, Optional.empty(), FilesFixture.TIMEOUT);
        var request = new Request(true, FilesFixture.set(Option.RECURSIVE, Option.INTO_FOLDER), Path.of(""));
        peer.send(request.writeTo(peer.write(Kind.REQUEST)).memory(Window.NONE));
        RemoteMemory theirs = peer.expect(Kind.READY, FilesFixture.TIMEOUT).takeMemory();
        peer.send(peer.write(Kind.TOTAL).int64(1).int64(5));
        return theirs;
    }

    /// Asks for the tree, and hears what it has.
    private static MessageChannel getting(FilesFixture fixture) throws InterruptedException {
        MessageChannel peer = fixture.stranger();
        Handshake.asClient(peer, TERMS.with(Mode.READ), Optional.empty(), FilesFixture.TIMEOUT);
        peer.send(new Request(false, FilesFixture.set(Option.RECURSIVE), Path.of("tree"))
                .writeTo(peer.write(Kind.REQUEST))
                .memory(Window.NONE));
        peer.expect(Kind.READY, FilesFixture.TIMEOUT);
        peer.expect(Kind.TOTAL, FilesFixture.TIMEOUT);
        peer.expect(Kind.ENTRY, FilesFixture.TIMEOUT);
        return peer;
    }

    /// Wants both files of the tree.
    private static void takeEntries(MessageChannel peer) throws InterruptedException {
        Message want = peer.write(Kind.WANT);
        want.int32(0).int64(-1).int8(Verdict.MADE.ordinal()).text("");
        want.int32(1).int64(0).int8(Verdict.SEND.ordinal()).text("");
        peer.send(want.int32(2).int64(0).int8(Verdict.SEND.ordinal()).text(""));
    }

    private static List<String> missing(Message pack) {
        ByteBuffer in = pack.bytes();
        in.position(1 + 4 + 4 + TERMS.checksum().bytes());
        List<String> texts = new ArrayList<>();
        do {
            in.getInt();
            texts.add(pack.takeText());
        } while (pack.hasMore());
        return texts;
    }

    /// Offers files of these sizes in one message, and hears that they are wanted.
    private static void offer(MessageChannel peer, int... sizes) throws InterruptedException {
        Message message = peer.write(Kind.ENTRY);
        for (int id = 0; id < sizes.length; id++) {
            entry(message, id, sizes[id]);
        }
        peer.send(message);
        Message want = peer.expect(Kind.WANT, FilesFixture.TIMEOUT);
        for (int id = 0; id < sizes.length; id++) {
            assertThat(want.bytes().getInt()).isEqualTo(id);
            assertThat(want.bytes().getLong()).isZero();
            assertThat(want.bytes().get()).isEqualTo((byte) Verdict.SEND.ordinal());
            assertThat(want.takeText()).isEmpty();
        }
        assertThat(want.hasMore()).isFalse();
    }

    private static Message entry(Message message, int id, int size) {
        var attributes = new Attributes(Attributes.Type.FILE, 0640, size, Instant.EPOCH, 0);
        return new Entry(id, attributes, Path.of("f%03d".formatted(id)), Entry.NO_TARGET).writeTo(message);
    }

    private static void fill(Window window, int length) {
        for (int i = 0; i < length; i++) {
            window.slot(0).put(i, (byte) i);
        }
    }

    private static byte[] sum(Window window, int length) {
        var sum = new byte[Checksum.MAX];
        ByteBuffer bytes = window.slot(0).duplicate();
        TERMS.checksum().computer().compute(bytes.position(0).limit(Math.clamp(length, 0, 4096)), sum);
        return sum;
    }

    /// Fills slot 0.
    ///
    /// @param damage what is changed in its checksum
    private static void pack(
            MessageChannel peer, Window window, RemoteMemory theirs, int length, int damage, int... ids)
            throws InterruptedException {
        Message message = packed(peer, window, length, damage, ids);
        int bytes = Math.clamp(length, 0, 4096);
        if (bytes > 0) {
            peer.send(message, window.region(), 0, bytes, theirs);
        } else {
            peer.send(message);
        }
    }

    private static Message packed(MessageChannel peer, Window window, int length, int damage, int... ids)
            throws InterruptedException {
        byte[] sum = sum(window, length);
        sum[0] ^= (byte) damage;
        Message message = peer.write(Kind.PACK).int32(0).int32(length);
        message.bytes().put(sum, 0, TERMS.checksum().bytes());
        for (int id : ids) {
            message.int32(id).text("");
        }
        return message;
    }
}
