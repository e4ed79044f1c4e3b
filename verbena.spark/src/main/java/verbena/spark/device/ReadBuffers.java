package verbena.spark.device;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.buffer.ManagedBuffer;
import verbena.verbs.Access;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;

/// Registered memory that READs fill. A buffer that Spark has read is used again; up to [#IDLE_MAX] bytes are kept
/// for that. How much is in use at once is Spark's decision, by `spark.reducer.maxSizeInFlight`. Any thread may use
/// it.
public final class ReadBuffers implements AutoCloseable {
    static final long IDLE_MAX = 64L << 20;
    private static final long STEP = 64L << 10;

    private final ProtectionDomain domain;
    /// Idle regions by size. Guarded by itself.
    private final NavigableMap<Long, Deque<MemoryRegion>> idle = new TreeMap<>();

    private long idleBytes;
    private boolean closed;

    ReadBuffers(ProtectionDomain domain) {
        this.domain = domain;
    }

    /// Takes a buffer of at least so many bytes, held once.
    public Buffer take(long bytes) {
        long size = Math.max(STEP, (bytes + STEP - 1) / STEP * STEP);
        synchronized (idle) {
            Map.Entry<Long, Deque<MemoryRegion>> fitting = idle.ceilingEntry(size);
            if (fitting != null && fitting.getKey() <= 2 * size) {
                MemoryRegion region = fitting.getValue().removeLast();
                if (fitting.getValue().isEmpty()) {
                    idle.remove(fitting.getKey());
                }
                idleBytes -= region.length();
                return new Buffer(region);
            }
        }
        return new Buffer(domain.allocate(size, Set.of(Access.LOCAL_WRITE)));
    }

    private void giveBack(MemoryRegion region) {
        synchronized (idle) {
            if (!closed && idleBytes + region.length() <= IDLE_MAX) {
                idle.computeIfAbsent(region.length(), size -> new ArrayDeque<>())
                        .addLast(region);
                idleBytes += region.length();
                return;
            }
        }
        region.close();
    }

    @Override
    public void close() {
        synchronized (idle) {
            closed = true;
            idle.values().forEach(regions -> regions.forEach(MemoryRegion::close));
            idle.clear();
            idleBytes = 0;
        }
    }

    /// Memory that is used again when its last holder has released it.
    public final class Buffer implements RegionBlock.Holder {
        private final MemoryRegion region;
        private final AtomicInteger holders = new AtomicInteger(1);

        private Buffer(MemoryRegion region) {
            this.region = region;
        }

        public MemoryRegion region() {
            return region;
        }

        /// Returns a part as a block, which holds this buffer once more.
        public RegionBlock block(long offset, long bytes) {
            MemorySegment part = region.segment().asSlice(offset, bytes);
            var made = new RegionBlock(part, this);
            ManagedBuffer _ = made.retain();
            return made;
        }

        @Override
        public void retain() {
            int before = holders.getAndIncrement();
            if (before <= 0) {
                holders.getAndDecrement();
                throw new IllegalStateException("block: it was released before");
            }
        }

        @Override
        public void release() {
            if (holders.decrementAndGet() == 0) {
                giveBack(region);
            }
        }
    }
}
