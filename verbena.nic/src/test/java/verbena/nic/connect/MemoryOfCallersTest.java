package verbena.nic.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.verbs.Access;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionOptions;

/// Memory that a caller gives to a connection and that cannot be used: the call is refused, and no message is lost.
@Timeout(120)
class MemoryOfCallersTest {
    private static ConnectionOptions options(boolean isAhead) {
        return isAhead ? ConnectionOptions.defaults().withReceivesAhead(1000) : ConnectionOptions.defaults();
    }

    @ParameterizedTest
    @CsvSource({"rocev2, true", "rocev2, false", "iwarp, true", "iwarp, false", "shm, true", "shm, false"})
    void aReceiveIntoMemoryThatCannotBeWrittenTakesNoMessage(String device, boolean isAhead) throws Exception {
        try (var ends = ConnectedEnds.of(device, options(isAhead))) {
            Connection server = ends.server();
            CompletableFuture<Void> sent = isAhead ? send(ends.client(), "first") : new CompletableFuture<>();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> server.receive(-1))
                    .withMessageContaining("maxBytes");
            MemoryRegion writable = server.allocate(100);
            MemoryRegion readOnly = server.allocate(100, Set.of(Access.REMOTE_READ));
            MemoryRegion closed = server.allocate(100);
            closed.close();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> server.receive(readOnly))
                    .withMessageContaining("LOCAL_WRITE");
            refuses("receive", () -> server.receive(closed));
            refuses("receive", () -> server.postReceive(closed.slice(8)));
            refuses("send", () -> server.send(closed));
            refuses("write", () -> server.write(closed, writable.remote()));
            refuses("write", () -> server.postWriteWithImmediate(closed, writable.remote(), 1));
            refuses("read", () -> server.postRead(writable.remote(), closed));
            for (int[] bad : new int[][] {{-1, 10}, {0, 101}, {100, 1}, {0, -1}}) {
                assertThatExceptionOfType(IndexOutOfBoundsException.class)
                        .isThrownBy(() -> server.receive(writable.slice(bad[0], bad[1])));
            }
            CompletableFuture<Void> sending = isAhead ? sent : send(ends.client(), "first");
            assertThat(server.receiveText(100)).isEqualTo("first");
            sending.get(60, TimeUnit.SECONDS);
        }
    }

    private static void refuses(String verb, ThrowingCallable call) {
        assertThatExceptionOfType(InvalidStateException.class)
                .isThrownBy(call)
                .withMessageMatching(verb + ": memory region \\S+ is closed");
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
                    .isThrownBy(() -> ends.client().postRead(there.remote().slice(0, 6), readOnly.slice(0, 6)));
            assertThat(ends.client().read(there.remote().slice(0, 5)))
                    .isEqualTo("there".getBytes(StandardCharsets.UTF_8));
        }
    }
}
