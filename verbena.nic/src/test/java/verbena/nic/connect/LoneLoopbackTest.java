package verbena.nic.connect;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/// A host of which only 127.0.0.1 is local, as macOS and some containers are. The process is [LoneLoopbackProcess],
/// in a network namespace of its own.
@EnabledOnOs(OS.LINUX)
@Timeout(120)
class LoneLoopbackTest {
    private static final String NETWORK =
            "ip link set lo up && ip address del 127.0.0.1/8 dev lo && ip address add 127.0.0.1/32 dev lo && exec \"$@\"";

    @Test
    void anyNumberOfDevicesOpenAndReachEachOther() throws Exception {
        assertThat(NetworkOfItsOwn.run(NETWORK, LoneLoopbackProcess.class))
                .containsExactly(
                        "127.0.0.1 and 127.0.0.1: written",
                        "127.1.x.y and 127.1.x.y: written",
                        "127.1.x.y to 127.0.0.1: written",
                        "iwarp: written");
    }

    /// As without the option: then there is only the portable link.
    @Test
    void withoutNativeAccessToo() throws Exception {
        assertThat(NetworkOfItsOwn.run(NETWORK, LoneLoopbackProcess.class, "--illegal-native-access=deny"))
                .containsExactly(
                        "127.1.x.y and 127.1.x.y: written",
                        "127.1.x.y and 127.1.x.y: written",
                        "127.1.x.y to 127.0.0.1: written",
                        "iwarp: written");
    }
}
