package verbena.nic.link.udp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.link.Namespace;

/// Loopback is never full: packets without room at the receiver are dropped. So the test gives it a rate limit, in
/// a network namespace of its own, and packets queue up where they count against the sender's buffer.
@EnabledOnOs(value = OS.LINUX, disabledReason = "network namespaces")
class FullSendBufferTest {
    private static final String SLOW_LOOPBACK =
            "ip link set lo up && tc qdisc add dev lo root tbf rate 100mbit burst 20k limit 100m";

    @ParameterizedTest
    @ValueSource(strings = {"linux", "portable"})
    @Timeout(180)
    void aFullWayOutTakesFewerAndLosesNothing(String link) throws Exception {
        Namespace slow = Namespace.with(SLOW_LOOPBACK);
        assumeTrue(slow != null, "no right to a network namespace, or no tc here");

        assertThat(slow.run(FullSendBuffer.class, link)).isEmpty();
    }
}
