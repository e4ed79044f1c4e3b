package verbena.abi;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import verbena.foreign.Memory;
import verbena.verbs.VerbsObject;

/// An object of ours and the C struct that stands for it. Destroying an object waits until the program has
/// acknowledged the events about it that it has taken, as ibv_get_async_event(3) and ibv_get_cq_event(3) say.
public abstract class Handle {
    public final long pointer;
    public final long device;

    private static final AtomicInteger NUMBERS = new AtomicInteger();

    private int number;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition acknowledged = lock.newCondition();
    private int unacknowledged;
    /// Whether it is closed, and waits for acknowledgements.
    private volatile boolean isGoing;

    /// @param device the pointer of the opened device that it goes with; 0 when with none
    protected Handle(long pointer, long device) {
        this.pointer = pointer;
        this.device = device;
    }

    /// Returns the offset of `handle` in its struct, the kernel's number of such an object; -1 when it has none.
    protected long numberAt() {
        return -1;
    }

    /// Gives it a number of its own.
    public final void putNumber() {
        if (numberAt() >= 0) {
            number = NUMBERS.incrementAndGet();
            Memory.putInt(pointer + numberAt(), number);
        }
    }

    /// Returns whether this is its number.
    public final boolean hasNumber(int wanted) {
        return numberAt() >= 0 && number == wanted;
    }

    /// @throws OverwrittenException when the program has changed `handle` or `context`, by which the kernel
    ///     goes
    final void checkNumber() {
        if (numberAt() >= 0 && (Memory.getInt(pointer + numberAt()) != number || Memory.getLong(pointer) != device)) {
            throw new OverwrittenException("handle, or context, of the struct at 0x" + Long.toHexString(pointer)
                    + " is not what the library has written there");
        }
    }

    /// Returns the object that it stands for.
    public abstract VerbsObject object();

    /// Counts an event about it that the program has taken. Returns false when it is being destroyed, and the
    /// program is to get no more events about it.
    public boolean onEventTaken() {
        lock.lock();
        try {
            if (isGoing) {
                return false;
            }
            unacknowledged++;
            return true;
        } finally {
            lock.unlock();
        }
    }

    public void onEventsAcknowledged(int count) {
        lock.lock();
        try {
            unacknowledged = Math.max(0, unacknowledged - count);
            acknowledged.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /// Returns whether the program is to get no more events about it.
    public final boolean isGoing() {
        return isGoing;
    }

    private void go() {
        lock.lock();
        try {
            if (isGoing) {
                throw new IllegalArgumentException("0x" + Long.toHexString(pointer) + " is being destroyed");
            }
            isGoing = true;
        } finally {
            lock.unlock();
        }
    }

    /// Takes back the events about it that the program has not got.
    protected void takeBackEvents() {
        var of = Handles.find(device, Handle.class);
        if (of != null) {
            of.takeBackEvents(this);
        }
    }

    /// Takes back the events about an object of this device that the program has not got. What is no device has
    /// none.
    protected void takeBackEvents(Handle object) {}

    /// Returns the objects that it uses, which the program cannot lose before it.
    public List<Handle> used() {
        return List.of();
    }

    private void awaitAcknowledged() {
        lock.lock();
        try {
            while (unacknowledged > 0) {
                acknowledged.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    /// Closes the object; the pointer means nothing from then on.
    ///
    /// @throws verbena.verbs.InUseException when others depend on it; it is as before then
    public final void destroy() {
        close();
        go();
        takeBackEvents();
        awaitAcknowledged(); // for which the pointer has to mean something
        Handles.remove(this);
        release();
    }

    /// Destroys it together with its device, whatever the program still has of it.
    ///
    /// @throws verbena.verbs.InUseException when others depend on it; it is as before then
    public final void drop() {
        close();
        Handles.remove(this);
        release();
    }

    /// Returns whether the program has imported it: it is a second name for an object, which stays when the name goes.
    public boolean isImported() {
        return false;
    }

    protected void close() {
        if (!isImported()) {
            object().close();
        }
    }

    /// Gives back what is C's.
    protected void release() {
        Native.free(pointer);
    }
}
