package verbena.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Programs of rdma-core and perftest, as the distribution has them, over our libraries: two of a kind find
/// each other.
class ProgramsTest {
    private Programs programs = Programs.over("rocev2_lo");

    @AfterEach
    void endAll() {
        programs.close();
    }

    @Test
    void ibvDevicesListsOurs() {
        Programs.need("ibv_devices", "ibverbs-utils");
        var ended = programs.run("ibv_devices");
        assertThat(ended.code()).as(ended.toString()).isZero();
        assertThat(ended.said()).containsPattern("rocev2_lo\\s+\\p{XDigit}{16}");
    }

    @Test
    void ibvDevinfoTellsAllOfIt() {
        Programs.need("ibv_devinfo", "ibverbs-utils");
        var ended = programs.run("ibv_devinfo", "-v");
        assertThat(ended.code()).as(ended.toString()).isZero();
        assertThat(ended.said())
                .contains("hca_id:\trocev2_lo", "PORT_ACTIVE (4)", "link_layer:\t\tEthernet", "RoCE v2", "ATOMIC_HCA");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ibv_rc_pingpong -c",
                "ibv_rc_pingpong -e -N",
                "ibv_rc_pingpong -t",
                "ibv_uc_pingpong -c",
                "ibv_ud_pingpong -c",
                "ibv_srq_pingpong -c"
            })
    void pingPongs(String command) throws IOException {
        pair("ibverbs-utils", "127.0.0.1", command + " -g 0 -n 50 -p " + freePort());
    }

    @ParameterizedTest
    @CsvSource({
        "rping -s -a 127.0.0.1 -C 5 -v -V -p PORT, rping -c -a 127.0.0.1 -C 5 -v -V -p PORT",
        "ucmatose -b 127.0.0.1 -p PORT, ucmatose -s 127.0.0.1 -p PORT",
        "udaddy -b 127.0.0.1, udaddy -s 127.0.0.1",
        "rdma_server -p PORT, rdma_client -s 127.0.0.1 -p PORT",
        "rdma_xserver -p PORT, rdma_xclient -s 127.0.0.1 -p PORT",
        "riostream -S 1000 -C 10 -T v -p PORT, riostream -S 1000 -C 10 -T v -p PORT -s 127.0.0.1",
        "rstream -S 70000 -C 20 -T v -T b -p PORT, rstream -S 70000 -C 20 -T v -T b -p PORT -s 127.0.0.1",
        "rstream -S 4000 -C 20 -T v -T a -p PORT, rstream -S 4000 -C 20 -T v -T a -p PORT -s 127.0.0.1",
    })
    void programsOfLibrdmacm(String server, String client) throws IOException {
        // by address: whatever device has it
        programs.close();
        programs = Programs.over("");
        String port = freePort();
        String program = server.split(" ", 2)[0];
        Programs.need(program, "rdmacm-utils");
        var running = programs.start(words(server.replace("PORT", port)));
        var ended = programs.runAgainst(running, words(client.replace("PORT", port)));
        assertThat(ended.code()).as(ended + "\n" + running.await()).isZero();
        var served = running.await();
        assertThat(served.code()).as(served.toString()).isZero();
    }

    @Test
    void mckeySendsToAGroupAndHearsIt() {
        Programs.need("mckey", "rdmacm-utils");
        programs.close();
        programs = Programs.over("");
        var hears = programs.start("mckey", "-m", "239.7.7.7", "-b", "127.0.0.1", "-C", "3");
        while (hears.process().isAlive()) {
            // nobody says when it has joined: say it again until it has heard enough
            var sends = programs.run("mckey", "-m", "239.7.7.7", "-b", "127.0.0.1", "-C", "3", "-s");
            assertThat(sends.code()).as(sends.toString()).isZero();
        }
        var heard = hears.await();
        assertThat(heard.code()).as(heard.toString()).isZero();
        assertThat(heard.said()).contains("data transfers complete");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ib_write_bw -s 65536 -n 50",
                "ib_write_lat -n 50",
                "ib_send_bw -n 50", // leaves a completion queue behind
                "ib_send_bw -e -n 50 -c UD -s 1024",
                "ib_read_bw -n 50 -s 4096",
                "ib_atomic_lat -n 50",
                "ib_atomic_bw -n 50",
            })
    void perftest(String command) throws IOException {
        pair("perftest", "127.0.0.1", command + " -F -p " + freePort());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ib_send_lat -n 50",
                "ib_write_bw -n 50",
                "ib_read_lat -n 50",
                "ib_send_bw -n 50 -c UD -s 1024",
            })
    void perftestByTheConnectionManager(String command) throws IOException {
        // its own device, and that of its connections, at one address
        programs.close();
        programs = Programs.over("rocev2@127.0.0.1");
        pair("perftest", "127.0.0.1", command + " -F -R -p " + freePort());
    }

    private void pair(String where, String host, String command) {
        Programs.need(command.split(" ", 2)[0], where);
        var server = programs.start(words(command));
        var client = programs.runAgainst(
                server,
                Stream.concat(Arrays.stream(words(command)), Stream.of(host)).toArray(String[]::new));
        assertThat(client.code()).as(client + "\n" + server.await()).isZero();
        var served = server.await();
        assertThat(served.code()).as(served.toString()).isZero();
    }

    private static String[] words(String command) {
        return command.split(" ", -1);
    }

    /// Of TCP, where the programs exchange addresses; ports of connections are apart from it.
    private static String freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return Integer.toString(socket.getLocalPort());
        }
    }
}
