package verbena.tools.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.tools.NetworkNamespace;
import verbena.tools.kit.JavaCommand;

/// The doctor in a real network of three hosts, which are network namespaces: this one, a router whose second link
/// is narrower, and a peer. Needs the right to make such namespaces, as root or in a user namespace.
@EnabledOnOs(OS.LINUX)
class DoctorNamespaceTest {
    /// The peer has 10.9.1.2, with a server, and 10.9.1.5, without a device; the router throws away what is for
    /// 10.9.1.3. Its arguments are the commands of server and doctor.
    private static final String NETWORK = """
            set -e
            ip link set lo up
            unshare --net sleep 60 & router=$!
            unshare --net sleep 60 & peer=$!
            trap 'kill $router $peer $server 2> /dev/null' EXIT
            own=$(readlink /proc/self/ns/net)
            for one in $router $peer; do
              while [ "$(readlink /proc/$one/ns/net)" = "$own" ]; do :; done
            done
            ip link add a0 mtu 9000 type veth peer name r0 mtu 9000 netns $router
            nsenter -t $router -n ip link add r1 mtu 1500 type veth peer name b0 mtu 1500 netns $peer
            ip address add 10.9.0.1/24 dev a0
            ip link set a0 up
            ip route add 10.9.1.0/24 via 10.9.0.254
            nsenter -t $router -n sh -ec '
              ip address add 10.9.0.254/24 dev r0
              ip address add 10.9.1.254/24 dev r1
              ip link set r0 up
              ip link set r1 up
              ip route add blackhole 10.9.1.3/32
              echo 1 > /proc/sys/net/ipv4/ip_forward'
            nsenter -t $peer -n sh -ec '
              ip link set lo up
              ip address add 10.9.1.2/24 dev b0
              ip address add 10.9.1.5/24 dev b0
              ip link set b0 up
              ip route add default via 10.9.1.254'
            said=$(mktemp -u)
            mkfifo $said
            nsenter -t $peer -n "$@" rping -s -a 10.9.1.2 -p 7471 > $said 2>&1 & server=$!
            read -r line < $said
            rm $said
            for target in 10.9.1.2:7471 10.9.1.3 10.9.1.5 10.8.0.1; do
              echo "### $target"
              "$@" doctor --timeout 1 $target || true
            done
            """;

    @Test
    void eachWayThatCannotWorkIsToldApart() throws IOException, InterruptedException {
        Map<String, String> reports = run();

        assertThat(reports.get("10.9.1.2:7471"))
                .contains("OK    own address: 10.9.0.1 on a0")
                .contains("OK    peer: 10.9.1.2 speaks RoCE v2")
                .contains("OK    port 7471: a program listens")
                .contains(
                        "FAIL  path MTU: only 1024 bytes come through, of 4096 that a0 has room for; a router says so")
                .contains("mtu=1024");
        assertThat(reports.get("10.9.1.3")).contains("FAIL  peer: no answer of any kind from 10.9.1.3");
        assertThat(reports.get("10.9.1.5")).contains("FAIL  peer: 10.9.1.5 says that no process has UDP port 4791");
        assertThat(reports.get("10.8.0.1")).contains("FAIL  own address: none reaches 10.8.0.1: no route leads there");
    }

    /// What the doctor said of each target.
    private static Map<String, String> run() throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of("sh", "-c", NETWORK, "sh"));
        command.addAll(JavaCommand.again());
        return reports(
                NetworkNamespace.run(command, output -> output.contains("### ")).output());
    }

    private static Map<String, String> reports(String output) {
        var reports = new HashMap<String, String>();
        List<String> parts = List.of(output.split("### ", -1));
        for (String part : parts.subList(1, parts.size())) {
            int end = part.indexOf('\n');
            reports.put(part.substring(0, end), part.substring(end));
        }
        return reports;
    }
}
