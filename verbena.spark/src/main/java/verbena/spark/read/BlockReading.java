package verbena.spark.read;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockBatchId;
import org.apache.spark.storage.ShuffleBlockId;
import org.jspecify.annotations.Nullable;
import verbena.spark.device.Door;
import verbena.spark.device.MapOutputTable;
import verbena.spark.device.ReadBuffers;
import verbena.spark.device.ReadCounters;
import verbena.spark.device.RegionBlock;
import verbena.spark.device.ShuffleEvents;
import verbena.spark.map.MapOutput;
import verbena.verbs.ConnectionException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Pending;
import verbena.verbs.RemoteMemory;
import verbena.verbs.cm.Connection;

/// One request of Spark for blocks of a peer, carried out by READs in three rounds: where the outputs are, where
/// the blocks are in them, the blocks. All READs of a round are under way at once. One thread uses it at a time.
final class BlockReading implements AutoCloseable {
    /// The limit of one READ. Longer blocks are several READs, so that a loss does not cost a whole block.
    private static final int READ_MAX = 1 << 20;

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /// The number of READs that find room at once.
    private static final int SOON_READS = Door.DEPTH;
    /// The number of bytes that are copied in some 100 us.
    private static final long SOON_BYTES = 1 << 20;

    /// A block as Spark names it: successive partitions of one map output.
    private record Wanted(String name, int shuffleId, long mapId, int first, int end) {
        private MapOutputTable.Key key() {
            return new MapOutputTable.Key(shuffleId, mapId);
        }
    }

    /// The place of a block in the memory of its output.
    private record Placed(Wanted wanted, MapOutputTable.Entry entry, long at, long bytes) {}

    /// A block, its READs, and where it comes to lie.
    private record UnderWay(Placed block, List<Pending<?>> reads, ReadBuffers.Buffer into, long at) {}

    private final String peer;
    private final KnownOutputs outputs;
    private final Door.Way way;
    private final Connection connection;
    private final ReadCounters counters;
    private final List<String> blocks;
    private final BlockFetchingListener listener;
    private final Set<String> delivered = new HashSet<>();
    private final List<ReadBuffers.Buffer> buffers = new ArrayList<>();
    private final Deque<UnderWay> underWay = new ArrayDeque<>();
    private final ShuffleEvents.@Nullable Read event = ShuffleEvents.beginRead();
    private boolean isBegun;

    /// @param peer its name
    BlockReading(
            String peer,
            KnownOutputs outputs,
            Door.Way way,
            ReadCounters counters,
            List<String> blocks,
            BlockFetchingListener listener) {
        this.peer = peer;
        this.outputs = outputs;
        this.way = way;
        this.connection = way.connection();
        this.counters = counters;
        this.blocks = blocks;
        this.listener = listener;
    }

    /// Posts the READs of the blocks when they are few, and it is known where they are. Gives those to the listener
    /// that are done at once, as they are within a host. Does not wait for the others.
    ///
    /// @throws verbena.verbs.VerbsException when a READ fails; [#left] has the blocks that were not delivered then
    void begin() throws InterruptedException {
        List<Placed> placed = blocks.size() > SOON_READS ? null : known();
        if (placed != null && placed.stream().mapToLong(Placed::bytes).sum() <= SOON_BYTES) {
            post(placed);
            deliver(Duration.ZERO);
        }
    }

    /// Gives all blocks to the listener that are in the peer's memory.
    ///
    /// @throws verbena.verbs.VerbsException when a READ fails; [#left] has the blocks that were not delivered then
    void read() throws InterruptedException {
        if (!isBegun) {
            List<Wanted> wanted = wanted();
            post(place(wanted, find(wanted)));
        }
        deliver(PATIENCE);
        if (!underWay.isEmpty()) {
            throw late();
        }
    }

    Door.Way way() {
        return way;
    }

    /// Returns whether READs of blocks were posted.
    boolean isBegun() {
        return isBegun;
    }

