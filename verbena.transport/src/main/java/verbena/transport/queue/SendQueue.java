package verbena.transport.queue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// A ring of send requests. Posting threads take turns by a lock of their own; they write slots and publish them.
/// The engine reads published slots and retires them. Positions count up for ever; a slot is a position modulo the
/// capacity.
public final class SendQueue {
    private static final VarHandle PUBLISHED;
    private static final VarHandle RETIRED;

    static {
        try {
            var lookup = MethodHandles.lookup();
            PUBLISHED = lookup.findVarHandle(SendQueue.class, "published", long.class);
            RETIRED = lookup.findVarHandle(SendQueue.class, "retired", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final SlotRing<SendRequest> slots;
    private final int capacity;

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private long published;

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private long retired;

    /// Posters only: slots claimed and not yet published.
    private int claimed;

    /// @param capacity requests that can be outstanding
    /// @param maxSge scatter entries of each
    /// @param maxInlineBytes inline bytes of each
    /// @param allocator where they come from; asked by the claiming thread, once for each slot
    public SendQueue(int capacity, int maxSge, int maxInlineBytes, SegmentAllocator allocator) {
        this.capacity = capacity;
        slots = new SlotRing<>(
                capacity,
                () -> new SendRequest(
                        maxSge,
                        maxInlineBytes == 0 ? MemorySegment.NULL : allocator.allocate(maxInlineBytes, Long.BYTES)));
    }

    /// Returns the number of requests that can be outstanding.
    public int capacity() {
        return capacity;
    }

    // ---- posters, one at a time

    /// Returns whether another request can be claimed.
    public boolean hasRoom() {
        return (long) PUBLISHED.get(this) + claimed - (long) RETIRED.getAcquire(this) < capacity;
    }

    /// Claims the next free slot; the caller has asked [#hasRoom()].
    public SendRequest claim() {
        assert hasRoom() : "the caller has asked for room";
        return slots.claim((long) PUBLISHED.get(this) + claimed++, (long) RETIRED.getAcquire(this));
    }

    /// Takes the last claim back.
    public void unclaim() {
        assert claimed > 0 : "there is one";
        claimed--;
    }

    /// Returns the number of requests that are claimed and not published.
    public int claimed() {
        return claimed;
    }

    /// Takes all claims back.
    public void abandon() {
        claimed = 0;
    }

    /// Hands all claimed slots to the engine. Release: the engine that sees the position sees the slots' contents.
    /// A caller that leaves them to another thread has a full fence follow. So what it reads afterwards, a doorbell
    /// or a state, is not older (see the flush on entering ERR).
    public int publish() {
        int n = claimed;
        claimed = 0;
        assert (long) PUBLISHED.get(this) + n - (long) RETIRED.getAcquire(this) <= capacity : "inside the ring";
        PUBLISHED.setRelease(this, (long) PUBLISHED.get(this) + n);
        return n;
    }

    // ---- engine

    /// Returns the position after the last published slot.
    public long published() {
        return (long) PUBLISHED.getVolatile(this);
    }

    /// Returns the slot at a published position that is not retired.
    public SendRequest at(long position) {
        return slots.at(position);
    }

    /// Gives all slots before `position` back to the posters. Release: a poster that sees it may write them.
    public void retire(long position) {
        assert position >= retired() && position <= published() : "forward, and only what was published";
        RETIRED.setRelease(this, position);
    }

    /// Returns the position of the oldest slot that is not retired; any thread.
    public long retired() {
        return (long) RETIRED.getAcquire(this);
    }
}
