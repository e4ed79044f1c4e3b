package verbena.messages;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import verbena.messages.rail.LongMessages;
import verbena.messages.rail.Operations;
import verbena.messages.rail.Remote;
import verbena.verbs.Pending;
import verbena.verbs.RemoteMemory;

/// Memory of a peer that this end reads and changes by one-sided operations, without any thread of the peer. Each
/// operation returns a [Pending] to wait for.
///
/// Operations begin in the order of their calls, up to 16 to a peer at once. WRITEs arrive in that order. A
/// WRITE after a READ or an atomic does not wait for it, unless a [#fence()] is between them.
///
/// Memory of this end is of any kind: native, or an array. What fits into a frame is copied. Longer native
/// memory is registered, and longer arrays are copied once. Until a WRITE is done, its memory must not change.
///
/// Any thread may use it, and it needs no closing. It is valid until the peer closes its [SharedMemory]. An operation
/// that the peer then refuses ends the connection to the peer. The result of each later operation is a
/// [verbena.verbs.ConnectionException].
///
/// @since 0.1
public final class PeerMemory {
    private final Traffic traffic;
    private final Remote owner;
    /// The peer's memory by each rail.
    private final List<RemoteMemory> remote;

    PeerMemory(Traffic traffic, Remote owner, List<RemoteMemory> remote) {
        this.traffic = traffic;
        this.owner = owner;
        this.remote = remote;
    }

    /// Returns the length in bytes.
    public long length() {
        return remote.getFirst().length();
    }

    /// Writes to the peer. The result is complete when the memory of this end is free again; [#postFlush()]
    /// completes when the bytes are at the peer.
    ///
    /// @param from memory of any kind, which any thread may read; memory that is confined to this thread is copied
    /// @param at offset in the peer's memory, in bytes
    /// @throws IllegalArgumentException when the data are longer than one operation can carry
    /// @throws IllegalStateException when the memory of `from` is closed
    /// @throws IndexOutOfBoundsException when the range is not inside the peer's memory
    public Pending<Void> postWrite(MemorySegment from, long at) {
        return transfer(Operations.Type.PUT, slice(at, from.byteSize()), from);
    }

    /// Reads from the peer. The result is complete when the bytes have arrived. A value of 8 aligned bytes is read
    /// whole; a longer range may be read while the peer changes it.
    ///
    /// @param at offset in the peer's memory, in bytes
    /// @param into memory of any kind
    /// @throws IllegalArgumentException when `into` is read-only, closed, confined to one thread, or longer than
    ///     one operation can fill
    /// @throws IndexOutOfBoundsException when the range is not inside the peer's memory
    public Pending<Void> postRead(long at, MemorySegment into) {
        return transfer(Operations.Type.GET, slice(at, into.byteSize()), into);
    }

    /// Adds to 8 bytes of the peer, in the byte order of its machine. The result is the previous value. An `iwarp`
    /// device has atomics, too (RFC 7306). A device without [verbena.verbs.Capability#ATOMICS] fails the result
    /// with a [verbena.verbs.UnsupportedException].
    ///
    /// @param at offset in the peer's memory, in bytes
    /// @throws IllegalArgumentException when the address is not a multiple of 8
    /// @throws IndexOutOfBoundsException when the range is not inside the peer's memory
    public Pending<Long> postFetchAdd(long at, long add) {
        return atomic(Operations.Type.FETCH_ADD, word(at), add, 0);
    }

    /// Replaces 8 bytes of the peer by `swap` if they equal `compare`. The result is the previous value.
    /// Otherwise as [#postFetchAdd].
    public Pending<Long> postCompareSwap(long at, long compare, long swap) {
        return atomic(Operations.Type.COMPARE_SWAP, word(at), compare, swap);
    }

    private List<RemoteMemory> slice(long at, long bytes) {
        return remote.size() == 1
                ? List.of(remote.getFirst().slice(at, bytes))
                : remote.stream().map(each -> each.slice(at, bytes)).toList();
    }

    private List<RemoteMemory> word(long at) {
        Objects.checkFromIndexSize(at, Long.BYTES, length());
        if ((remote.getFirst().address() + at) % Long.BYTES != 0) {
            throw new IllegalArgumentException("at: a multiple of 8 by the peer's address, got " + at);
        }
        return slice(at, Long.BYTES);
    }

    /// Delays later operations to this peer until all earlier ones are done.
    public void fence() {
        traffic.locked(owner, PeerMemory::fence);
    }

    /// Returns a result that completes when all earlier WRITEs are in the peer's memory.
    public Pending<Void> postFlush() {
        return transfer(Operations.Type.FLUSH, slice(0, 0), MemorySegment.NULL);
    }

    private static void fence(Remote owner) {
        owner.operations().fence();
    }

    private Pending<Void> transfer(Operations.Type type, List<RemoteMemory> at, MemorySegment memory) {
        LongMessages longMessages = traffic.devices.longMessages;
        if (type == Operations.Type.GET) {
            longMessages.requireWritable("into", memory);
        }
        if (memory.byteSize() > longMessages.longest()) {
            throw new IllegalArgumentException(
                    "at most " + longMessages.longest() + " bytes for one operation, got " + memory.byteSize());
        }
        var pending = new PendingOperation<Void>(traffic.readers);
        MemorySegment ours = type == Operations.Type.PUT ? longMessages.forAllThreads(memory) : memory;
        traffic.begin(owner, new Operations.Operation(type, at, ours) {
            @Override
            @SuppressWarnings("NullAway") // a Void has no other value
            protected void done(MemorySegment result) {
                pending.complete(null);
            }

            @Override
            protected void failed(RuntimeException why) {
                pending.fail(why);
            }

            @Override
            protected void lost(String verb, String why) {
                pending.fail(owner.lost(verb, why));
            }
        });
        return pending;
    }

    private Pending<Long> atomic(Operations.Type type, List<RemoteMemory> at, long first, long second) {
        var pending = new PendingOperation<Long>(traffic.readers);
        traffic.begin(owner, new Operations.Operation(type, at, MemorySegment.NULL) {
            @Override
            protected long first() {
                return first;
            }

            @Override
            protected long second() {
                return second;
            }

            @Override
            protected void done(MemorySegment result) {
                pending.complete(result.get(JAVA_LONG_UNALIGNED, 0));
            }

            @Override
            protected void failed(RuntimeException why) {
                pending.fail(why);
            }

            @Override
            protected void lost(String verb, String why) {
                pending.fail(owner.lost(verb, why));
            }
        });
        return pending;
    }
}
