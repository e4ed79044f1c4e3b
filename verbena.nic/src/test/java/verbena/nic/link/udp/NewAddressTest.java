package verbena.nic.link.udp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.nic.link.Namespace;

/// For a second or two after an interface came up, the kernel asks the network whether another host has its IPv6
/// addresses. A device with such an address opens nevertheless, as a card does.
@EnabledOnOs(value = OS.LINUX, disabledReason = "network namespaces")
class NewAddressTest {
    /// The kernel asks for ten minutes here.
    private static final String NEW = """
            ip link set lo up && echo 600 > /proc/sys/net/ipv6/conf/default/dad_transmits &&
            ip link add west type veth peer name east && ip link set west up && ip link set east up &&
            ip addr add fe80::1/64 dev west && ip addr add fd99::1/64 dev west &&
            ip addr show dev west | grep -q tentative""";

    @Test
    @Timeout(180)
    void anAddressThatTheKernelStillChecksCanBeOpened() throws Exception {
        Namespace cable = Namespace.with(NEW);
        assumeTrue(cable != null, "no right to a network namespace, or no veth here");

        assertThat(cable.run(NewAddress.class)).isEmpty();
    }
}
