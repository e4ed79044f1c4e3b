package verbena.tools.check;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import verbena.tools.NetworkNamespace;
import verbena.tools.kit.JavaCommand;

/// Scripts for hosts on Ethernet: network namespaces joined by a pair of interfaces.
final class EthernetHosts {
    /// This namespace has 10.7.0.1 and fd07::1, the other one 10.7.0.2 and fd07::2.
    static final String TWO = """
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
    static final String CABLE = """
        set -e
        ip link set lo up
        echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad
        ip link add west type veth peer name east
        ip link set west up
        ip link set east up
        """;

    private EthernetHosts() {}

    static NetworkNamespace.Ended run(String script, String sign) throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of("sh", "-c", script, "sh"));
        command.addAll(JavaCommand.again());
        return NetworkNamespace.run(command, output -> output.contains(sign));
    }

    static String pingpong(String west, String east, int gid) {
        return pingpong(west, east, gid, "true");
    }

    /// @param meanwhile what is done when the server is there
    static String pingpong(String west, String east, int gid, String meanwhile) {
        return exchange(
                west + " to " + east,
                "pingpong rc -d %s -g %d -n 200".formatted(east, gid),
                meanwhile,
                "pingpong rc -d %s -g %d -n 200 10.7.0.2".formatted(west, gid));
    }

    /// A server in the other namespace, and then its client here; ends the script when one of them fails. What the
    /// server says is printed at the end, each line behind a sign.
    static String exchange(String name, String server, String meanwhile, String client) {
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
}
