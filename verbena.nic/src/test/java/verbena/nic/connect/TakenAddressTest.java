package verbena.nic.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/// A process whose user may not share the addresses that lead to its peers, because another user's process has their
/// UDP port. The process is [TakenAddressProcess], in a network namespace of its own.
@EnabledOnOs(OS.LINUX)
@Timeout(120)
class TakenAddressTest {
    private static final String NETWORK = """
            ip link set lo up && ip address add 203.0.113.9/32 dev lo && ip address add 203.0.113.10/32 dev lo && exec "$@"
            """;

    @Test
    void aClientTakesAFreeLoopbackAddressByItself() throws Exception {
        List<String> said = NetworkOfItsOwn.run(NETWORK, TakenAddressProcess.class);
        assertThat(said)
                .containsExactly(
                        "127.0.0.1: hello from loopback, both clients at one address",
                        "203.0.113.9: hello from loopback, both clients at one address",
                        "127.0.0.1: hello",
                        "listen: ADDRESS, open rocev2@203.0.113.9: UDP port 4791 at 203.0.113.9 is in use (): by"
                                + " process N () of user " + System.getProperty("user.name"),
                        "0.0.0.0: hello");
    }
}
