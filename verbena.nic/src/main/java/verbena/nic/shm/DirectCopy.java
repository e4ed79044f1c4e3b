package verbena.nic.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.function.LongSupplier;
import verbena.foreign.linux.StreamingStores;
import verbena.transport.memory.MemoryTable;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.near.PeerMemory.Progress;
import verbena.transport.queue.SendRequest;
import verbena.verbs.spi.SendOperation;

/// The execution of one-sided requests between this side's regions and memory of the peer that is mapped here.
/// Allocates nothing, and throws nothing, whatever becomes of either memory meanwhile. For the owner of the engine.
///
/// Programs wait for the last bytes of a WRITE: these are stored after all others, and where alignment allows it,
/// all at once. So are 1, 2, 4 or 8 bytes.
///
/// A long WRITE may pass the caches ([CopyChoice]). Its bytes are gathered piece by piece where nothing can happen
/// to them, and stored from there.
final class DirectCopy {
    /// The largest number of bytes that one call copies.
    static final int PIECE_BYTES = 1 << 20;

    /// The bytes that are gathered before they are stored past the caches: well within the smallest cache.
    private static final int STAGE_BYTES = 8 << 10;

    private static final int WORD_BYTES = Long.BYTES;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final VarHandle BYTES = ValueLayout.JAVA_BYTE.varHandle();
    private static final VarHandle SHORTS = SHORT.varHandle();
    private static final VarHandle INTS = INT.varHandle();
    private static final VarHandle LONGS = LONG.varHandle();

    /// The bytes that are stored or loaded at once.
    private final MemorySegment word = Arena.ofAuto().allocate(WORD_BYTES, WORD_BYTES);
    private final MemorySegment stage = Arena.ofAuto().allocate(STAGE_BYTES, StreamingStores.UNIT);
    private final LongSupplier clock;
    private long done;

    /// @param clock nanoseconds, monotonic
    DirectCopy(LongSupplier clock) {
        this.clock = clock;
    }

    /// Returns how many bytes of the request are done, after [Progress#MORE].
    long done() {
        return done;
    }

    /// Carries out the request from byte `from` on, or a piece of it.
    ///
    /// @param domain whose regions the request names
    /// @param peer memory of the peer, within which the request lies
    /// @param at where in `peer` it begins
    /// @param choice of the peer's memory
    Progress execute(
            SendRequest request,
            int domain,
            MemoryTable memory,
            MemorySegment peer,
            long at,
            long from,
            CopyChoice choice) {
        done = from;
        try {
            return switch (request.operation) {
                case WRITE, WRITE_WITH_IMMEDIATE -> write(request, domain, memory, peer, at, choice);
                case READ -> read(request, domain, memory, peer, at);
                case FETCH_ADD, COMPARE_SWAP -> atomic(request, domain, memory, peer, at);
                case ATOMIC_WRITE -> atomicWrite(request, peer, at);
                default -> Progress.BY_PACKETS;
            };
        } catch (IllegalStateException
                | IndexOutOfBoundsException
                | IllegalArgumentException
                | UnsupportedOperationException
                | InternalError _) {
            return Progress.BY_PACKETS; // an arena was closed
        }
    }

    private Progress write(
            SendRequest request, int domain, MemoryTable memory, MemorySegment peer, long at, CopyChoice choice) {
        int last = (int) Math.min(WORD_BYTES, request.bytes());
        long before = request.bytes() - last;
        if (done < before) {
            int bytes = (int) Math.min(PIECE_BYTES, before - done);
            if (!carry(request, domain, memory, peer, at, bytes, choice)) {
                return Progress.BY_PACKETS;
            }
            done += bytes;
            if (done < before) {
                return Progress.MORE;
            }
            VarHandle.storeStoreFence();
        }
        if (!gather(request, domain, memory, before, word, 0, last)) {
            return Progress.BY_PACKETS;
        }
        store(peer, at + before, last);
        return Progress.DONE;
    }

    /// Carries the given number of bytes, from `done` on.
    private boolean carry(
            SendRequest request,
            int domain,
            MemoryTable memory,
            MemorySegment peer,
            long at,
            int bytes,
            CopyChoice choice) {
        if (bytes < CopyChoice.BYTES_MIN || peer.isReadOnly() || !StreamingStores.areThere()) {
            return gather(request, domain, memory, done, peer, at + done, bytes);
        }
        boolean isTimed = choice.begin();
        long start = isTimed ? clock.getAsLong() : 0;
        boolean isCarried = choice.isPast()
                ? gatherPastCaches(request, domain, memory, done, peer, at + done, bytes)
                : gather(request, domain, memory, done, peer, at + done, bytes);
        if (isTimed && isCarried) {
            choice.timed(bytes, clock.getAsLong() - start);
        }
        return isCarried;
    }

