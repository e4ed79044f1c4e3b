package verbena.stream.protocol;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;

/// Memory of the program's that its peer writes to directly: riomap, riounmap and riowrite of rsocket(7). Each
/// side has a table that the other writes its mappings to, each an offset and the buffer that is there. Guarded
/// as the [ByteStream] is.
public final class StreamMappings {
    private static final int LOCAL = -1;

    /// @param index in the peer's table; [#LOCAL] for one that the peer does not learn of
    private record Mapping(long offset, MemoryRegion region, int index) {
        boolean is(long address, long length) {
            return region.segment().address() == address && region.length() == length;
        }
    }

    private final ByteStream stream;
    private final ProtectionDomain domain;
    /// The mappings of the peer, in our order of bytes.
    private final MemorySegment table;

    private final int count;
    private final List<Mapping> mine = new ArrayList<>();
    /// The mappings of this side that the peer is to learn of, in order.
    private final List<Mapping> untold = new ArrayList<>();

    private final BitSet indexes = new BitSet();
    private StreamMessage.@Nullable Hello peer;
    /// An entry on its way to the peer's table; made when one is needed.
    private @Nullable MemorySegment entry;

    /// @param count entries of the table
    StreamMappings(ByteStream stream, ProtectionDomain domain, MemorySegment table, int count) {
        this.stream = stream;
        this.domain = domain;
        this.table = table;
        this.count = count;
    }

    int count() {
        return count;
    }

    void begin(StreamMessage.Hello hello) {
        peer = hello;
    }

    /// Registers memory, and makes it known to the peer before any other message is sent.
    ///
    /// @param offset by which the peer names the memory
    /// @return false when the peer's table is full
    public boolean map(MemorySegment memory, boolean isForPeer, long offset) {
        StreamMessage.Hello known = peer;
        int index = isForPeer ? indexes.nextClearBit(0) : LOCAL;
        if (known == null || index >= known.mappings()) {
            return false;
        }
        Set<Access> rights = EnumSet.of(Access.LOCAL_WRITE);
        if (isForPeer) {
            rights.add(Access.REMOTE_WRITE);
        }
        var made = new Mapping(offset, domain.register(memory, rights), index);
        mine.add(made);
        if (isForPeer) {
            indexes.set(index);
            untold.add(made);
            flush();
        }
        return true;
    }

    /// Ends a mapping. The peer gets no message: it writes there no more, as the two programs have agreed.
    ///
    /// @return false when there is no such mapping
    public boolean unmap(long address, long length) {
        for (Mapping each : mine) {
            if (each.is(address, length)) {
                mine.remove(each);
                untold.remove(each);
                if (each.index != LOCAL) {
                    indexes.clear(each.index);
                }
                each.region.close();
                return true;
            }
        }
        return false;
    }

    boolean isFlushed() {
        return untold.isEmpty();
    }

    /// Makes as many mappings known to the peer as there is room for.
    void flush() {
        StreamMessage.Hello known = peer;
        while (known != null && !untold.isEmpty() && hasRoom()) {
            Mapping next = untold.removeFirst();
            MemorySegment row = entry();
            var longs = JAVA_LONG_UNALIGNED.withOrder(known.order());
            var ints = JAVA_INT_UNALIGNED.withOrder(known.order());
            row.set(longs, 0, next.offset);
            row.set(longs, 8, next.region.address());
            row.set(ints, 16, next.region.rkey());
            row.set(ints, 20, (int) next.region.length());
            long to = known.targets()
                    + (long) known.targetCount() * StreamMessage.TARGET_BYTES
                    + (long) next.index * StreamMessage.MAPPING_BYTES;
            stream.useCredit();
            stream.ring().put(row, 0, StreamMessage.MAPPING_BYTES);
            stream.post(to, known.targetsKey(), StreamMessage.of(StreamMessage.MAPPING, next.index));
        }
    }

    private MemorySegment entry() {
        MemorySegment made = entry;
        if (made == null) {
            made = Arena.ofAuto().allocate(StreamMessage.MAPPING_BYTES);
            entry = made;
        }
        return made;
    }

    private boolean hasRoom() {
        return stream.hasSlot() && stream.ring().room() >= StreamMessage.MAPPING_BYTES;
    }

    /// Writes to the memory that the peer has mapped at an offset: as many bytes as there is room for now, and not
    /// beyond the mapping.
    ///
    /// @return how much; -1 when nothing is mapped there
    public long write(MemorySegment from, long at, long length, long offset) {
        for (int i = 0; i < count; i++) {
            long row = (long) i * StreamMessage.MAPPING_BYTES;
            long begin = table.get(JAVA_LONG_UNALIGNED, row);
            long bytes = Integer.toUnsignedLong(table.get(JAVA_INT_UNALIGNED, row + 20));
            long within = offset - begin;
            if (within >= 0 && within < bytes) {
                long to = table.get(JAVA_LONG_UNALIGNED, row + 8) + within;
                int key = table.get(JAVA_INT_UNALIGNED, row + 16);
                return write(from, at, Math.min(length, bytes - within), to, key);
            }
        }
        return -1;
    }

    /// Writes to the peer's memory, without telling it: as much as there is room for now.
    private long write(MemorySegment from, long at, long length, long to, int key) {
        long done = 0;
        while (done < length && stream.canWrite()) {
            int chunk = (int) Math.min(
                    Math.min(length - done, ByteStream.CHUNK_BYTES_MAX),
                    stream.ring().room());
            stream.ring().put(from, at + done, chunk);
            stream.post(to + done, key, -1);
            done += chunk;
        }
        return done;
    }

    void close() {
        mine.forEach(each -> each.region.close());
        mine.clear();
        untold.clear();
    }
}
