package verbena.tools.rdmacm;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.tools.Background;
import verbena.tools.Cli;

/// The tools of librdmacm, both ends in threads of the test, over loopback; and ends without a peer.
@Timeout(120)
class CmToolsTest {
    private static final String HERE = "127.0.0.1";

    private record Both(Cli server, Cli client) {}

    private static Both rping(String server, String client) throws Exception {
        Background serving = Background.run("rping -s -p 0 -a " + HERE + " " + server);
        Cli pinging = run("rping -c -a " + HERE + " -p " + serving.port() + " " + client);
        return new Both(serving.result(), pinging);
    }

    private static Cli run(String arguments) {
        return Cli.run(arguments.strip().split(" ", -1));
    }

    @Test
    void rpingReadsWritesAndChecks() throws Exception {
        Both both = rping("-v", "-v -V -C 3");

        List<String> data = List.of(
                "ping data: rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr",
                "ping data: rdma-ping-1: BCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrs",
                "ping data: rdma-ping-2: CDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrst");
        assertThat(both.client.status()).as(both.toString()).isZero();
        assertThat(both.client.outLines()).isEqualTo(data);
        assertThat(both.client.error()).isEqualTo("client DISCONNECT EVENT...");
        assertThat(both.server.status()).as(both.toString()).isZero();
        assertThat(both.server.outLines())
                .isEqualTo(data.stream().map(line -> "server " + line).toList());
        assertThat(both.server.err()).endsWith("server DISCONNECT EVENT...\n");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                -S 23       | -S 23 -C 70 -V
                -S 65535    | -S 65535 -C 5 -V
                -S 5000     | -S 100 -C 5 -V
                -q          | -C 5 -V
                ``          | -q -C 5 -V
                -q          | -q -C 5 -V
                ``          | -I 127.0.0.1 -C 5 -V
                """)
    void rpingInOtherSizesAndWithQueuePairsOfItsOwn(String server, String client) throws Exception {
        Both both = rping(server, client);

        assertThat(both.client.status()).as(both.toString()).isZero();
        assertThat(both.server.status()).as(both.toString()).isZero();
    }

    @Test
    void rpingTellsEveryStepWhenAsked() throws Exception {
        Both both = rping("-d", "-d -C 1");

        assertThat(both.client.out())
                .containsSubsequence(
                        "RDMA_CM_EVENT_ADDR_RESOLVED",
                        "RDMA_CM_EVENT_ROUTE_RESOLVED",
                        "RDMA_CM_EVENT_ESTABLISHED",
                        "RDMA rkey ",
                        "RECV completion",
                        "RDMA_CM_EVENT_DISCONNECTED");
        assertThat(both.server.out())
                .containsSubsequence(
                        "RDMA_CM_EVENT_CONNECT_REQUEST",
                        "Received rkey ",
                        "RDMA_READ completion",
                        "RDMA_WRITE completion",
                        "RDMA_CM_EVENT_DISCONNECTED");
    }

    @Test
    void aLargerPingThanTheServersFailsOnBothSidesWithAHint() throws Exception {
        Both both = rping("", "-S 100 -C 1");

        assertThat(both.server.status()).isEqualTo(255);
        assertThat(both.server.err()).contains("the client pings with 100 bytes, here are 64: give -S at both ends");
        assertThat(both.client.status()).isEqualTo(255);
        assertThat(both.client.err()).contains("the connection ended within ping 0: ");
    }

    @Test
    void aPersistentServerServesManyAtOnceUntilItIsInterrupted() throws Exception {
        Background server = Background.run("rping -s -P -p 0 -a " + HERE);
        var clients = new ArrayList<Background>();
        for (int i = 0; i < 5; i++) {
            clients.add(Background.run("rping -c -V -C 20 -a " + HERE + " -p " + server.port()));
        }
        for (Background client : clients) {
            assertThat(client.result().status()).as(client.result().toString()).isZero();
        }
        Background endless = Background.run("rping -c -v -a " + HERE + " -p " + server.port());
        while (!endless.out().toString().contains("rdma-ping-10")) {
            Thread.onSpinWait();
        }

        server.interrupt();

        assertThat(server.result().status()).isEqualTo(255);
        assertThat(server.result().err()).endsWith("verbena rping: interrupted\n");
        assertThat(endless.result().status()).isEqualTo(255);
        assertThat(endless.result().err()).contains("the connection ended within ping ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "-C 0",
                "-S 0",
                "-c 5 -C 20 -S 10000",
                "-C 1 -S 200000",
                "-m",
                "-c 3 -m -t 8 -a 14",
                "-P ib",
                "-f ip",
                "-f gid"
            })
    void ucmatoseSendsBothWays(String options) throws Exception {
        Background serving = Background.run("ucmatose -p 0 -b " + HERE + " " + options);
        Cli client = Cli.run(("ucmatose -p " + serving.port() + " -s " + HERE + " " + options)
                .strip()
                .split(" ", -1));
        Cli server = serving.result();

        assertThat(client.status()).as(client + "\n" + server).isZero();
        assertThat(server.status()).as(client + "\n" + server).isZero();
        assertThat(client.err()).isEmpty();
        var there = new ArrayList<>(List.of("cmatose: starting server"));
        var here = new ArrayList<>(List.of("cmatose: starting client", "cmatose: connecting"));
        if (!options.equals("-C 0") && !options.equals("-S 0")) {
            there.addAll(List.of(
                    "initiating data transfers",
                    "completing sends",
                    "receiving data transfers",
                    "data transfers complete"));
            here.addAll(List.of("receiving data transfers", "sending replies", "data transfers complete"));
        }
        if (options.contains("-m")) {
            there.add("migrating to new event channel");
            here.add("migrating to new event channel");
        }
        there.addAll(List.of("cmatose: disconnecting", "disconnected", "test complete", "return status 0"));
        here.addAll(List.of("test complete", "return status 0"));
        assertThat(server.outLines()).isEqualTo(there);
        assertThat(client.outLines()).isEqualTo(here);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-C 0", "-c 3 -C 20 -S 4096", "-t 8", "-P ipoib", "-p 0x2"})
    void udaddySendsBothWays(String options) throws Exception {
        Background serving = Background.run("udaddy --port 0 -b " + HERE + " " + options);
        Cli client = Cli.run(("udaddy --port " + serving.port() + " -s " + HERE + " " + options)
                .strip()
                .split(" ", -1));
        Cli server = serving.result();

        assertThat(client.status()).as(client + "\n" + server).isZero();
        assertThat(server.status()).as(client + "\n" + server).isZero();
        var there = new ArrayList<>(List.of("udaddy: starting server"));
        var here = new ArrayList<>(List.of("udaddy: starting client", "udaddy: connecting"));
        if (!options.equals("-C 0")) {
            there.addAll(List.of("receiving data transfers", "sending replies", "data transfers complete"));
            here.addAll(List.of("initiating data transfers", "receiving data transfers", "data transfers complete"));
        }
        there.addAll(List.of("test complete", "return status 0"));
        here.addAll(List.of("test complete", "return status 0"));
        assertThat(server.outLines()).isEqualTo(there);
        assertThat(client.outLines()).isEqualTo(here);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                -m 239.77.1.1                 | ``  | ::ffff:239.77.1.1
                -m 239.77.1.1 -c 3 -S 4096    | -o  | ::ffff:239.77.1.1
                -M ::ffff:239.77.1.2 -p 0x2   | ``  | ::ffff:239.77.1.2
                """)
    void mckeySendsToAGroup(String both, String sender, String dgid) throws Exception {
        Background receiving = Background.run("mckey -b " + HERE + " " + both);
        while (!receiving.out().toString().contains("receiving data transfers")) {
            Thread.onSpinWait();
        }
        Cli sending = Cli.run(("mckey -s --pause 0 -b " + HERE + " " + both + " " + sender)
                .strip()
                .split(" ", -1));
        Cli received = receiving.result();

        assertThat(sending.status()).as(sending + "\n" + received).isZero();
        assertThat(received.status()).as(sending + "\n" + received).isZero();
        String joined = "mckey: joined dgid: " + dgid + " mlid 0x0 sl 0";
        assertThat(received.outLines())
                .startsWith("mckey: starting server", "mckey: joining", joined)
                .endsWith("receiving data transfers", "data transfers complete", "test complete", "return status 0");
        assertThat(sending.outLines())
                .startsWith("mckey: starting client", "mckey: joining", joined)
                .endsWith("initiating data transfers", "data transfers complete", "test complete", "return status 0");
    }

