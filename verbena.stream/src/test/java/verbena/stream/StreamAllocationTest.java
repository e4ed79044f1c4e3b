package verbena.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Reads and writes between two devices of one process allocate no object, in any thread.
@Timeout(120)
class StreamAllocationTest {
    private static final int ROUNDS = 200;
    /// The compiler needs some attempts, and after its work the other threads of a test run must be idle.
    private static final int ATTEMPTS_MAX = 200;

    @Test
    void readsAndWritesAllocateNothing() throws Exception {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (var pair = new StreamPair("rocev2")) {
            pair.client.configureBlocking(false);
            pair.server.configureBlocking(false);
            ByteBuffer heap = ByteBuffer.allocate(4_000);
            ByteBuffer direct = ByteBuffer.allocateDirect(4_000);
            long least = Long.MAX_VALUE;
            for (int attempt = 0; attempt < ATTEMPTS_MAX && least > 0; attempt++) {
                long before = threads.getTotalThreadAllocatedBytes();
                for (int i = 0; i < ROUNDS; i++) {
                    move(heap.clear(), direct.clear(), pair.client, pair.server);
                    move(direct.flip(), heap.clear(), pair.server, pair.client);
                }
                least = Math.min(least, threads.getTotalThreadAllocatedBytes() - before);
            }
            assertThat(least).as("bytes for %d round trips", ROUNDS).isZero();
        }
    }

    private static void move(ByteBuffer data, ByteBuffer into, StreamChannel from, StreamChannel to)
            throws IOException {
        while (data.hasRemaining() || into.hasRemaining()) {
            from.write(data);
            to.read(into);
        }
    }
}
