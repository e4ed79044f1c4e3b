package verbena.netty;

import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import verbena.verbs.counting.ProcessCounters;

/// Counters of the bytes that the channels of this process have carried, all by RDMA. They only grow. Any thread may
/// read them at any time, and they live as long as the process.
///
/// @since 0.1
public final class NettyCounters {
    static final LongAdder CONNECTIONS = new LongAdder();
    static final LongAdder IN = new LongAdder();
    static final LongAdder OUT = new LongAdder();
    static final LongAdder DIRECT = new LongAdder();

    static {
        ProcessCounters.of("Netty").add(() -> {
            Snapshot now = snapshot();
            return Map.of(
                    "connections", now.connections,
                    "in.bytes", now.bytesIn,
                    "out.bytes", now.bytesOut,
                    "out.direct.bytes", now.bytesDirect);
        });
    }

    private NettyCounters() {}

    /// The counters at one moment. Immutable.
    ///
    /// @param connections made or accepted
    /// @param bytesIn read from them
    /// @param bytesOut written to them
    /// @param bytesDirect written from registered memory without a copy ([VerbenaByteBufAllocator]), included in
    ///     `bytesOut`
    public record Snapshot(long connections, long bytesIn, long bytesOut, long bytesDirect) {
        /// Returns the counters in the form of the summary of `verbena.nio`, with `rdma-direct` for [#bytesDirect()].
        @Override
        public String toString() {
            return "rdma-connections=" + connections + " rdma-in=" + bytesIn + " rdma-out=" + bytesOut + " rdma-direct="
                    + bytesDirect;
        }
    }

    /// Returns the counters now.
    public static Snapshot snapshot() {
        return new Snapshot(CONNECTIONS.sum(), IN.sum(), OUT.sum(), DIRECT.sum());
    }
}
