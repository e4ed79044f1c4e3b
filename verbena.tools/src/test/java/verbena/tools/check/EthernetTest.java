package verbena.tools.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
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
    /// What a user is told that may not load programs into the kernel.
    private static final String FORBIDDEN = "It needs CAP_BPF and CAP_NET_ADMIN";

    /// This namespace has 10.7.0.1 and fd07::1, the other one 10.7.0.2 and fd07::2.
    private static final String TWO_HOSTS = """
        set -e
        ip link set lo up
        unshare --net sleep 600 & other=$!
        trap 'kill $other $server 2> /dev/null || true' EXIT
        own=$(readlink /proc/self/ns/net)
        while [ "$(readlink /proc/$other/ns/net)" = "$own" ]; do :; done
        there="nsenter -t $other --net"
        ip link add west mtu 9000 type veth peer name east mtu 9000 netns $other
        # Only addresses that are there at once: the kernel adds its own at a later time.
        ip link set west addrgenmode none
        $there ip link set east addrgenmode none
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
        return pingpong(west, east, gid, "true");
    }

    /// @param meanwhile what is done when the server is there
    private static String pingpong(String west, String east, int gid, String meanwhile) {
        return exchange(
                west + " to " + east,
                "pingpong rc -d %s -g %d -n 200".formatted(east, gid),
                meanwhile,
                "pingpong rc -d %s -g %d -n 200 10.7.0.2".formatted(west, gid));
    }

    private static String rping(String west, String east) {
        return exchange(
                west + " to " + east,
                "rping -s -a 10.7.0.2 -C 5 --device " + east,
                "",
                "rping -c -a 10.7.0.2 -C 5 -v --device " + west);
    }

    /// A server in the other namespace, and then its client here; ends the script when one of them fails. What the
    /// server says is printed at the end, each line behind a sign.
    private static String exchange(String name, String server, String meanwhile, String client) {
        return """
            rm -f $said; mkfifo $said
            echo "### %s"
            $there "$@" %s > $said 2>&1 & server=$!
            exec 3< $said
            read -r line <&3
            %s
            status=0
            "$@" %s || status=$?
            wait $server || status=$?
            echo "server: $line"
            sed 's/^/server: /' <&3
            [ $status = 0 ]
            """.formatted(name, server, meanwhile, client);
    }

    @Test
    void twoHostsExchangeMessages() throws Exception {
        String script = TWO_HOSTS
                + pingpong("rocev1_west", "rocev1_east", 1)
                + pingpong("rocev2_west,link=raw", "rocev2_east,link=raw", 1)
                // The kernel's own network stack reads what we write, and the other way round.
                + pingpong("rocev2_west,link=raw", "rocev2_east,link=portable", 0);
        NetworkNamespace.Ended ended = run(script, "###");
        assertThat(ended.status()).as(ended.output()).isZero();
        assertThat(ended.output().lines().filter(line -> line.startsWith("200 iters")))
                .as(ended.output())
                .hasSize(3);
    }

    /// The exchange before RDMA is TCP, over the same interfaces.
    @Test
    void otherTrafficGoesOnWhileFramesAreTaken() throws Exception {
        String asks = "'%s' -cp '%s' '%s' 10.7.0.2"
                .formatted(
                        Path.of(System.getProperty("java.home"), "bin", "java"),
                        System.getProperty("java.class.path"),
                        Echo.class.getName());
        exchange(
                3,
                "it answers",
                pingpong("rocev1_west,link=xdp", "rocev1_east,link=xdp", 1, asks)
                        + pingpong("rocev2_west,link=xdp", "rocev2_east,link=xdp", 1, asks)
                        + pingpong("rocev2_west,link=xdp", "rocev2_east,link=xdp", 0, asks));
    }

    @Test
    void hostsOverXdpAndOtherWiresExchangeMessages() throws Exception {
        exchange(
                3,
                "200 iters",
                pingpong("rocev2_west,link=xdp", "rocev2_east,link=raw", 0)
                        // Sockets that leave it to the kernel to cut messages.
                        + pingpong("rocev2_west,link=xdp", "rocev2_east,link=linux", 0)
                        + pingpong("rocev2_west,link=linux", "rocev2_east,link=xdp", 0));
    }

    /// Runs exchanges where the kernel lets this user load programs; all of them have to end well, and to print
    /// lines that begin so.
    private static void exchange(int times, String line, String script) throws Exception {
        NetworkNamespace.Ended ended = run(TWO_HOSTS + mayUseXdp() + script, "###");
        assumeFalse(ended.output().contains(FORBIDDEN), ended.output());
        assertThat(ended.status()).as(ended.output()).isZero();
        for (String each : List.of("200 iters", line)) {
            assertThat(ended.output().lines().filter(one -> one.startsWith(each)))
                    .as(ended.output())
                    .hasSize(times);
        }
    }

    /// Asks a host for an answer, by ICMP where the right to that is there, else by TCP.
    static final class Echo {
        private Echo() {}

        public static void main(String[] arguments) throws IOException {
            System.out.println(InetAddress.getByName(arguments[0]).isReachable(10_000) ? "it answers" : "no answer");
        }
    }

    /// Ends the script where the kernel does not let this user load programs.
    private static String mayUseXdp() {
        return """
            if "$@" info rocev1_west,link=xdp 2>&1 | grep -F '%1$s'; then echo "###"; exit 0; fi
            """.formatted(FORBIDDEN);
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
    void devicesKeepTheirPromisesOverXdp() throws Exception {
        NetworkNamespace.Ended ended = run(CABLE + mayUseXdp() + """
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
