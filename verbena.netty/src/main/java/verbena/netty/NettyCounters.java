package verbena.netty;

import java.util.concurrent.atomic.LongAdder;

/// Counters of the bytes that the channels of this process have carried, all by RDMA. A program may read them at any
/// time, from any thread; the counters only grow.
public final class NettyCounters {
    static final LongAdder CONNECTIONS = new LongAdder();
    static final LongAdder IN = new LongAdder();
    static final LongAdder OUT = new LongAdder();
    static final LongAdder DIRECT = new LongAdder();

    private NettyCounters() {}

    /// The counters at one moment.
    ///
    /// @param connections made or accepted
    /// @param bytesIn read from them
    /// @param bytesOut written to them
    /// @param bytesDirect of these, from registered memory without a copy ([VerbenaByteBufAllocator])
    public record Snapshot(long connections, long bytesIn, long bytesOut, long bytesDirect) {
        /// Returns the counters in the form of the summary of `verbena.nio`.
        @Override
        public String toString() {
            return "rdma-connections=" + connections + " rdma-in=" + bytesIn + " rdma-out=" + bytesOut;
        }
    }

    /// Returns the counters now.
    public static Snapshot snapshot() {
        return new Snapshot(CONNECTIONS.sum(), IN.sum(), OUT.sum(), DIRECT.sum());
    }
}
