package verbena.nic.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.BeforeEach;
import verbena.transport.memory.Region;
import verbena.transport.near.PeerMemory.Progress;
import verbena.verbs.spi.SendOperation;

/// Two processes with connected queue pairs, for tests of what goes from the memory of one to that of the other.
abstract class TwoProcesses {
    static final int BYTES = 3 << 20;
    /// The compiler needs some.
    private static final int ATTEMPTS_MAX = 300;

    final SharedHost host = new SharedHost();
    final SharedHost.OneProcess a = host.new OneProcess(1);
    final SharedHost.OneProcess b = host.new OneProcess(2);
    final SharedHost.End qa = a.queuePair();
    final SharedHost.End qb = b.queuePair();
    final Region local = a.region(BYTES);
    final Region remote;

    /// @param isRemoteInFile whether the memory of `remote` is in a file that the peer can map
    TwoProcesses(boolean isRemoteInFile) {
        remote = isRemoteInFile ? b.region(BYTES) : b.foreign(BYTES);
    }

    @BeforeEach
    void connect() {
        host.meet(a, b);
        qa.connect(qb);
        qb.connect(qa);
        for (int i = 0; i < BYTES; i++) {
            local.memory().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7 + (i >>> 8)));
        }
    }

    /// Grants the region to the peer.
    void ask(Region of) {
        assertThat(qa.run(SendOperation.READ, local, of, 0, 8)).isEqualTo(Progress.BY_PACKETS);
        host.settle();
    }

    static void assertAllocateNothing(SharedHost.Request... all) {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long bytes = Long.MAX_VALUE;
        for (int attempt = 0; attempt < ATTEMPTS_MAX && bytes > 0; attempt++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 1000; i++) {
                for (SharedHost.Request each : all) {
                    each.run();
                }
            }
            bytes = threads.getCurrentThreadAllocatedBytes() - before;
        }
        assertThat(bytes).isZero();
    }
}
