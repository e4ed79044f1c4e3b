package verbena.nio;

import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import verbena.verbs.counting.Counted;
import verbena.verbs.counting.ProcessCounters;

/// Counters of the bytes and connections of this process's socket channels, by RDMA and by TCP. They only grow. Any
/// thread may read them at any time, and they live as long as the process.
///
/// @since 0.1
public final class NioCounters {
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
            Snapshot now = snapshot();
            return Map.of(
                    "rdma.in.bytes", now.rdmaBytesIn,
                    "rdma.out.bytes", now.rdmaBytesOut,
                    "tcp.in.bytes", now.tcpBytesIn,
                    "tcp.out.bytes", now.tcpBytesOut,
                    "rdma.connections", now.rdmaConnections,
                    "tcp.connections", now.tcpConnections);
        }
    }

    private NioCounters() {}

    /// The counters at one moment. A connection that began over TCP and goes on over RDMA counts in both.
    /// Immutable.
    ///
    /// @param rdmaBytesIn read from connections over RDMA
    /// @param rdmaBytesOut written to them
    /// @param tcpBytesIn read from connections over TCP
    /// @param tcpBytesOut written to them
    /// @param rdmaConnections made or accepted over RDMA
    /// @param tcpConnections made or accepted over TCP
    public record Snapshot(
            long rdmaBytesIn,
            long rdmaBytesOut,
            long tcpBytesIn,
            long tcpBytesOut,
            long rdmaConnections,
            long tcpConnections) {
        @Override
        public String toString() {
            return "rdma-connections=" + rdmaConnections + " rdma-in=" + rdmaBytesIn + " rdma-out=" + rdmaBytesOut
                    + " tcp-connections=" + tcpConnections + " tcp-in=" + tcpBytesIn + " tcp-out=" + tcpBytesOut;
        }
    }

    /// Returns the counters now.
    public static Snapshot snapshot() {
        return new Snapshot(
                RDMA_IN.sum(),
                RDMA_OUT.sum(),
                TCP_IN.sum(),
                TCP_OUT.sum(),
                RDMA_CONNECTIONS.sum(),
                TCP_CONNECTIONS.sum());
    }
}
