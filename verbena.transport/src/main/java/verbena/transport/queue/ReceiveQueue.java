package verbena.transport.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// A ring of receives, of one queue pair or shared by several of one engine. Posting threads take turns by a lock
/// of their own; they write slots and publish them. The engine takes the oldest by copying it, which frees the
/// slot. Receives that can have no scatter entries are in a [NumberRing], where they cost next to nothing.
public final class ReceiveQueue {
    private static final VarHandle PUBLISHED;
    private static final VarHandle TAKEN;
    private static final VarHandle LIMIT;

    static {
        try {
            var lookup = MethodHandles.lookup();
            PUBLISHED = lookup.findVarHandle(ReceiveQueue.class, "published", long.class);
            TAKEN = lookup.findVarHandle(ReceiveQueue.class, "taken", long.class);
            LIMIT = lookup.findVarHandle(ReceiveQueue.class, "limit", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /// The requests; null when there are no scatter entries.
    private final @Nullable SlotRing<ReceiveRequest> slots;
    /// The numbers of receives, which take the place of slots then.
    private final NumberRing numbers;
    /// The request that is claimed last, without slots.
    private final ReceiveRequest staged;

    private final int capacity;
    private final int maxSge;
    private final Runnable onLimit;

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private long published;

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private long taken;

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private int limit;

    private int claimed;

    /// @param capacity receives that can be outstanding
    /// @param maxSge scatter entries of each
    /// @param onLimit called by the engine when fewer than the armed limit are left
    public ReceiveQueue(int capacity, int maxSge, Runnable onLimit) {
        this.capacity = capacity;
        this.maxSge = maxSge;
        this.onLimit = onLimit;
        slots = maxSge == 0 ? null : new SlotRing<>(capacity, () -> new ReceiveRequest(maxSge));
        numbers = new NumberRing(capacity);
        staged = new ReceiveRequest(0);
    }

    /// Receives that can be outstanding.
    public int capacity() {
        return capacity;
    }

    /// Returns the maximum of scatter entries of each receive.
    public int maxSge() {
        return maxSge;
    }

    // ---- posters, one at a time

    public boolean hasRoom() {
        return (long) PUBLISHED.get(this) + claimed - (long) TAKEN.getAcquire(this) < capacity;
    }

    /// Claims the next free slot; the caller has asked [#hasRoom()].
    public ReceiveRequest claim() {
        assert hasRoom() : "the caller has asked for room";
        keepStaged();
        long position = (long) PUBLISHED.get(this) + claimed;
        ReceiveRequest slot = slots == null ? staged : slots.claim(position, (long) TAKEN.getAcquire(this));
        claimed++;
        return slot;
    }

    /// Keeps the last claimed receive, which the caller has filled.
    private void keepStaged() {
        if (slots == null && claimed > 0) {
            numbers.set((long) PUBLISHED.get(this) + claimed - 1, staged.wrId);
        }
    }

    /// Takes the last claim back.
    public void unclaim() {
        assert claimed > 0 : "there is one";
        claimed--;
        if (slots == null && claimed > 0) {
            staged.wrId = numbers.at((long) PUBLISHED.get(this) + claimed - 1);
        }
    }

    /// Returns the number of receives that are claimed and not published.
    public int claimed() {
        return claimed;
    }

    /// Takes all claims back.
    public void abandon() {
        claimed = 0;
    }

    /// Hands all claimed slots to the engine; see [SendQueue#publish()].
    public int publish() {
        keepStaged();
        int n = claimed;
        claimed = 0;
        assert (long) PUBLISHED.get(this) + n - (long) TAKEN.getAcquire(this) <= capacity : "inside the ring";
        PUBLISHED.setVolatile(this, (long) PUBLISHED.get(this) + n);
        return n;
    }

    /// Arms the limit; 0 disarms. When fewer than `receives` are left, the engine reports it once.
    public void armLimit(int receives) {
        LIMIT.setVolatile(this, receives);
    }

    /// Returns the armed limit.
    public int limit() {
        return (int) LIMIT.getVolatile(this);
    }

    // ---- engine

    /// Returns the number of posted receives; any thread.
    public long available() {
        return (long) PUBLISHED.getVolatile(this) - (long) TAKEN.getAcquire(this);
    }

    /// Moves the oldest receive to `into`; false when there is none.
    public boolean take(ReceiveRequest into) {
        long position = (long) TAKEN.get(this);
        if ((long) PUBLISHED.getVolatile(this) == position) {
            return false;
        }
        assert position < (long) PUBLISHED.getVolatile(this) : "order of positions";
        if (slots == null) {
            into.wrId = numbers.at(position);
            into.scatter.clear();
        } else {
            ReceiveRequest slot = slots.at(position);
            into.wrId = slot.wrId;
            into.scatter.copyFrom(slot.scatter);
        }
        TAKEN.setRelease(this, position + 1);
        int armed = (int) LIMIT.getVolatile(this);
        if (armed > 0 && available() < armed && LIMIT.compareAndSet(this, armed, 0)) {
            onLimit.run();
        }
        return true;
    }

    /// Forgets all posted receives (RESET).
    public void discard() {
        TAKEN.setRelease(this, (long) PUBLISHED.getVolatile(this));
    }
}
