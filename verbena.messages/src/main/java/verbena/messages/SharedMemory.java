package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import verbena.messages.protocol.Rails;
import verbena.messages.rail.Registered;
import verbena.verbs.RemoteMemory;

/// Memory of a worker that its peers access by one-sided operations ([Worker#share]). A peer needs the token, which
/// the program sends to it by any means. Every peer of the worker that has the token may access the memory, until it
/// is closed.
///
/// Any thread may use it. The program closes it, or the worker does at its end. The memory itself stays the
/// program's.
///
/// @since 0.1
public final class SharedMemory implements AutoCloseable {
    private static final int KEYS = 16;

    private final MemorySegment memory;
    private final Registered exposed;

    /// The memory that the worker shares.
    private final Set<SharedMemory> all;

    SharedMemory(MemorySegment memory, Registered exposed, Set<SharedMemory> all) {
        this.memory = memory;
        this.exposed = exposed;
        this.all = all;
        all.add(this);
    }

    /// Returns the memory that the worker shares.
    public MemorySegment segment() {
        return memory;
    }

    /// Returns the token that a peer needs ([RemoteWorker#memory]): address, length and key, 20 bytes in big-endian
    /// order. A worker of several devices adds a key of 4 bytes for each further device.
    public byte[] token() {
        List<RemoteMemory> remote = exposed.remote(memory, exposed.rails());
        ByteBuffer bytes = ByteBuffer.allocate(KEYS + remote.size() * Integer.BYTES)
                .putLong(memory.address())
                .putLong(memory.byteSize());
        remote.forEach(each -> bytes.putInt(each.rkey()));
        return bytes.array();
    }

    /// Returns the memory by each rail.
    static List<RemoteMemory> of(byte[] token) {
        int rails = (token.length - KEYS) / Integer.BYTES;
        if (rails < 1 || rails > Rails.MAX || token.length != KEYS + rails * Integer.BYTES) {
            throw new IllegalArgumentException("token: 20 bytes, and 4 for each further device, got " + token.length);
        }
        ByteBuffer bytes = ByteBuffer.wrap(token);
        long address = bytes.getLong();
        long length = bytes.getLong();
        var remote = new ArrayList<RemoteMemory>();
        while (bytes.hasRemaining()) {
            remote.add(new RemoteMemory(address, bytes.getInt(), length));
        }
        return List.copyOf(remote);
    }

    /// Withdraws it from a device, which does not serve it any more.
    void withdraw(int rail) {
        exposed.close(rail);
    }

    /// Withdraws the memory. A peer that accesses it later is lost. Idempotent.
    @Override
    public void close() {
        exposed.close();
        all.remove(this);
    }
}
