package verbena.tools.check;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.tools.NetworkNamespace;

/// Devices on Ethernet itself over a real cable: two network namespaces joined by a pair of interfaces. Needs
/// the right to make such namespaces, as root or in a user namespace.
@EnabledOnOs(OS.LINUX)
class EthernetTest {
    private static String rping(String west, String east) {
        return EthernetHosts.exchange(
                west + " to " + east,
                "rping -s -a 10.7.0.2 -C 5 --device " + east,
                "",
                "rping -c -a 10.7.0.2 -C 5 -v --device " + west);
    }

    @Test
    void twoHostsExchangeMessages() throws Exception {
        String script = EthernetHosts.TWO
                + EthernetHosts.pingpong("rocev1_west", "rocev1_east", 1)
                + EthernetHosts.pingpong("rocev2_west,link=raw", "rocev2_east,link=raw", 1)
                // The kernel's own network stack reads what we write, and the other way round.
                + EthernetHosts.pingpong("rocev2_west,link=raw", "rocev2_east,link=portable", 0);
        NetworkNamespace.Ended ended = EthernetHosts.run(script, "###");
        assertThat(ended.status()).as(ended.output()).isZero();
        assertThat(ended.output().lines().filter(line -> line.startsWith("200 iters")))
                .as(ended.output())
                .hasSize(3);
    }

    @Test
    void twoHostsConnectByAddressAndPort() throws Exception {
        NetworkNamespace.Ended ended = EthernetHosts.run(
                EthernetHosts.TWO
                        + rping("rocev1_west", "rocev1_east")
                        + rping("rocev2_west,link=raw", "rocev2_east,link=raw"),
                "###");
        assertThat(ended.status()).as(ended.output()).isZero();
        assertThat(ended.output().lines().filter(line -> line.contains("ping data: rdma-ping-4")))
                .as(ended.output())
                .hasSize(2);
    }

    @Test
    void devicesKeepTheirPromisesOverTheCable() throws Exception {
        NetworkNamespace.Ended ended = EthernetHosts.run(EthernetHosts.CABLE + """
            echo "###"
            "$@" conform rocev1_west --peer rocev1_east --case reliable
            "$@" conform rocev1_west,vlan=5 --peer rocev1_east,vlan=5 --case datagrams
            "$@" conform rocev1_west --peer rocev1_east --case multicasts
            """, "###");
        assertThat(ended.status()).as(ended.output()).isZero();
        assertThat(ended.output()).doesNotContain("BROKEN");
        assertThat(ended.output().lines().filter(line -> line.matches("rocev1_west\\S* +[1-9][0-9]* .* 0")))
                .as(ended.output())
                .hasSize(3);
    }

    @Test
    void withoutTheRightAUserIsToldWhatToDo() throws Exception {
        NetworkNamespace.Ended ended = EthernetHosts.run(EthernetHosts.CABLE + """
            echo "###"
            unshare --user "$@" info rocev1_west || true
            unshare --user "$@" devices
            """, "###");
        assertThat(ended.output())
                .contains(
                        "raw Ethernet on west: Operation not permitted, errno 1. It needs CAP_NET_RAW: run as root, or"
                                + " in a network of one's own (unshare --map-root-user --net).");
        assertThat(ended.output().lines().filter(line -> line.strip().startsWith("rocev1_")))
                .isEmpty();
    }
}
