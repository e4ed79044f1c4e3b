package verbena.interop;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
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

    /// Both at once, because most of the time is spent waiting for packets that never come.
    @Test
    void bytesThatGoByTcpAreAFailureAndTheirFiguresAreNone() throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var measured = threads.submit(
                    () -> assertFails(() -> RunTest.make(Echo.class, DEAF).measure()));
            assertFails(() -> RunTest.make(Echo.class, DEAF).go());
            measured.get();
        }
    }

    private static void assertFails(ThrowingCallable run) {
        assertThatThrownBy(run).isInstanceOf(RunFailed.class).hasMessageContaining("only 0.0 %");
    }
}
