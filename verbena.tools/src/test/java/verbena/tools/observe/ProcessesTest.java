package verbena.tools.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.tools.Cli;
import verbena.tools.kit.JavaCommand;

/// Commands as processes of their own, some of which are killed.
@Timeout(180)
class ProcessesTest {
    private static final String ENDLESS = "-n 100000000";

    /// A server's address, so that tests beside this one have others.
    private static final String LOOPBACK = "127.77." + ProcessHandle.current().pid() % 250 + ".3";

    private final List<Process> started = new ArrayList<>();

    @AfterEach
    void endAll() {
        started.forEach(Process::destroyForcibly);
    }

    @Test
    void pingpongBetweenTwoProcesses() throws Exception {
        Process server = start("pingpong rc -p 0 -n 500 -c");
        int port = portOf(server);
        Process client = start("pingpong rc -n 500 -c -p " + port + " 127.0.0.1");

        assertThat(client.waitFor()).isZero();
        assertThat(server.waitFor()).isZero();
        assertThat(text(client)).contains("4096000 bytes in ", "500 iters in ");
        assertThat(text(server)).contains("4096000 bytes in ", "500 iters in ");
    }

    @Test
    void aKilledClientEndsTheServerWithAStatus() throws Exception {
        Process server = start("pingpong rc -p 0 --timeout 5 " + ENDLESS);
        Process client = start("pingpong rc --timeout 20 " + ENDLESS + " -p " + portOf(server) + " 127.0.0.1");
        BufferedReader lines = client.inputReader();
        assertThat(lines.readLine()).contains("local address");
        assertThat(lines.readLine()).contains("remote address");

        letItPlay(client);
        client.destroyForcibly();

        assertThat(server.waitFor()).isEqualTo(1);
        assertThat(server.errorReader().readLine())
                .startsWith("verbena pingpong rc: ")
                .containsAnyOf("RETRY_EXC_ERR (transport retry counter exceeded)", "nothing happened for 5 s");
    }

    /// An endless game prints nothing, but a player polls, and that takes processor time.
    private static void letItPlay(Process client) throws InterruptedException {
        Duration before = client.info().totalCpuDuration().orElseThrow();
        while (client.info().totalCpuDuration().orElseThrow().minus(before).toMillis() < 300) {
            assertThat(client.waitFor(10, TimeUnit.MILLISECONDS))
                    .as("it has ended")
                    .isFalse();
        }
    }

    @Test
    void aTerminatedServerStopsListening() throws Exception {
        Process server = start("pingpong rc -p 0");
        int port = portOf(server);

        server.destroy();

        assertThat(server.waitFor(10, TimeUnit.SECONDS)).isTrue();
        assertThat(server.exitValue()).isEqualTo(128 + 15);
        assertThat(Cli.run("pingpong", "rc", "-p", Integer.toString(port), "127.0.0.1")
                        .status())
                .isEqualTo(1);
    }

    @Test
    void aKilledClientOfRpingEndsTheServerWithAReason() throws Exception {
        Process server = start("rping -s -p 0 -a " + LOOPBACK + " --timeout 1");
        Process client = start("rping -c -v -a " + LOOPBACK + " -p " + cmPortOf(server));
        assertThat(client.inputReader().readLine()).contains("rdma-ping-0");

        client.destroyForcibly();

        assertThat(server.waitFor()).isEqualTo(255);
        assertThat(text(server.getErrorStream())).contains("verbena rping: ");
    }

    @Test
    void aKilledServerOfRpingEndsTheClientWithAReason() throws Exception {
        Process server = start("rping -s -p 0 -a " + LOOPBACK);
        Process client = start("rping -c -v -a " + LOOPBACK + " --timeout 10 -p " + cmPortOf(server));
        assertThat(client.inputReader().readLine()).contains("rdma-ping-0");

        server.destroyForcibly();

        assertThat(client.waitFor()).isEqualTo(255);
        assertThat(text(client.getErrorStream())).contains("verbena rping: ");
    }

    @Test
    void aTerminatedServerOfRpingDisconnectsItsClient() throws Exception {
        Process server = start("rping -s -P -p 0 -a " + LOOPBACK);
        Process client = start("rping -c -v -a " + LOOPBACK + " -p " + cmPortOf(server));
        assertThat(client.inputReader().readLine()).contains("rdma-ping-0");

        server.destroy();

        assertThat(server.waitFor()).isEqualTo(128 + 15);
        assertThat(client.waitFor()).isEqualTo(255);
        assertThat(text(client.getErrorStream())).contains("client DISCONNECT EVENT...", "the connection ended within");
    }

    /// The peer has just been started, and waits for a connection: for so long it does not look at its input.
    @Test
    void theDemosPeerDoesNotOutliveAKilledDemo() throws Exception {
        Process demo = start("demo --seconds 30");
        ProcessHandle peer = childOf(demo);

        demo.destroyForcibly();

        assertThat(peer.onExit().get(20, TimeUnit.SECONDS).isAlive()).isFalse();
    }

    @Test
    void theDemosPeerIsEndedWithATerminatedDemo() throws Exception {
        Process demo = start("demo --seconds 30");
        awaitFigures(demo);
        ProcessHandle peer = childOf(demo);

        demo.destroy();

        assertThat(peer.onExit().get(10, TimeUnit.SECONDS).isAlive()).isFalse();
        assertThat(demo.waitFor(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void aKilledPeerFailsTheDemo() throws Exception {
        Process demo = start("demo --seconds 30");
        awaitFigures(demo);

        childOf(demo).destroyForcibly();

        assertThat(demo.waitFor()).isEqualTo(1);
        assertThat(demo.errorReader().readLine()).startsWith("verbena demo: ");
    }

    /// Waits until both processes are connected, and measure.
    private static void awaitFigures(Process demo) throws IOException {
        String line = demo.inputReader().readLine();
        while (!line.startsWith("How fast")) {
            line = demo.inputReader().readLine();
        }
    }

    private Process start(String arguments) throws IOException {
        List<String> command = new ArrayList<>(JavaCommand.again());
        command.addAll(List.of(arguments.split(" ", -1)));
        Process process = new ProcessBuilder(command).start();
        started.add(process);
        return process;
    }

    /// Waits until a server says on which port it listens.
    private static int portOf(Process server) throws IOException {
        String line = server.errorReader().readLine();
        return Integer.parseInt(line.replaceAll(".* port (\\d+) \\(TCP\\).*", "$1"));
    }

    private static int cmPortOf(Process server) throws IOException {
        String line = server.errorReader().readLine();
        return Integer.parseInt(line.replaceAll(".* port (\\d+); there: .*", "$1"));
    }

    private static ProcessHandle childOf(Process process) throws InterruptedException {
        while (process.children().findAny().isEmpty()) {
            assertThat(process.waitFor(10, TimeUnit.MILLISECONDS))
                    .as("it has ended")
                    .isFalse();
        }
        return process.children().findAny().orElseThrow();
    }

    private static String text(Process process) throws IOException {
        return text(process.getInputStream());
    }

    private static String text(InputStream stream) throws IOException {
        return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    }
}
