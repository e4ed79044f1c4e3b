package verbena.nic.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.verbs.cm.ConnectionListener;

/// The device that connections of a process share stays open for a moment when it has no users. Its threads show it.
@Timeout(120)
class SharedDeviceTest {
    /// Of this test alone.
    private static final String ADDRESS = "127.94.7.31";

    private static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().endsWith(ADDRESS))
                .collect(Collectors.toSet());
    }

    @Test
    void theNextUserFindsItOpenAndThenItIsClosed() throws InterruptedException {
        ConnectionListener.bind(ADDRESS, 0).close();
        long unused = System.nanoTime();
        Set<Thread> before = threads();
        ConnectionListener.bind(ADDRESS, 0).close();
        long took = System.nanoTime() - unused;
        Set<Thread> after = threads();
        assertClosedSoon();
        // A machine that pauses this thread for a second lets the device be closed before its next user.
        assumeThat(took).isLessThan(Duration.ofMillis(500).toNanos());
        assertThat(before).isNotEmpty();
        assertThat(after).isEqualTo(before);
    }

    private static void assertClosedSoon() throws InterruptedException {
        var never = new CountDownLatch(1);
        while (!threads().isEmpty()) { // until the time limit of the test
            assertThat(never.await(10, TimeUnit.MILLISECONDS)).isFalse();
        }
    }
}
