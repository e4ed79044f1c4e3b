package verbena.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/// Programs of rdma-core, as the distribution has them, over our libraries: two of a kind find each other.
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
    void theDeviceOfThisHostAloneIsListedWhenItIsNamed() {
        Programs.need("ibv_devices", "ibverbs-utils");
        programs.close();
        programs = Programs.over("");
        var all = programs.run("ibv_devices");
        assertThat(all.said()).as(all.toString()).contains("rocev2_lo").doesNotContain("shm");
        programs.close();
        programs = Programs.over("shm");
        var named = programs.run("ibv_devices");
        assertThat(named.said()).as(named.toString()).containsPattern("shm\\s+\\p{XDigit}{16}");
    }

    @Test
    void ibvDevinfoTellsAllOfIt() {
        Programs.need("ibv_devinfo", "ibverbs-utils");
        var ended = programs.run("ibv_devinfo", "-v");
        assertThat(ended.code()).as(ended.toString()).isZero();
        assertThat(ended.said())
                .contains("hca_id:\trocev2_lo", "PORT_ACTIVE (4)", "link_layer:\t\tEthernet", "RoCE v2", "ATOMIC_HCA");
    }

    /// Half of them, as it is drawn.
    private static Stream<String> drawn() {
        return Programs.draw(
                2,
                "ibv_rc_pingpong -c",
                "ibv_rc_pingpong -e -N",
                "ibv_rc_pingpong -t",
                "ibv_rc_pingpong -o -c",
                "ibv_rc_pingpong -O -P -c",
                "ibv_srq_pingpong -o -c",
                "ibv_uc_pingpong -c",
                "ibv_ud_pingpong -c",
                "ibv_srq_pingpong -c",
                "ibv_xsrq_pingpong");
    }

    @ParameterizedTest
    @MethodSource("drawn")
    void pingPongs(String command) throws IOException {
        String port = Programs.freePort();
        String program = command + " -g 0 -n 50 -p " + port;
        programs.pairByTcp("ibverbs-utils", port, program, program + " 127.0.0.1");
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
        String port = Programs.freePort();
        programs.pair("rdmacm-utils", server.replace("PORT", port), client.replace("PORT", port));
    }

    @ParameterizedTest
    @CsvSource({
        "ibv_rc_pingpong -c -e -g 0 -n 50 -p PORT, ibv_rc_pingpong -c -e -g 0 -n 50 -p PORT 127.0.0.1, ibverbs-utils",
        "rping -s -a 127.0.0.1 -C 5 -v -V -p PORT, rping -c -a 127.0.0.1 -C 5 -v -V -p PORT, rdmacm-utils",
        "udaddy -b 127.0.0.1, udaddy -s 127.0.0.1, rdmacm-utils",
    })
    void betweenProcessesOfThisHost(String server, String client, String where) throws IOException {
        programs.close();
        programs = Programs.over("shm");
        String port = Programs.freePort();
        programs.pair(where, server.replace("PORT", port), client.replace("PORT", port));
    }

    @Test
    void mckeySendsToAGroupAndHearsIt() {
        Programs.need("mckey", "rdmacm-utils");
        programs.close();
        programs = Programs.over("");
        var hears = programs.start("mckey", "-m", "239.7.7.7", "-b", "127.0.0.1", "-C", "3");
        while (hears.process().isAlive()) {
            // no message tells that it has joined: send until it has heard enough
            var sends = programs.run("mckey", "-m", "239.7.7.7", "-b", "127.0.0.1", "-C", "3", "-s");
            assertThat(sends.code()).as(sends.toString()).isZero();
        }
        var heard = hears.await();
        assertThat(heard.code()).as(heard.toString()).isZero();
        assertThat(heard.said()).contains("data transfers complete");
    }
}
