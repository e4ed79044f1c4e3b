package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import verbena.messages.protocol.Rails;
import verbena.messages.rail.Registered;
import verbena.verbs.RemoteMemory;

/// Memory of a worker that its peers may use by themselves ([Worker#share]). A peer needs the token, which the
/// program sends as it likes. Any peer of the worker that has the token may use the memory, until this is
/// closed.
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

    public MemorySegment segment() {
        return memory;
    }

    /// Returns the token that a peer needs ([RemoteWorker#memory]): address, length and key, 20 bytes in
    /// big-endian. A worker of several devices has a key of 4 bytes for each.
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

    /// Takes the memory back. A peer that uses it later is lost. The worker closes what is still shared.
    /// Idempotent.
    @Override
    public void close() {
        exposed.close();
        all.remove(this);
    }
}
