package verbena.spark.device;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import verbena.verbs.RemoteMemory;

/// A table of the map outputs of an executor, in memory that other executors READ. It is a hash table of buckets of
/// four slots. An output is in one of [#PROBES] successive buckets from its hash on, so a reader needs no help of
/// the owner.
///
///     map id | shuffle id, partitions | address | keys by door | bytes | check | 16 unused
///
/// All fields are of eight bytes, big-endian. The check is a hash of the fields before it and is written last; zero
/// means that the slot is free. A reader takes no slot whose check does not match.
///
/// The owner's methods exclude each other; reading needs no lock.
public final class MapOutputTable {
    public static final int SLOT_BYTES = 64;
    static final int BUCKET_SLOTS = 4;
    public static final int BUCKET_BYTES = BUCKET_SLOTS * SLOT_BYTES;
    public static final int PROBES = 4;
    /// Devices of an executor: one within the host, and one of the network.
    static final int DOORS_MAX = 2;

    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong FIELD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final VarHandle PUBLISHED = WORD.varHandle();
    private static final int FIELDS = 5;
    private static final int CHECK = FIELDS * Long.BYTES;

    /// The key of a map output.
    public record Key(int shuffleId, long mapId) {}

    /// A map output as readers know it.
    ///
    /// @param partitions how many partitions its index has
    /// @param memory of index and partitions, with its key at the first door
    /// @param secondKey at the second door, if there is one
    public record Entry(int shuffleId, long mapId, int partitions, RemoteMemory memory, int secondKey) {
        public long bytes() {
            return memory.length();
        }

        /// Returns the memory that a reader at a door of this index names.
        public RemoteMemory at(int door) {
            return door == 0 ? memory : new RemoteMemory(memory.address(), secondKey, memory.length());
        }
    }

    private final MemorySegment slots;

    /// @param slots zeroed memory, aligned to 8 bytes; its size is a power of two times [#BUCKET_BYTES]
    public MapOutputTable(MemorySegment slots) {
        this.slots = slots;
    }

    private static int buckets(long bytes) {
        return Math.toIntExact(bytes / BUCKET_BYTES);
    }

    /// Returns the offset of a map output's bucket.
    ///
    /// @param tableBytes size of the whole table
    /// @param probe 0 to [#PROBES] - 1
    public static long bucketOffset(long tableBytes, int shuffleId, long mapId, int probe) {
        long hash = mix(mix(shuffleId) + mapId);
        return ((hash + probe) & (buckets(tableBytes) - 1)) * BUCKET_BYTES;
    }

    /// Publishes an output; false when its buckets are full.
    public synchronized boolean add(Entry entry) {
        long at = find(0, 0, entry);
        if (at < 0) {
            return false;
        }
        long[] words = words(entry);
        for (int i = 0; i < FIELDS; i++) {
            slots.set(WORD, at + (long) i * Long.BYTES, words[i]);
        }
        PUBLISHED.setRelease(slots, at + CHECK, check(words));
        return true;
    }

    /// Withdraws an output.
    public synchronized void remove(Entry entry) {
        long[] words = words(entry);
        long at = find(words[0], check(words), entry);
        if (at >= 0) {
            PUBLISHED.setRelease(slots, at + CHECK, 0L);
        }
    }

    /// Returns the slot of an output, or a free one when `check` is 0; -1 when there is none.
    private long find(long mapId, long check, Entry entry) {
        for (int probe = 0; probe < PROBES; probe++) {
            long bucket = bucketOffset(slots.byteSize(), entry.shuffleId(), entry.mapId(), probe);
            for (long at = bucket; at < bucket + BUCKET_BYTES; at += SLOT_BYTES) {
                if (slots.get(WORD, at + CHECK) == check && (check == 0 || slots.get(WORD, at) == mapId)) {
                    return at;
                }
            }
        }
        return -1;
    }

    /// Looks for an output in a bucket that was READ; null when it is not there.
    ///
    /// @param bucket [#BUCKET_BYTES]
    public static @Nullable Entry look(MemorySegment bucket, int shuffleId, long mapId) {
        for (long at = 0; at < BUCKET_BYTES; at += SLOT_BYTES) {
            long[] words = new long[FIELDS];
            for (int i = 0; i < FIELDS; i++) {
                words[i] = bucket.get(FIELD, at + (long) i * Long.BYTES);
            }
            boolean isIt = words[0] == mapId && (int) (words[1] >>> 32) == shuffleId;
            if (isIt && bucket.get(FIELD, at + CHECK) == check(words)) {
                var memory = new RemoteMemory(words[2], (int) (words[3] >>> 32), words[4]);
                return new Entry(shuffleId, mapId, (int) words[1], memory, (int) words[3]);
            }
        }
        return null;
    }

    private static long[] words(Entry entry) {
        RemoteMemory memory = entry.memory();
        return new long[] {
            entry.mapId(),
            pair(entry.shuffleId(), entry.partitions()),
            memory.address(),
            pair(memory.rkey(), entry.secondKey()),
            memory.length()
        };
    }

    private static long pair(int high, int low) {
        return (long) high << 32 | Integer.toUnsignedLong(low);
    }

    private static long check(long[] words) {
        long hash = 0;
        for (long word : words) {
            hash = mix(hash ^ word);
        }
        return hash == 0 ? 1 : hash;
    }

    /// Spreads all bits over all others (the finaliser of SplitMix64).
    private static long mix(long value) {
        long mixed = value + 0x9E3779B97F4A7C15L;
        mixed = (mixed ^ mixed >>> 30) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
        return mixed ^ mixed >>> 31;
    }
}