    /// The sender pauses for longer than the limit of the receiver, as when its user is slow.
    @Test
    void aReceiverThatIsStartedFirstWaitsForAsLongAsItTakes() throws Exception {
        String both = " -b " + HERE + " -m 239.77.1.4 -c 2";
        Background receiving = Background.run("mckey --timeout 1" + both);
        while (!receiving.out().toString().contains("receiving data transfers")) {
            Thread.onSpinWait();
        }
        Cli sending = Cli.run(("mckey -s --pause 2" + both).split(" ", -1));
        Cli received = receiving.result();

        assertThat(sending.status()).as(sending + "\n" + received).isZero();
        assertThat(received.status()).as(sending + "\n" + received).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "--answer"})
    void xclientSendsToXserver(String options) throws Exception {
        Background serving = Background.run("xserver -p 0 -s " + HERE + " " + options);
        Cli client = run("xclient -p " + serving.port() + " -s " + HERE + " " + options);
        Cli server = serving.result();

        assertThat(client.status()).as(client + "\n" + server).isZero();
        assertThat(client.outLines()).containsExactly("rdma_xclient: start", "rdma_xclient: end 0");
        assertThat(server.status()).as(client + "\n" + server).isZero();
        assertThat(server.outLines()).containsExactly("rdma_xserver: start", "rdma_xserver: end 0");
    }

    @Test
    void xclientWaitsForAnAnswerInVainWhenThereIsNone() throws Exception {
        Background serving = Background.run("xserver -p 0 -s " + HERE);
        Cli client = run("xclient --answer -p " + serving.port());

        assertThat(client.status()).isEqualTo(255);
        assertThat(client.error()).startsWith("verbena xclient: receive: ");
        assertThat(serving.result().status()).isZero();
    }

    // ---- no peer there

    @Test
    void nobodyListensAtThePort() {
        Cli rping = Cli.run("rping", "-c", "-a", HERE, "-p", "9");
        assertThat(rping.status()).isEqualTo(255);
        assertThat(rping.error()).contains("cma event RDMA_CM_EVENT_REJECTED, error 8: ", "port 9");

        Cli ucmatose = Cli.run("ucmatose", "-s", HERE, "-p", "9");
        assertThat(ucmatose.status()).isEqualTo(8);
        assertThat(ucmatose.outLines())
                .containsExactly(
                        "cmatose: starting client",
                        "cmatose: connecting",
                        "cmatose: event: RDMA_CM_EVENT_REJECTED, error: 8",
                        "test complete",
                        "return status 8");
        assertThat(ucmatose.error()).startsWith("verbena ucmatose: cma event RDMA_CM_EVENT_REJECTED, error 8: ");

        Cli xclient = Cli.run("xclient", "-s", HERE, "-p", "9");
        assertThat(xclient.status()).isEqualTo(255);
        assertThat(xclient.error()).contains("port 9");

        Cli udaddy = Cli.run("udaddy", "-s", HERE, "--port", "9");
        assertThat(udaddy.status()).isEqualTo(1);
        assertThat(udaddy.outLines())
                .containsExactly(
                        "udaddy: starting client",
                        "udaddy: connecting",
                        "udaddy: event: RDMA_CM_EVENT_UNREACHABLE, error: 1",
                        "test complete",
                        "return status 1");
    }

    @ParameterizedTest
    @CsvSource({"rping -c -a, 255", "ucmatose -s, 255", "udaddy -s, 255", "pingpong rc --cm, 1"})
    void aPeerThatSaysNothingIsGivenUp(String command, int status) throws Exception {
        try (var silent = new DatagramSocket(new InetSocketAddress(InetAddress.ofLiteral("127.88.7.6"), 4791))) {
            Cli cli = Cli.run((command + " 127.88.7.6 --timeout 1").split(" ", -1));

            assertThat(silent.isBound()).isTrue();
            assertThat(cli.status()).isEqualTo(status);
            assertThat(cli.error()).contains("connect to 127.88.7.6 port ", ": nothing heard for 1 s");
        }
    }

    @Test
    void anAddressThatIsNotOursIsSaid() {
        Cli rping = Cli.run("rping", "-s", "-a", "203.0.113.1");
        assertThat(rping.status()).isEqualTo(255);
        assertThat(rping.error()).contains("203.0.113.1");

        Cli ucmatose = Cli.run("ucmatose", "-b", "203.0.113.1");
        assertThat(ucmatose.status()).isEqualTo(255);
        assertThat(ucmatose.error()).contains("203.0.113.1");
        assertThat(ucmatose.outLines())
                .containsExactly("cmatose: starting server", "test complete", "return status -1");
    }

    @Test
    void aPortInUseIsSaid() throws Exception {
        Background first = Background.run("rping -s -p 0 -a " + HERE);
        Cli second = Cli.run("rping", "-s", "-a", HERE, "-p", Integer.toString(first.port()));
        first.interrupt();

        assertThat(second.status()).isEqualTo(255);
        assertThat(second.error()).contains("port " + first.port());
        assertThat(first.result().status()).isEqualTo(255);
        assertThat(first.result().err()).endsWith("verbena rping: interrupted\n");
    }

    @Test
    void oneConnectionTooManyIsRejected() throws Exception {
        Background serving = Background.run("ucmatose -p 0 -c 1 -b " + HERE);
        Cli client = Cli.run("ucmatose", "-p", Integer.toString(serving.port()), "-c", "2", "-s", HERE);

        assertThat(client.status()).isIn(8, 28);
        assertThat(serving.result().status()).isNotZero();
    }
}
