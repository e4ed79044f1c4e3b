package verbena.nic.link.udp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.link.Namespace;

/// IPv6 groups need interfaces with multicast, and on loopback a route that only root can make. So the test uses a
/// network namespace of its own, with the two ends of a virtual cable.
@EnabledOnOs(value = OS.LINUX, disabledReason = "network namespaces")
class Ipv6MulticastTest {
    private static final String CABLE = """
            ip link set lo up && ip link add west type veth peer name east &&
            ip link set west addrgenmode none && ip link set east addrgenmode none &&
            ip link set west up && ip link set east up &&
            ip addr add fe80::1/64 dev west nodad && ip addr add fd99::1/64 dev west nodad &&
            ip addr add fd99::2/64 dev east nodad && ip addr add fd99::3/64 dev east nodad""";

    @ParameterizedTest
    @ValueSource(strings = {"linux", "portable"})
    @Timeout(180)
    void membersGetWhatTheirInterfaceBrings(String link) throws Exception {
        Namespace cable = Namespace.with(CABLE);
        assumeTrue(cable != null, "no right to a network namespace, or no veth here");

        assertThat(cable.run(Ipv6Multicast.class, link)).isEmpty();
    }
}
