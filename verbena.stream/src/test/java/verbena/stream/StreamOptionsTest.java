package verbena.stream;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/// A mistake in options is named at once.
class StreamOptionsTest {
    private static final StreamOptions DEFAULTS = StreamOptions.defaults();

    @Test
    void whatCannotBeIsRefusedByName() {
        assertThatThrownBy(() -> DEFAULTS.withBuffers(2_047, 4_096)).hasMessageContaining("sendBytes");
        assertThatThrownBy(() -> DEFAULTS.withBuffers(4_096, (1 << 28) + 1)).hasMessageContaining("receiveBytes");
        assertThatThrownBy(() -> DEFAULTS.withDepth(15)).hasMessageContaining("depth");
        assertThatThrownBy(() -> DEFAULTS.withDepth(0xFFFF)).hasMessageContaining("depth");
        assertThatThrownBy(() -> DEFAULTS.withConnectTimeout(Duration.ZERO)).hasMessageContaining("connectTimeout");
        assertThatThrownBy(() -> DEFAULTS.withTimeout(Duration.ZERO)).hasMessageContaining("timeout");
        assertThatThrownBy(() -> DEFAULTS.withLinger(Duration.ofNanos(-1))).hasMessageContaining("linger");
        assertThatThrownBy(() -> DEFAULTS.withKeepAlive(Duration.ofNanos(-1))).hasMessageContaining("keepAlive");
    }
}
