package verbena.nic.link.ethernet;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import verbena.verbs.Gid;
import verbena.wire.Frame;
import verbena.wire.roce.Ethernet;

/// One end of a wire in memory, for tests, worlds and fuzzing: whatever one end sends or a caller delivers
/// arrives at the other, byte for byte. It never wakes a sleeping thread. For one thread.
public final class MemoryWire implements Wire {
    /// How many arrivals fit; more are lost.
    public static final int CAPACITY = 128;

    private static final int BATCH = 64;
    private static final int PLACE_BYTES = 1 << 13;
    /// Where a frame begins in its place: with room for the scratch space before a packet without headers.
    private static final int START = 128;

    private final MemorySegment memory = Arena.ofAuto().allocate((long) CAPACITY * PLACE_BYTES, 64);
    private final ByteBuffer bytes = memory.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    private final int[] lengths = new int[CAPACITY];
    private final int[] tags = new int[CAPACITY];
    private final Set<Gid> groups = new HashSet<>();
    private final Frame[] leaving = new Frame[BATCH];
    private final int[] headers = new int[BATCH];
    private int put;
    private int room = Integer.MAX_VALUE;
    private long lost;

    // Places are used in turn: those from `oldest` to `next` are held, those from `next` to `end` wait.
    private int oldest;
    private int next;
    private int end;
    private int current;
    private MemoryWire peer = this;

    /// An end that is its own peer.
    public MemoryWire() {}

    /// Makes two ends one wire.
    public void connect(MemoryWire other) {
        peer = other;
        other.peer = this;
    }

    /// How many frames leave from now on before there is no room.
    void room(int frames) {
        room = frames;
    }

    /// The groups that were joined.
    Set<Gid> groups() {
        return groups;
    }

    /// Lets a frame arrive here. What is longer than a place is cut.
    ///
    /// @param tag the tag that the system has taken out of it, [Ethernet#NO_TAG] for none
    public void deliver(MemorySegment frame, int tag) {
        if (end - oldest == CAPACITY) {
            lost++;
            return;
        }
        int at = end % CAPACITY;
        lengths[at] = (int) frame.byteSize();
        tags[at] = tag;
        MemorySegment.copy(frame, 0, memory, start(at), Math.min(frame.byteSize(), PLACE_BYTES - START));
        end++;
    }

    private static int start(int place) {
        return place * PLACE_BYTES + START;
    }

    @Override
    public boolean next() {
        if (next == end) {
            return false;
        }
        current = next++ % CAPACITY;
        return true;
    }

    @Override
    public MemorySegment memory() {
        return memory;
    }

    @Override
    public ByteBuffer bytes() {
        return bytes;
    }

    @Override
    public int start() {
        return start(current);
    }

    @Override
    public int length() {
        return lengths[current];
    }

    @Override
    public int kept() {
        return Math.min(lengths[current], PLACE_BYTES - START);
    }

    @Override
    public int tag() {
        return tags[current];
    }

    @Override
    public boolean hasNext() {
        return next != end;
    }

    @Override
    public void release() {
        oldest = next;
    }

    @Override
    public int batch() {
        return BATCH;
    }

    @Override
    public void put(Frame frame, int headerBytes) {
        leaving[put] = frame;
        headers[put++] = headerBytes;
    }

    @Override
    public int transmit() {
        int sent = Math.min(put, room);
        for (int i = 0; i < sent; i++) {
            Frame frame = leaving[i];
            peer.deliver(frame.slot.asSlice(frame.start - headers[i], headers[i] + frame.length), Ethernet.NO_TAG);
        }
        room -= sent;
        put = 0;
        return sent;
    }

    @Override
    public boolean wasFull() {
        return room == 0;
    }

    @Override
    public long refused() {
        return 0;
    }

    @Override
    public void join(Gid group, long mac) {
        groups.add(group);
    }

    @Override
    public void leave(Gid group, long mac) {
        groups.remove(group);
    }

    /// None: poll(2) ignores it.
    @Override
    public int descriptor() {
        return -1;
    }

    @Override
    public Map<String, Long> counters() {
        return Map.of("ethernet.dropped.ring", lost);
    }

    @Override
    public void close() {}
}
