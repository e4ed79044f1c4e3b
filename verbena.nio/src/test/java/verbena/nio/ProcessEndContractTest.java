package verbena.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nio.programs.Leaver;

/// A process ends without closing its channels: the peer gets all data, and then the end, as by TCP.
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ProcessEndContractTest {
    /// What goes without a reader.
    private static final int BYTES = 100_000;

    @TempDir
    Path folder;

    /// The reader begins when the process has gone.
    @ParameterizedTest
    @ValueSource(
            strings = {"return", "exit", "shutdownOutput", "interrupted", "virtual", "hook", "selecting", "reading"})
    void thePeerOfAProcessThatHasEndedReadsAllDataAndThenTheEnd(String how) throws Exception {
        try (ServerSocketChannel listener = listener()) {
            Process process = start(listener, how);
            try (SocketChannel server = listener.accept()) {
                assertThat(process.waitFor()).as(said()).isZero();
                ByteBuffer data = Providers.readFully(server, BYTES + 1);
                assertThat(data).isEqualTo(Leaver.bytes(BYTES));
                assertThat(said()).isEmpty();
            } finally {
                process.destroyForcibly();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"return", "writing"})
    void besideBusyThreadsToo(String how) throws Exception {
        try (BusyThreads _ = new BusyThreads();
                ServerSocketChannel listener = listener()) {
            Process process = start(listener, how);
            try (SocketChannel server = listener.accept()) {
                readToTheEnd(server);
                assertThat(process.waitFor()).as(said()).isZero();
                assertThat(said()).isEmpty();
            } finally {
                process.destroyForcibly();
            }
        }
    }

    /// Whatever the process has written, in order.
    private static void readToTheEnd(SocketChannel from) throws IOException {
        ByteBuffer expected = Leaver.bytes(BYTES);
        ByteBuffer into = ByteBuffer.allocate(BYTES);
        int period = 251;
        int at = 0;
        int count = from.read(into);
        while (count >= 0) {
            assertThat(into.flip()).isEqualTo(expected.slice(at, count));
            at = (at + count) % period;
            count = from.read(into.clear().limit(BYTES - period));
        }
    }

    @Test
    void aProcessThatIsKilledIsAResetForThePeer() throws Exception {
        try (ServerSocketChannel listener = listener()) {
            Process process = start(listener, "answered");
            try (SocketChannel server = listener.accept()) {
                assertThat(Providers.readFully(server, BYTES)).isEqualTo(Leaver.bytes(BYTES));
                server.write(ByteBuffer.allocate(1));
                assertThatThrownBy(() -> server.read(ByteBuffer.allocate(1)))
                        .isInstanceOf(SocketException.class)
                        .hasMessageStartingWith("Connection ");
            } finally {
                process.destroyForcibly();
            }
        }
    }

    /// What was on its way is lost with the memory of the process, so there is no end that a reader may trust.
    @Test
    void whatAKilledProcessHadWrittenArrivesAsFarAsItHadLeft() throws Exception {
        try (ServerSocketChannel listener = listener()) {
            Process process = start(listener, "halt");
            try (SocketChannel server = listener.accept()) {
                var arrived = ByteBuffer.allocate(BYTES + 1);
                assertThatThrownBy(() -> readUntilItFails(server, arrived))
                        .isInstanceOf(SocketException.class)
                        .hasMessageStartingWith("Connection ");
                arrived.flip();
                assertThat(arrived).isEqualTo(Leaver.bytes(BYTES).slice(0, arrived.limit()));
            } finally {
                process.destroyForcibly();
            }
        }
    }

    private static void readUntilItFails(SocketChannel from, ByteBuffer into) throws IOException {
        int count = from.read(into);
        while (count >= 0) {
            count = from.read(into);
        }
    }

    private static ServerSocketChannel listener() throws IOException {
        return new RdmaSelectorProvider().openServerSocketChannel().bind(Providers.anyPort());
    }

    private Process start(ServerSocketChannel listener, String how) throws IOException {
        int port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")); // short programs
        command.add("-javaagent:" + AgentJar.make(folder));
        command.add("-Dverbena.nio.begin=rdma");
        command.add("-Dverbena.nio.wait=20000"); // by RDMA, however busy the machine is
        command.add("-Dverbena.nio.device=" + System.getProperty("verbena.nio.device", ""));
        command.addAll(List.of("-cp", AgentJar.programs(), Leaver.class.getName()));
        command.addAll(List.of(Integer.toString(port), Integer.toString(BYTES), how));
        var builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("said").toFile());
        builder.environment().remove("JAVA_TOOL_OPTIONS");
        return builder.start();
    }

    private String said() throws IOException {
        return Files.readString(folder.resolve("said"));
    }
}
