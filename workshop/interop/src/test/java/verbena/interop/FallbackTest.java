package verbena.interop;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// No connection can be made by RDMA where all packets are lost: all bytes go by TCP, and that is a failure.
@Timeout(value = 200, unit = TimeUnit.SECONDS)
class FallbackTest {
    private static final Scene DEAF =
            new Scene("deaf", true, true, Optional.of("rocev2@127.0.0.1,faults=loss:100%"), false, false);

    @BeforeEach
    void prepare() {
        RunTest.theAgentIsThere();
    }

    @Test
    void bytesThatGoByTcpAreAFailureWhenBothEndsHaveTheAgent() {
        assertThatThrownBy(() -> RunTest.make(Echo.class, DEAF).go())
                .isInstanceOf(RunFailed.class)
                .hasMessageContaining("only 0.0 %");
    }

    @Test
    void figuresOfBytesThatWentByTcpAreNone() {
        assertThatThrownBy(() -> RunTest.make(Echo.class, DEAF).measure())
                .isInstanceOf(RunFailed.class)
                .hasMessageContaining("only 0.0 %");
    }
}
