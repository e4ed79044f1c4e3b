package verbena.nic.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.verbs.Access;
import verbena.verbs.ConnectionException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionOptions;

/// Memory that a caller gives to a connection and that cannot be used: the call is refused, and no message is lost.
@Timeout(120)
class MemoryOfCallersTest {
    private static ConnectionOptions options(boolean isAhead) {
        return isAhead ? ConnectionOptions.defaults().withReceivesAhead(1000) : ConnectionOptions.defaults();
    }

    /// A buffer that belongs to a thread which has ended.
    private static ByteBuffer ofAnotherThread() throws Exception {
        var made = new CompletableFuture<ByteBuffer>();
        Thread.ofPlatform()
                .start(() -> made.complete(Arena.ofConfined().allocate(100).asByteBuffer()))
                .join();
        return made.get(60, TimeUnit.SECONDS);
    }

    private static ByteBuffer closed() {
        try (Arena arena = Arena.ofShared()) {
            return arena.allocate(100).asByteBuffer();
        }
    }

    @ParameterizedTest
    @CsvSource({"rocev2, true", "rocev2, false", "iwarp, true", "iwarp, false", "shm, true", "shm, false"})
    void aReceiveIntoMemoryThatCannotBeWrittenTakesNoMessage(String device, boolean isAhead) throws Exception {
        try (var ends = ConnectedEnds.of(device, options(isAhead))) {
            Connection server = ends.server();
            CompletableFuture<Void> sent = isAhead ? send(ends.client(), "first") : new CompletableFuture<>();
            for (ByteBuffer bad :
                    new ByteBuffer[] {ByteBuffer.allocate(100).asReadOnlyBuffer(), ofAnotherThread(), closed()}) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> server.receive(bad))
                        .withMessageContaining("into");
            }
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> server.receive(-1))
                    .withMessageContaining("maxBytes");
            MemoryRegion writable = server.allocate(100);
            MemoryRegion readOnly = server.allocate(100, Set.of(Access.REMOTE_READ));
            MemoryRegion closed = server.allocate(100);
            closed.close();
            for (MemoryRegion bad : new MemoryRegion[] {readOnly, closed}) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> server.receive(bad.slice(0, 100)))
                        .withMessageContaining("region");
            }
            for (int[] bad : new int[][] {{-1, 10}, {0, 101}, {100, 1}, {0, -1}}) {
                assertThatExceptionOfType(IndexOutOfBoundsException.class)
                        .isThrownBy(() -> server.receive(writable.slice(bad[0], bad[1])));
            }
            CompletableFuture<Void> sending = isAhead ? sent : send(ends.client(), "first");
            assertThat(server.receiveText(100)).isEqualTo("first");
            sending.get(60, TimeUnit.SECONDS);
        }
    }

    private static CompletableFuture<Void> send(Connection from, String text) {
        return CompletableFuture.runAsync(
                () -> {
                    try {
                        from.send(text);
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                },
                Thread::startVirtualThread);
    }

    @ParameterizedTest
    @CsvSource({"rocev2", "iwarp", "shm"})
    void aReadIntoMemoryThatCannotBeWrittenLeavesTheConnectionAsItIs(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device, ConnectionOptions.defaults())) {
            MemoryRegion there = ends.server().allocate(100, Access.remoteAll());
            there.segment().setString(0, "there");
            MemoryRegion readOnly = ends.client().allocate(100, Set.of(Access.REMOTE_READ));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> ends.client().read(there.remote().slice(0, 6), readOnly.slice(0, 6)));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> ends.client().readAsync(there.remote().slice(0, 6), readOnly.slice(0, 6)));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> ends.client()
                            .read(
                                    there.remote()
                                            .slice(
                                                    0,
                                                    ByteBuffer.allocate(6)
                                                            .asReadOnlyBuffer()
                                                            .remaining()),
                                    ByteBuffer.allocate(6).asReadOnlyBuffer()));
            assertThat(ends.client().read(there.remote().slice(0, 5)))
                    .isEqualTo("there".getBytes(StandardCharsets.UTF_8));
        }
    }

    /// Memory that cannot be read is not sent, and what it would have been copied to is used again.
    @ParameterizedTest
    @CsvSource({"rocev2", "iwarp", "shm"})
    void aSendFromMemoryThatCannotBeReadSendsNothing(String device) throws Exception {
        try (var ends = ConnectedEnds.of(device, options(true))) {
            for (int i = 0; i < 200; i++) {
                ByteBuffer bad = i % 2 == 0 ? closed() : ofAnotherThread();
                assertThatExceptionOfType(RuntimeException.class)
                        .isThrownBy(() -> ends.client().send(bad))
                        .isNotInstanceOf(ConnectionException.class);
            }
            ends.client().send("first");
            assertThat(ends.server().receiveText(100)).isEqualTo("first");
        }
    }
}
