package verbena.transport.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.spi.CompletionAccess;

/// A ring of completions. The engine appends; several engines that share the ring take turns by a lock. Polling
/// threads take, and take turns by a lock of their own. Arming, and the wake-up of a sleeping thread, go through
/// flags that the engine reads after it has published an entry.
///
/// A ring that brings completions late extends it ([#push]).
public class CompletionRing {
    /// The state of a ring that is not armed.
    public static final int ARMED_NONE = 0;
    /// Armed for solicited completions and errors.
    public static final int ARMED_SOLICITED = 1;
    /// Armed for any completion.
    public static final int ARMED_ANY = 2;

    private static final VarHandle WRITTEN;
    private static final VarHandle READ;
    private static final VarHandle ARMED;
    private static final VarHandle SLEEPERS;

    static {
        try {
            var lookup = MethodHandles.lookup();
            WRITTEN = lookup.findVarHandle(CompletionRing.class, "written", long.class);
            READ = lookup.findVarHandle(CompletionRing.class, "read", long.class);
            ARMED = lookup.findVarHandle(CompletionRing.class, "armed", int.class);
            SLEEPERS = lookup.findVarHandle(CompletionRing.class, "sleepers", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /// The ring's owner. The engine calls it.
    public interface Listener {
        /// Handles a completion that the ring was armed for.
        void onNotification();

        /// Handles a completion for which a thread sleeps.
        void onWake();

        /// Handles a lost completion: the ring was full, or is broken since it once was.
        void onOverflow();
    }

    private static final class Entry {
        long wrId;
        WcStatus status = WcStatus.SUCCESS;
        WcOpcode opcode = WcOpcode.SEND;
        int vendorError;
        long byteLength;
        int immediateOrRkey;
        int qpn;
        long sender;
        int flags;
        String cause = "";
    }

    private final Listener listener;
    private volatile int capacity;
    private SlotRing<Entry> entries;
    private volatile boolean broken;
    /// Whether several engines append.
    private volatile boolean shared;

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private long written;

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private long read;

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private int armed;

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private int sleepers;

    /// @param capacity completions it can hold
    public CompletionRing(int capacity, Listener listener) {
        this.listener = listener;
        this.capacity = capacity;
        this.entries = new SlotRing<>(capacity, Entry::new);
    }

    /// Completions it can hold.
    public int capacity() {
        return capacity;
    }

    /// Completions that have not been polled; any thread.
    public int size() {
        return (int) ((long) WRITTEN.getAcquire(this) - (long) READ.getAcquire(this));
    }

    /// Returns whether there is nothing to poll; any thread. The reads are volatile. A thread can therefore arm the
    /// ring, or announce that it is about to sleep, and then find the ring empty: it is notified of what comes.
    public boolean isEmpty() {
        return (long) READ.getVolatile(this) == (long) WRITTEN.getVolatile(this);
    }

    // ---- engine

    /// Appends a completion. False when the ring is, or was once, full: the completion is lost, and the listener is
    /// notified.
    ///
    /// @param sender of a datagram, as in [verbena.verbs.spi.CompletionAccess#fill]
    /// @param solicited whether a ring armed for solicited completions is to notify
    public boolean push(
            long wrId,
            WcStatus status,
            WcOpcode opcode,
            int vendorError,
            long byteLength,
            int immediateOrRkey,
            int qpn,
            long sender,
            int flags,
            String cause,
            boolean solicited) {
        boolean appended;
        if (shared) {
            synchronized (this) { // not longer: the listener has locks of its own
                appended = append(
                        wrId, status, opcode, vendorError, byteLength, immediateOrRkey, qpn, sender, flags, cause);
            }
        } else {
            appended =
                    append(wrId, status, opcode, vendorError, byteLength, immediateOrRkey, qpn, sender, flags, cause);
        }
        if (!appended) {
            listener.onOverflow();
            return false;
        }
        int state = (int) ARMED.getVolatile(this);
        if (state != ARMED_NONE
                && (state == ARMED_ANY || solicited || status != WcStatus.SUCCESS)
                && (int) ARMED.getAndSet(this, ARMED_NONE) != ARMED_NONE) {
            listener.onNotification();
        }
        if ((int) SLEEPERS.getVolatile(this) != 0) {
            listener.onWake();
        }
        return true;
    }

    private boolean append(
            long wrId,
            WcStatus status,
            WcOpcode opcode,
            int vendorError,
            long byteLength,
            int immediateOrRkey,
            int qpn,
            long sender,
            int flags,
            String cause) {
        long position = (long) WRITTEN.get(this);
        long taken = (long) READ.getAcquire(this);
        if (broken || position - taken >= capacity) {
            broken = true;
            return false;
        }
        assert taken <= position : "order of positions";
        Entry e = entries.claim(position, taken);
        e.wrId = wrId;
        e.status = status;
        e.opcode = opcode;
        e.vendorError = vendorError;
        e.byteLength = byteLength;
        e.immediateOrRkey = immediateOrRkey;
        e.qpn = qpn;
        e.sender = sender;
        e.flags = flags;
        e.cause = cause;
        WRITTEN.setVolatile(this, position + 1);
        return true;
    }

    /// Makes the ring shared: from now on several engines append, one at a time. Called while no engine appends.
    public void share() {
        shared = true;
    }

    /// Returns whether it has overflowed.
    public boolean isBroken() {
        return broken;
    }

    // ---- pollers, one at a time

    /// Takes the oldest completion; false when there is none.
    public boolean poll(WorkCompletion wc) {
        long position = (long) READ.get(this);
        if (position == (long) WRITTEN.getVolatile(this)) {
            return false;
        }
        assert position < (long) WRITTEN.getVolatile(this) : "order of positions";
        Entry e = entries.at(position);
        CompletionAccess.fill(
                wc,
                e.wrId,
                e.status,
                e.opcode,
                e.vendorError,
                e.byteLength,
                e.immediateOrRkey,
                e.qpn,
                e.sender,
                e.flags,
                e.cause);
        READ.setRelease(this, position + 1);
        return true;
    }

    /// Changes the capacity; the caller keeps engine and pollers away meanwhile. False, and nothing changed, when
    /// more is in it than would fit.
    public boolean resize(int newCapacity) {
        long from = (long) READ.get(this);
        long to = (long) WRITTEN.get(this);
        if (to - from > newCapacity) {
            return false;
        }
        entries = entries.resized(newCapacity, from, to);
        capacity = newCapacity;
        return true;
    }

    // ---- any thread

    /// Arms for one notification; an armed ring is not weakened by arming it for less.
    public void arm(boolean solicitedOnly) {
        if (solicitedOnly) {
            ARMED.compareAndSet(this, ARMED_NONE, ARMED_SOLICITED);
        } else {
            ARMED.setVolatile(this, ARMED_ANY);
        }
    }

    /// Notes that the calling thread is about to sleep (1) or has woken (-1). Poll once more before sleeping.
    public void sleepers(int change) {
        int before = (int) SLEEPERS.getAndAdd(this, change);
        assert before + change >= 0 : "only a thread that slept wakes";
    }
}
