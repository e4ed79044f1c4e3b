package verbena.tools.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.tools.NetworkNamespace;

/// Devices that take their frames by XDP, over a real cable. Needs the right to make network namespaces, and to load
/// programs into the kernel.
@EnabledOnOs(OS.LINUX)
class XdpTest {
    /// What a user is told that may not load programs into the kernel.
    private static final String FORBIDDEN = "It needs CAP_BPF and CAP_NET_ADMIN";

    /// The exchange before RDMA is TCP, over the same interfaces.
    @Test
    void otherTrafficGoesOnWhileFramesAreTaken() throws Exception {
        // A host that refuses a connection is there.
        String asks = "LC_ALL=C timeout 10 bash -c ': < /dev/tcp/10.7.0.2/9' 2>&1 | grep -q refused && echo it answers";
        exchange(
                3,
                "it answers",
                EthernetHosts.pingpong("rocev1_west,link=xdp", "rocev1_east,link=xdp", 1, asks)
                        + EthernetHosts.pingpong("rocev2_west,link=xdp", "rocev2_east,link=xdp", 1, asks)
                        + EthernetHosts.pingpong("rocev2_west,link=xdp", "rocev2_east,link=xdp", 0, asks));
    }

    @Test
    void hostsOverXdpAndOtherWiresExchangeMessages() throws Exception {
        exchange(
                3,
                "200 iters",
                EthernetHosts.pingpong("rocev2_west,link=xdp", "rocev2_east,link=raw", 0)
                        // Sockets that leave it to the kernel to cut messages.
                        + EthernetHosts.pingpong("rocev2_west,link=xdp", "rocev2_east,link=linux", 0)
                        + EthernetHosts.pingpong("rocev2_west,link=linux", "rocev2_east,link=xdp", 0));
    }

    /// Runs exchanges where the kernel lets this user load programs; all of them have to end well, and to print
    /// lines that begin so.
    private static void exchange(int times, String line, String script) throws Exception {
        NetworkNamespace.Ended ended = EthernetHosts.run(EthernetHosts.TWO + mayUseXdp() + script, "###");
        assumeFalse(ended.output().contains(FORBIDDEN), ended.output());
        assertThat(ended.status()).as(ended.output()).isZero();
        for (String each : List.of("200 iters", line)) {
            assertThat(ended.output().lines().filter(one -> one.startsWith(each)))
                    .as(ended.output())
                    .hasSize(times);
        }
    }

    /// Ends the script where the kernel does not let this user load programs.
    private static String mayUseXdp() {
        return """
            if "$@" info rocev1_west,link=xdp 2>&1 | grep -F '%1$s'; then echo "###"; exit 0; fi
            """.formatted(FORBIDDEN);
    }

    @Test
    void devicesKeepTheirPromisesOverXdp() throws Exception {
        NetworkNamespace.Ended ended = EthernetHosts.run(EthernetHosts.CABLE + mayUseXdp() + """
            echo "###"
            "$@" conform rocev1_west,link=xdp --peer rocev1_east,link=xdp --case reliable
            "$@" conform rocev1_west,link=xdp --peer rocev1_east,link=xdp --case datagrams
            "$@" conform rocev1_west,link=xdp,vlan=5 --peer rocev1_east,link=xdp,vlan=5 --case multicasts
            """, "###");
        assumeFalse(ended.output().contains(FORBIDDEN), ended.output());
        assertThat(ended.status()).as(ended.output()).isZero();
        assertThat(ended.output()).doesNotContain("BROKEN");
        assertThat(ended.output().lines().filter(line -> line.matches("rocev1_west\\S* +[1-9][0-9]* .* 0")))
                .as(ended.output())
                .hasSize(3);
    }
}
