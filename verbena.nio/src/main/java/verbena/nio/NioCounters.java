package verbena.nio;

import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import verbena.verbs.counting.Counted;
import verbena.verbs.counting.ProcessCounters;

/// Counters of the socket channels of this process: connections made or accepted, and bytes, by RDMA and by TCP. A
/// connection that began over TCP and goes on over RDMA counts in both. Any thread may count.
final class NioCounters {
    static final LongAdder RDMA_IN = new LongAdder();
    static final LongAdder RDMA_OUT = new LongAdder();
    static final LongAdder TCP_IN = new LongAdder();
    static final LongAdder TCP_OUT = new LongAdder();
    static final LongAdder RDMA_CONNECTIONS = new LongAdder();
    static final LongAdder TCP_CONNECTIONS = new LongAdder();

    static {
        ProcessCounters.of("Nio").add(new All());
    }

    /// The counters as the process shows them. No lambda: a first connection passes here ([Jdk]).
    private static final class All implements Counted {
        @Override
        public Map<String, Long> counters() {
            return Map.of(
                    "rdma.in.bytes", RDMA_IN.sum(),
                    "rdma.out.bytes", RDMA_OUT.sum(),
                    "tcp.in.bytes", TCP_IN.sum(),
                    "tcp.out.bytes", TCP_OUT.sum(),
                    "rdma.connections", RDMA_CONNECTIONS.sum(),
                    "tcp.connections", TCP_CONNECTIONS.sum());
        }
    }

    private NioCounters() {}

    /// Returns the counters as the summary of a process has them.
    static String summary() {
        return "rdma-connections=" + RDMA_CONNECTIONS + " rdma-in=" + RDMA_IN + " rdma-out=" + RDMA_OUT
                + " tcp-connections=" + TCP_CONNECTIONS + " tcp-in=" + TCP_IN + " tcp-out=" + TCP_OUT;
    }
}
