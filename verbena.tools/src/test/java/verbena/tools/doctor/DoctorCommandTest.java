package verbena.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import verbena.nic.link.LoopbackAddress;
import verbena.tools.Cli;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// The doctor on this host, and on the way to real peers on loopback.
class DoctorCommandTest {
    @Test
    void thisHostIsExamined() {
        Cli cli = Cli.run("doctor");

        assertThat(cli.err()).isEmpty();
        assertThat(cli.out())
                .contains("  java: ", "  link: ", "  interface lo: ", "  UDP port 4791", "  socket buffers: ")
                .contains("OK    rocev2: opens; a WRITE of 4096 bytes to itself arrived")
                .contains("  shm: ")
                .contains("OK    hardware: ");
        assertThat(cli.status()).isEqualTo(cli.out().contains("\nFAIL ") ? 1 : 0);
    }

    @Test
    void aListenerIsFoundAndNoticesNothing() throws InterruptedException {
        try (Context device = Device.named("rocev2").open()) {
            var at = new InetSocketAddress(device.gid(1, 0).gid().address(), 0);
            var options = ConnectionOptions.defaults().withDevice(device);
            try (ConnectionListener listener = ConnectionListener.bind(at, options)) {
                String host = at.getAddress().getHostAddress();
                int port = listener.localAddress().getPort();

                Cli cli = Cli.run("doctor", host + ":" + port);

                assertThat(cli.out())
                        .contains("OK    peer: " + host + " speaks RoCE v2")
                        .contains("OK    port " + port + ": a program listens")
                        .contains("OK    path MTU: 4096 bytes come through")
                        .endsWith("All is well.\n");
                assertThat(cli.status()).isZero();
                assertThat(listener.accept(Duration.ZERO)).isEmpty();

                int closed = port == 65_535 ? 1_024 : port + 1;
                Cli other = Cli.run("doctor", host + ":" + closed);

                assertThat(other.out()).contains("FAIL  port " + closed + ": no program listens there");
                assertThat(other.status()).isEqualTo(1);
            }
        }
    }

    @Test
    void aPeerWithoutConnectionsIsThereAndSilent() {
        try (Context device = Device.named("rocev2").open()) {
            String host = device.gid(1, 0).gid().toString();

            Cli cli = Cli.run("doctor", "--timeout", "0.2", host);

            assertThat(cli.out()).contains("FAIL  peer: " + host + " is up, but does not answer at UDP port 4791");
            assertThat(cli.status()).isEqualTo(1);
        }
    }

    @Test
    void anAddressWithoutDeviceIsTold() {
        String host = LoopbackAddress.find(4_791).getHostAddress();

        Cli cli = Cli.run("doctor", "--timeout", "0.2", host);

        assertThat(cli.out()).contains("FAIL  peer: " + host + " says that no process has UDP port 4791");
    }

    @Test
    void whatIsNoTargetIsWrongUsage() {
        assertThat(Cli.run("doctor", "host:port").error()).contains("HOST[:PORT] expected, got 'host:port'");
        assertThat(Cli.run("doctor", "host:0").error()).contains("PORT: 1 to 65535");
        assertThat(Cli.run("doctor", "[::1]:65536").error()).contains("PORT: 1 to 65535");
        assertThat(Cli.run("doctor", "--timeout", "0", "host").error()).contains("--timeout");
        assertThat(Cli.run("doctor", "host:0").status()).isEqualTo(2);
    }

    @Test
    void anInterruptEndsTheWaitForASilentPeer() throws InterruptedException {
        var said = new AtomicReference<Cli>();
        Thread asks = Thread.ofPlatform().start(() -> said.set(Cli.run("doctor", "127.99.98.97", "--timeout", "3600")));
        asks.interrupt();
        asks.join(TimeUnit.SECONDS.toMillis(60));
        assertThat(asks.isAlive()).as("it still waits").isFalse();
        assertThat(said.get().status()).isNotZero();
    }
}
