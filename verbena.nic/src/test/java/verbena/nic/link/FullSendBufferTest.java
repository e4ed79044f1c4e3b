package verbena.nic.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Loopback is never full: what finds no room at the receiver is dropped. So here it gets a rate limit, in a network
/// namespace of the test's own, and packets queue up where the sender is charged for them.
@EnabledOnOs(value = OS.LINUX, disabledReason = "network namespaces")
class FullSendBufferTest {
    private static final String SLOW_LOOPBACK =
            "ip link set lo up && tc qdisc add dev lo root tbf rate 100mbit burst 20k limit 100m";

    @ParameterizedTest
    @ValueSource(strings = {"linux", "portable"})
    @Timeout(60)
    void aFullWayOutTakesFewerAndLosesNothing(String link) throws Exception {
        Namespace slow = Namespace.with(SLOW_LOOPBACK);
        assumeTrue(slow != null, "no right to a network namespace, or no tc here");

        assertThat(slow.run(FullSendBuffer.class, link)).isEmpty();
    }
}
