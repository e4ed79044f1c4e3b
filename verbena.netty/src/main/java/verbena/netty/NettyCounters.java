package verbena.netty;

import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import verbena.verbs.counting.ProcessCounters;

/// Counters of the channels of this process: connections made or accepted, and the bytes that they have carried, all
/// by RDMA. Any thread may count.
final class NettyCounters {
    static final LongAdder CONNECTIONS = new LongAdder();
    static final LongAdder IN = new LongAdder();
    static final LongAdder OUT = new LongAdder();
    /// Bytes written from registered memory without a copy ([VerbenaByteBufAllocator]), included in [#OUT].
    static final LongAdder DIRECT = new LongAdder();

    static {
        ProcessCounters.of("Netty")
                .add(() -> Map.of(
                        "connections", CONNECTIONS.sum(),
                        "in.bytes", IN.sum(),
                        "out.bytes", OUT.sum(),
                        "out.direct.bytes", DIRECT.sum()));
    }

    private NettyCounters() {}
}
