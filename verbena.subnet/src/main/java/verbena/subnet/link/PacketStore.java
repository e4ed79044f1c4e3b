package verbena.subnet.link;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import verbena.wire.Frame;

/// The memory of all packets inside a fabric. A packet has a number while it is held. It came in by a port, whose
/// buffer has room again when the last holder lets go. Memory is claimed as the most packets at once need it, and
/// never more than the buffers of all ports allow. For one thread.
public final class PacketStore {
    /// The longest packet, LRH through VCRC.
    public static final int PACKET_BYTES_MAX = Frame.PACKET_MAX + 64;

    private static final int CHUNK = 64;

    private MemorySegment[] chunks = new MemorySegment[0];
    private int[] lengths = new int[0];
    private int[] holders = new int[0];
    private @Nullable LinkPort[] ports = new LinkPort[0];
    private int[] lanes = new int[0];
    private final IntQueue free = new IntQueue();

    /// Creates an empty store.
    public PacketStore() {}

    /// Copies a packet into the store; its only holder is the caller.
    ///
    /// @param from the port whose buffer it takes room in; null for none
    /// @param lane of that buffer
    public int add(MemorySegment memory, long at, int bytes, @Nullable LinkPort from, int lane) {
        if (free.isEmpty()) {
            grow();
        }
        int packet = free.remove();
        MemorySegment.copy(memory, at, memory(packet), offset(packet), bytes);
        lengths[packet] = bytes;
        holders[packet] = 1;
        ports[packet] = from;
        lanes[packet] = lane;
        return packet;
    }

    private void grow() {
        int before = lengths.length;
        chunks = Arrays.copyOf(chunks, chunks.length + 1);
        chunks[chunks.length - 1] = Arena.ofAuto().allocate((long) CHUNK * PACKET_BYTES_MAX, 64);
        lengths = Arrays.copyOf(lengths, before + CHUNK);
        holders = Arrays.copyOf(holders, before + CHUNK);
        ports = Arrays.copyOf(ports, before + CHUNK);
        lanes = Arrays.copyOf(lanes, before + CHUNK);
        for (int packet = before; packet < before + CHUNK; packet++) {
            free.add(packet);
        }
    }

    /// Returns the memory that has the packet, from [#offset] on, for [#length] bytes: LRH through VCRC.
    public MemorySegment memory(int packet) {
        return chunks[packet / CHUNK];
    }

    public long offset(int packet) {
        return (long) (packet % CHUNK) * PACKET_BYTES_MAX;
    }

    public int length(int packet) {
        return lengths[packet];
    }

    /// Adds a holder.
    public void hold(int packet) {
        holders[packet]++;
    }

    /// Removes a holder; the last holder gives memory and buffer back.
    public void release(int packet) {
        assert holders[packet] > 0;
        if (--holders[packet] == 0) {
            LinkPort from = ports[packet];
            if (from != null) {
                from.leftBuffer(lanes[packet], lengths[packet]);
            }
            ports[packet] = null;
            free.add(packet);
        }
    }

    /// Returns the number of packets that are held.
    public int held() {
        return lengths.length - free.size();
    }
}
