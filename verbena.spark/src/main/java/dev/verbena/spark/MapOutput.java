package dev.verbena.spark;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import verbena.verbs.Access;
import verbena.verbs.MemoryRegion;

/// One map output in registered memory: an index of where each partition begins, and one more number for the end;
/// then the partitions. The numbers count from the end of the index, have eight bytes and are big-endian.
///
/// Peers READ it until it is withdrawn. Blocks that this process reads itself, or sends by Spark's transport, hold
/// the memory until they are released, also when that is later. Any thread may use it.
final class MapOutput implements RegionBlock.Holder {
    static final ValueLayout.OfLong OFFSET = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final MapOutputTable.Entry entry;
    /// The first has the memory, the others are further registrations of it.
    private final List<MemoryRegion> regions;

    private final MemorySegment memory;
    /// Those that hold the memory, and one more until it is withdrawn. Guarded by this.
    private int holders = 1;

    MapOutput(MapOutputTable.Entry entry, List<MemoryRegion> regions) {
        this.entry = entry;
        this.regions = regions;
        this.memory = regions.getFirst().segment();
    }

    /// Bytes of the index of so many partitions.
    static long indexBytes(int partitions) {
        return (partitions + 1L) * Long.BYTES;
    }

    /// Bytes of the whole output.
    static long bytes(long[] lengths) {
        long total = indexBytes(lengths.length);
        for (long length : lengths) {
            total += length;
        }
        return total;
    }

    /// Writes the index of partitions of these lengths.
    static void writeIndex(MemorySegment memory, long[] lengths) {
        long begin = 0;
        for (int i = 0; i < lengths.length; i++) {
            memory.set(OFFSET, (long) i * Long.BYTES, begin);
            begin += lengths[i];
        }
        memory.set(OFFSET, (long) lengths.length * Long.BYTES, begin);
    }

    MapOutputTable.Entry entry() {
        return entry;
    }

    /// The successive partitions from `first` to before `end` as one block.
    ///
    /// @throws IndexOutOfBoundsException when there are none of these numbers
    RegionBlock block(int first, int end) {
        Objects.checkFromToIndex(first, end, entry.partitions());
        long from = memory.get(OFFSET, (long) first * Long.BYTES);
        long to = memory.get(OFFSET, (long) end * Long.BYTES);
        return new RegionBlock(memory.asSlice(indexBytes(entry.partitions()) + from, to - from), this);
    }

    /// The index, in the form of Spark's index files.
    RegionBlock index() {
        return new RegionBlock(memory.asSlice(0, indexBytes(entry.partitions())), this);
    }

    @Override
    public synchronized void retain() {
        if (holders == 0) {
            throw new IllegalStateException("map output " + entry.shuffleId() + "/" + entry.mapId() + ": withdrawn");
        }
        holders++;
    }

    @Override
    public synchronized void release() {
        if (holders > 0 && --holders == 0) {
            regions.getFirst().close();
        }
    }

    /// Ends what peers may do, and gives the memory back when nothing in this process reads it any more. Once.
    synchronized void withdraw() {
        regions.subList(1, regions.size()).forEach(MemoryRegion::close);
        if (holders > 1) {
            MemoryRegion first = regions.getFirst();
            first.reregister(first.protectionDomain(), Set.of(Access.LOCAL_WRITE));
        }
        release();
    }
}
