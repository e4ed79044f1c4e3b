package verbena.tools.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.tools.NetworkNamespace;
import verbena.tools.kit.JavaCommand;

/// Devices on Ethernet itself over a real cable: two network namespaces joined by a pair of interfaces. Needs
/// the right to make such namespaces, as root or in a user namespace.
@EnabledOnOs(OS.LINUX)
class EthernetTest {
    /// This namespace has 10.7.0.1 and fd07::1, the other one 10.7.0.2 and fd07::2.
    private static final String TWO_HOSTS = """
            set -e
            ip link set lo up
            unshare --net sleep 60 & other=$!
            trap 'kill $other $server 2> /dev/null || true' EXIT
            own=$(readlink /proc/self/ns/net)
            while [ "$(readlink /proc/$other/ns/net)" = "$own" ]; do :; done
            there="nsenter -t $other --net"
            # An address of IPv6 that the kernel still asks for on the cable cannot be used.
            echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad
            $there sh -c 'echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad'
            ip link add west mtu 9000 type veth peer name east mtu 9000 netns $other
            ip address add 10.7.0.1/24 dev west
            ip address add fd07::1/64 dev west nodad
            ip link set west up
            $there ip link set lo up
            $there ip address add 10.7.0.2/24 dev east
            $there ip address add fd07::2/64 dev east nodad
            $there ip link set east up
            said=$(mktemp -u)
            """;

    /// All in one network: a link-local address of RoCE v1 needs no one to be asked, and that of IPv6 is asked
    /// for on the cable.
    private static final String CABLE = """
            set -e
            ip link set lo up
            echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad
            ip link add west type veth peer name east
            ip link set west up
            ip link set east up
            """;

    private static NetworkNamespace.Ended run(String script, String sign) throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of("sh", "-c", script, "sh"));
        command.addAll(JavaCommand.again());
        return NetworkNamespace.run(command, output -> output.contains(sign));
    }

    private static String pingpong(String west, String east, int gid) {
        return """
                rm -f $said; mkfifo $said
                echo "### %1$s to %2$s"
                $there "$@" pingpong rc -d %2$s -g %3$d -n 200 > $said 2>&1 & server=$!
                exec 3< $said
                read -r line <&3
                "$@" pingpong rc -d %1$s -g %3$d -n 200 10.7.0.2
                wait $server
                """.formatted(west, east, gid);
    }

    private static String rping(String west, String east) {
        return """
                rm -f $said; mkfifo $said
                echo "### %1$s to %2$s"
                $there "$@" rping -s -a 10.7.0.2 -C 5 --device %2$s > $said 2>&1 & server=$!
                exec 3< $said
                read -r line <&3
                "$@" rping -c -a 10.7.0.2 -C 5 -v --device %1$s
                wait $server
                """.formatted(west, east);
    }

    @Test
    void twoHostsExchangeMessages() throws Exception {
        String script = TWO_HOSTS
                + pingpong("rocev1_west", "rocev1_east", 1)
                + pingpong("rocev2_west,link=raw", "rocev2_east,link=raw", 2)
                // The kernel's own network stack reads what we write, and the other way round.
                + pingpong("rocev2_west,link=raw", "rocev2_east,link=portable", 1);
        NetworkNamespace.Ended ended = run(script, "###");
        assertThat(ended.status()).as(ended.output()).isZero();
        assertThat(ended.output().lines().filter(line -> line.startsWith("200 iters")))
                .as(ended.output())
                .hasSize(3);
    }

    @Test
    void twoHostsConnectByAddressAndPort() throws Exception {
        NetworkNamespace.Ended ended = run(
                TWO_HOSTS + rping("rocev1_west", "rocev1_east") + rping("rocev2_west,link=raw", "rocev2_east,link=raw"),
                "###");
        assertThat(ended.status()).as(ended.output()).isZero();
        assertThat(ended.output().lines().filter(line -> line.contains("ping data: rdma-ping-4")))
                .as(ended.output())
                .hasSize(2);
    }

    @Test
    void devicesKeepTheirPromisesOverTheCable() throws Exception {
        NetworkNamespace.Ended ended = run(CABLE + """
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
        NetworkNamespace.Ended ended = run(CABLE + """
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
