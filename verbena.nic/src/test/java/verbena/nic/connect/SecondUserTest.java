package verbena.nic.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/// Two users of one host. The processes are [SecondUserProcess], in a network namespace of their own.
@EnabledOnOs(OS.LINUX)
@Timeout(120)
class SecondUserTest {
    @Test
    void listensAndConnectsWhileTheFirstHasADeviceAtTheSameAddress() throws Exception {
        List<String> said = NetworkOfItsOwn.run("ip link set lo up && exec \"$@\"", SecondUserProcess.class);
        assumeTrue(
                said.contains("second user"),
                "needs root, setpriv, and classes that other users may read: " + String.join("\n", said));
        assertThat(said)
                .containsExactly(
                        "second user",
                        "127.0.0.1: written from afar",
                        "localhost: written from afar",
                        "0.0.0.0: written from afar",
                        "open rocev2@127.0.0.1: UDP port 4791 at 127.0.0.1 is in use (): by a process of user root that"
                                + " this user may not see, or the kernel");
    }
}
