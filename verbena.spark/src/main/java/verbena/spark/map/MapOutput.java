package verbena.spark.map;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;
import verbena.spark.device.MapOutputTable;
import verbena.spark.device.RegionBlock;

/// One map output in registered memory: an index of where each partition begins, and one more number for the end;
/// then the partitions. The numbers count from the end of the index, have eight bytes and are big-endian.
///
/// Peers READ it until it is withdrawn. Blocks that this process reads itself, or sends by Spark's transport, hold
/// the memory until they are released, also when that is later. Any thread may use it.
public final class MapOutput {
    public static final ValueLayout.OfLong OFFSET = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final MapOutputTable.Entry entry;
    private final OutputMemory holder;
    /// The memory of its part.
    private final MemorySegment memory;

    MapOutput(MapOutputTable.Entry entry, OutputMemory holder, MemorySegment memory) {
        this.entry = entry;
        this.holder = holder;
        this.memory = memory;
    }

    /// Returns the bytes of the index of so many partitions.
    public static long indexBytes(int partitions) {
        return (partitions + 1L) * Long.BYTES;
    }

    /// Returns the bytes of the whole output.
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

    public MapOutputTable.Entry entry() {
        return entry;
    }

    /// Returns the successive partitions from `first` to before `end` as one block.
    ///
    /// @throws IndexOutOfBoundsException when there are none of these numbers
    public RegionBlock block(int first, int end) {
        Objects.checkFromToIndex(first, end, entry.partitions());
        long from = memory.get(OFFSET, (long) first * Long.BYTES);
        long to = memory.get(OFFSET, (long) end * Long.BYTES);
        return new RegionBlock(memory.asSlice(indexBytes(entry.partitions()) + from, to - from), holder);
    }

    /// Returns the index, in the form of Spark's index files.
    public RegionBlock index() {
        return new RegionBlock(memory.asSlice(0, indexBytes(entry.partitions())), holder);
    }

    OutputMemory holder() {
        return holder;
    }
}
