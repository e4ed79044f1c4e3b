package verbena.tools.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static verbena.tools.files.CopyTest.SMALL;
import static verbena.tools.files.CopyTest.write;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.InvalidStateException;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.Connection;

/// Peers that say nothing, or say only that they are busy. `HostileServerTest` has the server that says nothing.
@Timeout(180)
class SilenceTest {
    @TempDir
    private Path folder;

    private Path served;

    @BeforeEach
    void aFile() throws Exception {
        served = folder.resolve("served");
        write(served.resolve("file"), 100_000);
    }

    private FilesFixture serving(Folder of, Duration silence) {
        var settings = new FileServer.Settings(of, true, Optional.empty(), false, 1, 1 << 20, false, silence);
        return FilesFixture.serving(served, settings, new GuessLimit(System::nanoTime));
    }

    @ParameterizedTest
    @ValueSource(strings = {"after its request", "after an entry", "as a receiver"})
    void aSilentClientDoesNotKeepItsPlace(String when) throws Exception {
        try (FilesFixture fixture = serving(Folder.at(served), Duration.ofSeconds(1))) {
            try (MessageChannel peer = fixture.stranger()) {
                request(peer, when.equals("as a receiver"));
                if (when.equals("after an entry")) {
                    peer.send(peer.write(Kind.TOTAL).int64(1).int64(5));
                    FakeServer.offer(peer, 0, Attributes.Type.FILE, "new", "");
                }
                fixture.logged("said nothing for 1.0 s");

                assertThat(fixture.get(SMALL, "file", folder).said).containsEntry("file", "done");
            }
        }
    }

    @Test
    void aClientThatTakesNoMessagesDoesNotKeepItsPlace() throws Exception {
        try (FilesFixture fixture = serving(Folder.at(served), Duration.ofSeconds(1))) {
            try (MessageChannel peer = fixture.stranger()) {
                request(peer, false);
                peer.send(peer.write(Kind.TOTAL).int64(1).int64(5));
                Thread talker = Thread.ofPlatform().start(() -> {
                    try {
                        while (true) {
                            peer.send(peer.write(Kind.NOTE)
                                    .int32(1)
                                    .int8(0)
                                    .text("x")
                                    .text("y"));
                        }
                    } catch (VerbsException | InterruptedException _) {
                        // It was thrown out.
                    }
                });
                fixture.logged("took no message for 1.0 s");
                assertThat(fixture.get(SMALL, "file", folder).said).containsEntry("file", "done");
                talker.interrupt();
                talker.join();
            }
        }
    }

    @Test
    void aServerWhoseDiskIsSlowSaysThatItIsBusy() throws Exception {
        var isHeard = new CountDownLatch(1);
        Folder slow = Folder.at(served, Faulty.atRead(1, () -> {
            try {
                isHeard.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        }));
        try (FilesFixture fixture = serving(slow, FilesFixture.TIMEOUT);
                MessageChannel peer = fixture.stranger()) {
            request(peer, true);
            peer.expect(Kind.TOTAL, FilesFixture.TIMEOUT);
            int id = peer.expect(Kind.ENTRY, FilesFixture.TIMEOUT).bytes().getInt();
            peer.send(peer.write(Kind.WANT).int32(id).int64(24).int8(0).text("")); // the last chunk
            peer.expect(Kind.BUSY, FilesFixture.TIMEOUT);
            peer.expect(Kind.BUSY, FilesFixture.TIMEOUT);
            isHeard.countDown();
            Message message = peer.receive();
            assertThat(message.kind()).isEqualTo(Kind.CHUNK);
        }
    }

    @Test
    void aBusyServerIsWaitedFor() throws Exception {
        try (var server = FakeServer.sending(client -> {
            for (int i = 0; i < 300; i++) {
                client.send(client.write(Kind.BUSY));
            }
            FakeServer.offer(client, 0, Attributes.Type.FILE, "other", "");
        })) {
            assertThatThrownBy(() -> server.get("file", folder, FilesFixture.TIMEOUT))
                    .hasMessage("the peer offers \"other\", which was not asked for");
        }
    }

    @Test
    void aStrangerIsNotHeardOutForEver() throws Exception {
        try (FilesFixture fixture = serving(Folder.at(served), FilesFixture.TIMEOUT);
                MessageChannel peer = fixture.stranger()) {
            peer.send(peer.write(Kind.BUSY));
            assertThatThrownBy(() -> {
                        while (true) {
                            peer.receive(FilesFixture.TIMEOUT);
                        }
                    })
                    .isInstanceOf(RuntimeException.class);
            assertThat(fixture.logged("which has no place here")).contains("BUSY");
        }
    }

    @Test
    void strangersOfOneAddressDoNotGetAllPlaces() throws Exception {
        var secret = Optional.of(Secret.of("a secret of this test alone"));
        var settings = new FileServer.Settings(
                Folder.at(served), false, secret, false, 8, 1 << 20, false, FilesFixture.TIMEOUT);
        List<MessageChannel> strangers = new ArrayList<>();
        try (FilesFixture fixture = FilesFixture.serving(served, settings, new GuessLimit(System::nanoTime))) {
            try {
                for (int i = 0; i < FileServer.STRANGERS_MAX * 3 / 4; i++) {
                    MessageChannel stranger = fixture.stranger();
                    strangers.add(stranger);
                    stranger.send(hello(stranger));
                    stranger.expect(Kind.CHALLENGE, FilesFixture.TIMEOUT); // so it has its place
                }
                for (int i = 0; i < 3; i++) {
                    MessageChannel more = fixture.stranger();
                    strangers.add(more);
                    assertThatThrownBy(() -> more.receive(FilesFixture.TIMEOUT))
                            .hasMessageStartingWith("the peer is gone: ");
                }

                strangers.getFirst().close();
                fixture.logged("the peer is gone: ");
                fixture.client(SMALL, secret).close();
            } finally {
                strangers.forEach(MessageChannel::close);
            }
        }
    }

    private static Message hello(MessageChannel stranger) throws InterruptedException {
        Message hello = stranger.write(Kind.HELLO).put("VRBFILES".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
        hello.bytes().putShort((short) Terms.VERSION);
        return hello.int32(4096).int32(1).int8(0).int8(0).put(new byte[32]);
    }

    @Test
    void aConnectionWithoutRoomForMessagesIsGivenBack() throws Exception {
        try (FilesFixture fixture = serving(Folder.at(served), FilesFixture.TIMEOUT)) {
            Connection connection = fixture.connect();
            connection.queuePair().close(); // or whatever else makes it impossible

            assertThatThrownBy(() -> new MessageChannel(connection)).isInstanceOf(InvalidStateException.class);

            assertThat(connection.queuePair().protectionDomain().isClosed()).isTrue();
        }
    }

    @Test
    void aMailboxHasAsMuchMemoryAsTheDocumentsSay() {
        assertThat(2L * MessageChannel.MESSAGES_MAX * Message.MAX).isLessThanOrEqualTo(2_300_000);
        assertThat(2 * Entry.NAME_MAX + 64).isLessThan(Message.MAX);
    }

    private static void request(MessageChannel peer, boolean isGet) throws InterruptedException {
        Handshake.asClient(peer, SMALL.with(isGet ? Mode.READ : Mode.WRITE), Optional.empty(), FilesFixture.TIMEOUT);
        peer.send(new Request(!isGet, FilesFixture.set(Request.Option.RECURSIVE), Path.of(isGet ? "file" : "new"))
                .writeTo(peer.write(Kind.REQUEST))
                .memory(Window.NONE));
        peer.expect(Kind.READY, FilesFixture.TIMEOUT);
    }
}
