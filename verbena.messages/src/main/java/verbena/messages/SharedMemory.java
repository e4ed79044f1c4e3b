package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Set;
import verbena.verbs.MemoryRegion;
import verbena.verbs.RemoteMemory;

/// Memory of a worker that its peers may use by themselves ([Worker#share]). A peer needs the token, which the
/// program sends as it likes. Any peer of the worker that has the token may use the memory, until this is
/// closed.
public final class SharedMemory implements AutoCloseable {
    static final int TOKEN_BYTES = 20;

    private final MemoryRegion region;

    /// What the worker shares.
    private final Set<SharedMemory> all;

    SharedMemory(MemoryRegion region, Set<SharedMemory> all) {
        this.region = region;
        this.all = all;
        all.add(this);
    }

    public MemorySegment segment() {
        return region.segment();
    }

    /// What a peer needs ([RemoteWorker#memory]): address, length and key, 20 bytes in big-endian.
    public byte[] token() {
        RemoteMemory remote = region.remote();
        return ByteBuffer.allocate(TOKEN_BYTES)
                .putLong(remote.address())
                .putLong(remote.length())
                .putInt(remote.rkey())
                .array();
    }

    static RemoteMemory of(byte[] token) {
        if (token.length != TOKEN_BYTES) {
            throw new IllegalArgumentException("token: " + TOKEN_BYTES + " bytes, got " + token.length);
        }
        ByteBuffer bytes = ByteBuffer.wrap(token);
        long address = bytes.getLong();
        long length = bytes.getLong();
        return new RemoteMemory(address, bytes.getInt(), length);
    }

    /// Takes the memory back. A peer that uses it later is lost. The worker closes what is still shared.
    /// Idempotent.
    @Override
    public void close() {
        region.close();
        all.remove(this);
    }
}