    /// Copies past the caches. Bytes before the first whole unit, and behind the last unit, go by ordinary stores.
    private boolean gatherPastCaches(
            SendRequest request, int domain, MemoryTable memory, long from, MemorySegment to, long at, int bytes) {
        long address = to.address() + Objects.checkFromIndexSize(at, bytes, to.byteSize());
        int before = (int) (-address & StreamingStores.UNIT - 1);
        int end = before + (bytes - before & -StreamingStores.UNIT);
        for (int i = before; i < end; i += STAGE_BYTES) {
            int piece = Math.min(STAGE_BYTES, end - i);
            if (!gather(request, domain, memory, from + i, stage, 0, piece)) {
                return false;
            }
            StreamingStores.copy(stage, address + i, piece);
        }
        return gather(request, domain, memory, from, to, at, before)
                && gather(request, domain, memory, from + end, to, at + end, bytes - end);
    }

    private static boolean gather(
            SendRequest request, int domain, MemoryTable memory, long from, MemorySegment to, long at, int bytes) {
        if (request.isInline) {
            MemorySegment.copy(request.inline, from, to, at, bytes);
            return true;
        }
        return memory.gather(request.scatter, domain, from, to, at, bytes) == MemoryVerdict.OK;
    }

    /// Stores the word's first bytes, the last of them after all others.
    private void store(MemorySegment peer, long at, int bytes) {
        if (!isAligned(peer, at, bytes)) {
            MemorySegment.copy(word, 0, peer, at, bytes - 1L);
            BYTES.setRelease(peer, at + bytes - 1, word.get(ValueLayout.JAVA_BYTE, bytes - 1L));
            return;
        }
        switch (bytes) {
            case Byte.BYTES -> BYTES.setRelease(peer, at, word.get(ValueLayout.JAVA_BYTE, 0));
            case Short.BYTES -> SHORTS.setRelease(peer, at, word.get(SHORT, 0));
            case Integer.BYTES -> INTS.setRelease(peer, at, word.get(INT, 0));
            default -> LONGS.setRelease(peer, at, word.get(LONG, 0));
        }
    }

    private Progress read(SendRequest request, int domain, MemoryTable memory, MemorySegment peer, long at) {
        long bytes = request.bytes();
        if (bytes <= WORD_BYTES && isAligned(peer, at, (int) bytes)) {
            load(peer, at, (int) bytes);
            return memory.scatter(request.scatter, domain, 0, word, 0, (int) bytes) == MemoryVerdict.OK
                    ? Progress.DONE
                    : Progress.BY_PACKETS;
        }
        int piece = (int) Math.min(PIECE_BYTES, bytes - done);
        if (memory.scatter(request.scatter, domain, done, peer, at + done, piece) != MemoryVerdict.OK) {
            return Progress.BY_PACKETS;
        }
        done += piece;
        return done == bytes ? Progress.DONE : Progress.MORE;
    }

    private void load(MemorySegment peer, long at, int bytes) {
        switch (bytes) {
            case Byte.BYTES -> word.set(ValueLayout.JAVA_BYTE, 0, (byte) BYTES.getAcquire(peer, at));
            case Short.BYTES -> word.set(SHORT, 0, (short) SHORTS.getAcquire(peer, at));
            case Integer.BYTES -> word.set(INT, 0, (int) INTS.getAcquire(peer, at));
            default -> word.set(LONG, 0, (long) LONGS.getAcquire(peer, at));
        }
    }

    /// Returns whether this number of bytes can be loaded and stored at once.
    private static boolean isAligned(MemorySegment peer, long at, int bytes) {
        return switch (bytes) {
            case Byte.BYTES, Short.BYTES, Integer.BYTES, Long.BYTES -> (peer.address() + at & bytes - 1) == 0;
            default -> false;
        };
    }

    /// Carries out an atomic once: it checks before that there is a place for the result. The peer's engine does
    /// atomics on memory that is not aligned, and refuses those on addresses that are not.
    private Progress atomic(SendRequest request, int domain, MemoryTable memory, MemorySegment peer, long at) {
        if (request.bytes() != WORD_BYTES
                || (request.remoteAddress & WORD_BYTES - 1) != 0
                || !isAligned(peer, at, WORD_BYTES)
                || memory.locate(request.scatter, domain, 0, true) != MemoryVerdict.OK) {
            return Progress.BY_PACKETS;
        }
        long original = request.operation == SendOperation.COMPARE_SWAP
                ? (long) LONGS.compareAndExchange(peer, at, request.operand, request.swap)
                : (long) LONGS.getAndAdd(peer, at, request.operand);
        word.set(LONG, 0, original);
        // An arena that was closed at this moment takes the result with it.
        MemoryVerdict _ = memory.scatter(request.scatter, domain, 0, word, 0, WORD_BYTES);
        return Progress.DONE;
    }

    private static Progress atomicWrite(SendRequest request, MemorySegment peer, long at) {
        if ((request.remoteAddress & WORD_BYTES - 1) != 0 || !isAligned(peer, at, WORD_BYTES)) {
            return Progress.BY_PACKETS;
        }
        LONGS.setVolatile(peer, at, request.operand);
        return Progress.DONE;
    }
}
