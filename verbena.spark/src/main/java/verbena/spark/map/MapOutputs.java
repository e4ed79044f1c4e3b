package verbena.spark.map;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import verbena.spark.device.Directory;
import verbena.spark.device.Door;
import verbena.spark.device.MapOutputTable;
import verbena.spark.device.Settings;
import verbena.verbs.Access;
import verbena.verbs.MemoryRegion;
import verbena.verbs.VerbsException;

/// The map outputs of this executor that are in registered memory, up to a limit. Any thread may use it.
public final class MapOutputs implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(MapOutputs.class);

    static final int CHUNK_BYTES = 256 << 10;
    private static final int IDLE_CHUNKS = 64;
    /// The limit of an output. Spark's buffers cannot be longer.
    private static final long BYTES_MAX = Integer.MAX_VALUE;
    /// Memory that outputs of a shuffle share has so many bytes at first, and twice as many each time.
    private static final long SHARED_MIN = 256 << 10;
    private static final long SHARED_MAX = 8 << 20;
    /// A longer output has memory of its own.
    private static final long SHARING_MAX = SHARED_MAX / 4;

    private record Key(int shuffleId, long mapId) {}

    /// A source that puts the partitions, one behind the other, into memory.
    public interface Filling {
        void into(MemorySegment data) throws IOException;
    }

    private final List<Door> doors;
    private final long limit;
    private final AtomicLong used = new AtomicLong();
    private final Map<Key, MapOutput> outputs = new ConcurrentHashMap<>();
    /// The memory for the next outputs of a shuffle. Guarded by itself.
    private final Map<Integer, OutputMemory> shared = new HashMap<>();
    private final Deque<MemorySegment> chunks = new ConcurrentLinkedDeque<>();
    private final AtomicInteger idleChunks = new AtomicInteger();
    /// The table at each door; the first has the memory. Empty without a door.
    private final List<MemoryRegion> tables;

    private final @Nullable MapOutputTable table;

    public MapOutputs(List<Door> doors, Settings settings) {
        this.doors = doors;
        this.limit = settings.memoryBytes();
        long bytes = (long) settings.tableSlots() * MapOutputTable.SLOT_BYTES;
        this.tables = doors.isEmpty() ? List.of() : everywhere(bytes);
        this.table =
                doors.isEmpty() ? null : new MapOutputTable(tables.getFirst().segment());
    }

    /// Allocates memory, registered at all doors.
    private List<MemoryRegion> everywhere(long bytes) {
        var regions = new ArrayList<MemoryRegion>();
        try {
            regions.add(doors.getFirst().outputs().allocate(bytes, Set.of(Access.REMOTE_READ)));
            for (Door door : doors.subList(1, doors.size())) {
                regions.add(door.register(regions.getFirst()));
            }
            return regions;
        } catch (VerbsException | OutOfMemoryError e) {
            regions.reversed().forEach(MemoryRegion::close);
            throw e;
        }
    }

    public List<Directory.Entrance> entrances() {
        var entrances = new ArrayList<Directory.Entrance>();
        for (int i = 0; i < doors.size(); i++) {
            entrances.add(doors.get(i).entrance(i, tables.get(i)));
        }
        return entrances;
    }

    // ---- memory

    /// Returns whether there is a device; without one all outputs go to files.
    public boolean isReadable() {
        return table != null;
    }

    /// Sets bytes aside; false when that would be more than the limit, or there is no device.
    private boolean reserve(long bytes) {
        if (table == null) {
            return false;
        }
        if (used.addAndGet(bytes) > limit) {
            used.addAndGet(-bytes);
            return false;
        }
        return true;
    }

    /// Takes a chunk of [#CHUNK_BYTES] for an output that is being written; null when there is no memory for it.
    @Nullable
    MemorySegment takeChunk() {
        if (!reserve(CHUNK_BYTES)) {
            return null;
        }
        MemorySegment chunk = chunks.pollLast();
        if (chunk != null) {
            idleChunks.decrementAndGet();
            return chunk;
        }
        try {
            return Arena.ofAuto().allocate(CHUNK_BYTES, Long.BYTES);
        } catch (OutOfMemoryError e) { // -XX:MaxDirectMemorySize
            used.addAndGet(-CHUNK_BYTES);
            return null;
        }
    }

    void giveBack(Collection<MemorySegment> unused) {
        used.addAndGet(-(long) CHUNK_BYTES * unused.size());
        for (MemorySegment chunk : unused) {
            if (idleChunks.incrementAndGet() > IDLE_CHUNKS) {
                idleChunks.decrementAndGet(); // the collector has it
            } else {
                chunks.addLast(chunk);
            }
        }
    }

    /// Returns the number of bytes that memory for outputs, and chunks, have now.
    public long usedBytes() {
        return used.get();
    }

    // ---- outputs

    /// Room for an output.
    private record Room(OutputMemory memory, long begin, long bytes) {
        private MemorySegment segment() {
            return memory.regions().getFirst().segment().asSlice(begin, bytes);
        }
    }

    /// Publishes an output; false when there is no room for it, in memory or in the table.
    public boolean add(int shuffleId, long mapId, long[] lengths, Filling filling) throws IOException {
        Room room = take(shuffleId, MapOutput.bytes(lengths));
        if (room == null) {
            return false;
        }
        boolean done = false;
        try {
            MapOutput.writeIndex(room.segment(), lengths);
            filling.into(room.segment().asSlice(MapOutput.indexBytes(lengths.length)));
            done = publish(mapId, lengths.length, room);
        } catch (VerbsException | OutOfMemoryError e) {
            LOG.warn("map output {}/{} goes to a file: {}", shuffleId, mapId, e.getMessage());
        } finally {
            if (!done) {
                leave(room.memory());
            }
        }
        return done;
    }

    /// Takes room beside other outputs of the shuffle, or in new memory when there is none; null when there is no
    /// memory either.
    private @Nullable Room take(int shuffleId, long bytes) {
        if (bytes > BYTES_MAX) {
            return null;
        }
        if (bytes > SHARING_MAX) {
            return room(open(shuffleId, bytes), bytes);
        }
        synchronized (shared) {
            OutputMemory last = shared.get(shuffleId);
            Room beside = room(last, bytes);
            if (beside != null) {
                return beside;
            }
            long more = last == null ? SHARED_MIN : 2 * last.bytes();
            OutputMemory made = open(shuffleId, Math.clamp(4 * bytes, Math.min(more, SHARED_MAX), SHARED_MAX));
            if (made == null) {
                made = open(shuffleId, bytes); // what is left may do for this one
            }
            if (made != null) {
                shared.put(shuffleId, made);
            }
            return room(made, bytes);
        }
    }

    private static @Nullable Room room(@Nullable OutputMemory in, long bytes) {
        long begin = in == null ? -1 : in.take(bytes);
        return in == null || begin < 0 ? null : new Room(in, begin, bytes);
    }

    private @Nullable OutputMemory open(int shuffleId, long bytes) {
        if (!reserve(bytes)) {
            return null;
        }
        try {
            return new OutputMemory(shuffleId, everywhere(bytes));
        } catch (VerbsException | OutOfMemoryError e) {
            used.addAndGet(-bytes);
            LOG.warn("shuffle {}: no memory for {} bytes of map outputs: {}", shuffleId, bytes, e.getMessage());
            return null;
        }
    }

    /// Handles an output that leaves its memory.
    private void leave(OutputMemory memory) {
        if (memory.leave()) {
            synchronized (shared) {
                boolean _ = shared.remove(memory.shuffleId, memory);
            }
            used.addAndGet(-memory.bytes());
        }
    }

    private boolean publish(long mapId, int partitions, Room room) {
        List<MemoryRegion> regions = room.memory().regions();
        int secondKey = regions.size() > 1 ? regions.get(1).rkey() : 0;
        int shuffleId = room.memory().shuffleId;
        var entry = new MapOutputTable.Entry(
                shuffleId, mapId, partitions, regions.getFirst().remote().slice(room.begin(), room.bytes()), secondKey);
        if (table == null || !table.add(entry)) {
            return false;
        }
        MapOutput older = outputs.put(new Key(shuffleId, mapId), new MapOutput(entry, room.memory(), room.segment()));
        if (older != null) {
            withdraw(older);
        }
        return true;
    }

    /// Returns the output of a map task; null when it is not in memory.
    @Nullable
    public MapOutput find(int shuffleId, long mapId) {
        return outputs.get(new Key(shuffleId, mapId));
    }

    public List<MapOutputTable.Entry> entries() {
        return outputs.values().stream().map(MapOutput::entry).toList();
    }

    /// Withdraws an output, if it is here. Its keys end with the last output that shares them.
    public void remove(int shuffleId, long mapId) {
        MapOutput output = outputs.remove(new Key(shuffleId, mapId));
        if (output != null) {
            withdraw(output);
        }
    }

    private void withdraw(MapOutput output) {
        if (table != null) {
            table.remove(output.entry());
        }
        leave(output.holder());
    }

    @Override
    public void close() {
        for (Key key : List.copyOf(outputs.keySet())) {
            remove(key.shuffleId(), key.mapId());
        }
        tables.reversed().forEach(MemoryRegion::close);
    }
}