    /// Returns whether none of them is under way any more.
    boolean isOver() {
        return isBegun && underWay.isEmpty();
    }

    /// Returns the blocks that were not delivered.
    List<String> left() {
        return blocks.stream().filter(block -> !delivered.contains(block)).toList();
    }

    private List<Wanted> wanted() {
        return blocks.stream()
                .map(BlockReading::wanted)
                .filter(Objects::nonNull)
                .toList();
    }

    /// Returns the block of a name; null when it is no block of a map output.
    private static @Nullable Wanted wanted(String name) {
        return switch (BlockId.apply(name)) {
            case ShuffleBlockId block ->
                new Wanted(name, block.shuffleId(), block.mapId(), block.reduceId(), block.reduceId() + 1);
            case ShuffleBlockBatchId batch ->
                new Wanted(name, batch.shuffleId(), batch.mapId(), batch.startReduceId(), batch.endReduceId());
            default -> null;
        };
    }

    /// Returns the places of all the blocks; null when a READ has to find a place.
    private @Nullable List<Placed> known() {
        var placed = new ArrayList<Placed>();
        for (Wanted block : wanted()) {
            MapOutputTable.Entry entry = outputs.find(block.key());
            long[] index = outputs.indexes().find(block.key());
            if (entry == null || index == null) {
                return null;
            }
            placed.add(placed(block, entry, index));
        }
        return placed.size() == blocks.size() ? placed : null;
    }

    // ---- where the outputs are

    private Map<MapOutputTable.Key, MapOutputTable.Entry> find(List<Wanted> wanted) throws InterruptedException {
        var found = new LinkedHashMap<MapOutputTable.Key, MapOutputTable.Entry>();
        var missing = new LinkedHashMap<MapOutputTable.Key, Boolean>();
        for (Wanted block : wanted) {
            MapOutputTable.Entry entry = outputs.find(block.key());
            if (entry == null) {
                missing.put(block.key(), true);
            } else {
                found.put(block.key(), entry);
            }
        }
        for (int probe = 0; probe < MapOutputTable.PROBES && !missing.isEmpty(); probe++) {
            for (MapOutputTable.Entry entry : look(List.copyOf(missing.keySet()), probe)) {
                outputs.learn(entry);
                MapOutputTable.Key key = new MapOutputTable.Key(entry.shuffleId(), entry.mapId());
                found.put(key, entry);
                missing.remove(key);
            }
        }
        return found;
    }

    private List<MapOutputTable.Entry> look(List<MapOutputTable.Key> keys, int probe) throws InterruptedException {
        RemoteMemory table = way.entrance().table();
        MemoryRegion into =
                buffer((long) keys.size() * MapOutputTable.BUCKET_BYTES).region();
        var reads = new ArrayList<Pending<?>>();
        for (int i = 0; i < keys.size(); i++) {
            MapOutputTable.Key key = keys.get(i);
            long at = MapOutputTable.bucketOffset(table.length(), key.shuffleId(), key.mapId(), probe);
            reads.add(connection.postRead(
                    table.slice(at, MapOutputTable.BUCKET_BYTES),
                    into.slice((long) i * MapOutputTable.BUCKET_BYTES, MapOutputTable.BUCKET_BYTES)));
        }
        await(reads);
        var entries = new ArrayList<MapOutputTable.Entry>();
        for (int i = 0; i < keys.size(); i++) {
            long at = (long) i * MapOutputTable.BUCKET_BYTES;
            MapOutputTable.Entry entry = MapOutputTable.look(
                    into.segment().asSlice(at, MapOutputTable.BUCKET_BYTES),
                    keys.get(i).shuffleId(),
                    keys.get(i).mapId());
            if (entry != null) {
                entries.add(entry);
            }
        }
        return entries;
    }

    private RemoteMemory memory(MapOutputTable.Entry entry) {
        return entry.at(way.entrance().index());
    }

