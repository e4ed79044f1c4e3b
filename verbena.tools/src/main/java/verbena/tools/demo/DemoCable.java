package verbena.tools.demo;

import java.io.IOException;
import java.util.List;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.HostNetwork;

/// Two hosts that have a cable between them, on this host: two network namespaces, joined by a veth pair, that only
/// the demo sees (veth(4)). The first host is that of this process. The second one lives as long as its
/// [HostNetwork].
final class DemoCable implements AutoCloseable {
    /// The interface of the first host, whose address is 10.7.0.1.
    static final String NEAR = "west";
    /// The interface of the second host, whose address is 10.7.0.2.
    static final String FAR = "east";

    private final HostNetwork second;

    /// Makes the second host and the cable. This process has to be alone in its network: see
    /// [HostNetwork#newNetwork].
    ///
    /// @throws CommandFailed when the system refuses it; says what
    DemoCable() throws IOException, InterruptedException {
        second = new HostNetwork();
        boolean isMade = false;
        try {
            // Frames of 9,000 bytes carry packets of 4,096. Only the addresses below: others would come later.
            HostNetwork.ipHere(
                    "link add " + NEAR + " mtu 9000 type veth peer name " + FAR + " mtu 9000 netns " + second.pid());
            for (String words : commands(NEAR, "10.7.0.1/24")) {
                HostNetwork.ipHere(words);
            }
            for (String words : commands(FAR, "10.7.0.2/24")) {
                second.ip(words);
            }
            isMade = true;
        } finally {
            if (!isMade) {
                close();
            }
        }
    }

    private static List<String> commands(String end, String address) {
        return List.of(
                "link set lo up",
                "link set " + end + " addrgenmode none",
                "address add " + address + " dev " + end,
                "link set " + end + " up");
    }

    /// Returns the words that a command on the second host begins with.
    List<String> there() {
        return second.there();
    }

    @Override
    public void close() {
        second.close();
    }
}