    // ---- where the blocks are

    private List<Placed> place(List<Wanted> wanted, Map<MapOutputTable.Key, MapOutputTable.Entry> found)
            throws InterruptedException {
        var whole = new LinkedHashMap<MapOutputTable.Key, MapOutputTable.Entry>();
        for (Wanted block : wanted) {
            MapOutputTable.Entry entry = found.get(block.key());
            if (entry != null) {
                checkPartitions(block, entry);
                if (outputs.indexes().find(block.key()) == null
                        && outputs.indexes().hasRoom(entry.partitions())) {
                    whole.put(block.key(), entry);
                }
            }
        }
        Map<MapOutputTable.Key, long[]> indexes = readIndexes(whole);
        var placed = new ArrayList<Placed>();
        var others = new ArrayList<Wanted>();
        for (Wanted block : wanted) {
            MapOutputTable.Entry entry = found.get(block.key());
            if (entry != null) {
                long[] index =
                        indexes.getOrDefault(block.key(), outputs.indexes().find(block.key()));
                if (index == null) {
                    others.add(block);
                } else {
                    placed.add(placed(block, entry, index));
                }
            }
        }
        placeByParts(others, found, placed);
        return placed;
    }

    /// Reads indexes as a whole, and keeps them for other reducers.
    private Map<MapOutputTable.Key, long[]> readIndexes(Map<MapOutputTable.Key, MapOutputTable.Entry> of)
            throws InterruptedException {
        if (of.isEmpty()) {
            return Map.of();
        }
        MemoryRegion into = buffer(of.values().stream()
                        .mapToLong(entry -> MapOutput.indexBytes(entry.partitions()))
                        .sum())
                .region();
        var reads = new ArrayList<Pending<?>>();
        long at = 0;
        for (MapOutputTable.Entry entry : of.values()) {
            int bytes = (int) MapOutput.indexBytes(entry.partitions());
            reads.add(connection.postRead(memory(entry).slice(0, bytes), into.slice(at, bytes)));
            at += bytes;
        }
        await(reads);
        var indexes = new HashMap<MapOutputTable.Key, long[]>();
        at = 0;
        for (Map.Entry<MapOutputTable.Key, MapOutputTable.Entry> each : of.entrySet()) {
            var index = new long[each.getValue().partitions() + 1];
            for (int i = 0; i < index.length; i++) {
                index[i] = into.segment().get(MapOutput.OFFSET, at + (long) i * Long.BYTES);
            }
            at += (long) index.length * Long.BYTES;
            indexes.put(each.getKey(), index);
            outputs.indexes().keep(each.getKey(), index);
        }
        return indexes;
    }

    /// Reads two numbers for each block.
    private void placeByParts(
            List<Wanted> blocks, Map<MapOutputTable.Key, MapOutputTable.Entry> found, List<Placed> placed)
            throws InterruptedException {
        if (blocks.isEmpty()) {
            return;
        }
        MemoryRegion into = buffer(2L * Long.BYTES * blocks.size()).region();
        var reads = new ArrayList<Pending<?>>();
        for (int i = 0; i < blocks.size(); i++) {
            Wanted block = blocks.get(i);
            RemoteMemory memory = memory(Objects.requireNonNull(found.get(block.key())));
            long at = 2L * Long.BYTES * i;
            long first = (long) block.first() * Long.BYTES;
            if (block.end() == block.first() + 1) {
                reads.add(connection.postRead(memory.slice(first, 2 * Long.BYTES), into.slice(at, 2 * Long.BYTES)));
            } else {
                reads.add(connection.postRead(memory.slice(first, Long.BYTES), into.slice(at, Long.BYTES)));
                reads.add(connection.postRead(
                        memory.slice((long) block.end() * Long.BYTES, Long.BYTES),
                        into.slice(at + Long.BYTES, Long.BYTES)));
            }
        }
        await(reads);
        for (int i = 0; i < blocks.size(); i++) {
            Wanted block = blocks.get(i);
            long begin = into.segment().get(MapOutput.OFFSET, 2L * Long.BYTES * i);
            long end = into.segment().get(MapOutput.OFFSET, 2L * Long.BYTES * i + Long.BYTES);
            placed.add(placed(block, Objects.requireNonNull(found.get(block.key())), begin, end));
        }
    }

    private void checkPartitions(Wanted block, MapOutputTable.Entry entry) {
        if (block.end() > entry.partitions()) {
            throw damaged(block, "has " + entry.partitions() + " partitions");
        }
    }

    private Placed placed(Wanted block, MapOutputTable.Entry entry, long[] index) {
        checkPartitions(block, entry);
        return placed(block, entry, index[block.first()], index[block.end()]);
    }

    private Placed placed(Wanted block, MapOutputTable.Entry entry, long begin, long end) {
        long index = MapOutput.indexBytes(entry.partitions());
        if (begin < 0 || begin > end || end > entry.bytes() - index) {
            throw damaged(block, "is from " + begin + " to " + end);
        }
        return new Placed(block, entry, index + begin, end - begin);
    }

    private ConnectionException damaged(Wanted block, String what) {
        return new ConnectionException(
                ConnectionException.Reason.FAILED, block.name() + ": the map output of the peer " + what);
    }

    // ---- the blocks

    private void post(List<Placed> placed) throws InterruptedException {
        ReadBuffers.Buffer into =
                buffer(placed.stream().mapToLong(Placed::bytes).sum());
        isBegun = true;
        long at = 0;
        for (Placed block : placed) {
            var parts = new ArrayList<Pending<?>>();
            underWay.add(new UnderWay(block, parts, into, at));
            for (long done = 0; done < block.bytes(); done += READ_MAX) {
                int part = (int) Math.min(READ_MAX, block.bytes() - done);
                parts.add(connection.postRead(
                        memory(block.entry()).slice(block.at() + done, part),
                        into.region().slice(at + done, part)));
            }
            at += block.bytes();
        }
    }

    /// Gives blocks to the listener, in their order, up to one whose READs are not done in time.
    private void deliver(Duration patience) throws InterruptedException {
        for (UnderWay next = underWay.peek(); next != null && areDone(next.reads(), patience); next = underWay.peek()) {
            underWay.remove();
            Placed block = next.block();
            RegionBlock data = next.into().block(next.at(), block.bytes());
            delivered.add(block.wanted().name());
            counters.blocksByRead.increment();
            counters.bytesByRead.add(block.bytes());
            if (way.door().isOfHost()) {
                counters.bytesWithinHost.add(block.bytes());
            }
            if (event != null) {
                event.bytes += block.bytes();
            }
            listener.onBlockFetchSuccess(block.wanted().name(), data);
            data.release(); // the listener has retained it
        }
    }

    private static boolean areDone(List<Pending<?>> reads, Duration patience) throws InterruptedException {
        for (Pending<?> read : reads) {
            if (!read.await(patience)) {
                return false;
            }
        }
        return true;
    }

    private static void await(List<Pending<?>> reads) throws InterruptedException {
        if (!areDone(reads, PATIENCE)) {
            throw late();
        }
    }

    private static ConnectionException late() {
        return new ConnectionException(
                ConnectionException.Reason.FAILED, "a READ has taken more than " + PATIENCE.toSeconds() + " s");
    }

    private ReadBuffers.Buffer buffer(long bytes) {
        ReadBuffers.Buffer buffer = way.door().buffers().take(bytes);
        buffers.add(buffer);
        return buffer;
    }

    /// Releases its memory. When a READ has failed, the connection has to be closed before.
    @Override
    public void close() {
        isBegun = true; // and over
        underWay.clear();
        buffers.forEach(ReadBuffers.Buffer::release);
        if (event != null) {
            event.commit(peer, way.door().toString(), delivered.size(), blocks.size());
        }
    }
}
