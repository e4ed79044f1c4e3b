package verbena.nic.engine;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import verbena.nic.link.Link;
import verbena.transport.Protocol;

/// The attendant's sleep in the link, and what ends it. The section "Why no wake-up is lost" of [Driver] gives the
/// order in which the attendant and the other threads access it.
final class Sleep {
    private final Work work;
    /// Whether the attendant is in the link, or about to be.
    private volatile boolean underWay;
    /// The time at which the attendant will wake without being woken.
    private volatile long wakeNanos = Protocol.NEVER;
    /// Whether a guest sleeps by a system call of its own, from which it may never return. The thread that makes
    /// this false ends the sleep for the link.
    private final AtomicBoolean dozing = new AtomicBoolean();

    private int dozedOn;

    Sleep(Work work) {
        this.work = work;
    }

    boolean isUnderWay() {
        return underWay;
    }

    /// Announces that the attendant is about to sleep. It looks for work once more before it does.
    void begin(long untilNanos) {
        wakeNanos = untilNanos;
        underWay = true;
    }

    /// Notes that the attendant is awake.
    void end() {
        underWay = false;
        wakeNanos = Protocol.NEVER;
    }

    /// Ends the sleep, if there is one, because another thread has something for the attendant.
    void disturb() {
        if (underWay) {
            work.link().wakeup();
        }
    }

    /// Returns whether the attendant would sleep beyond this time.
    boolean isPast(long nanos) {
        return underWay && nanos < wakeNanos;
    }

    // ---- a guest's sleep by a system call of its own

    boolean isDozing() {
        return dozing.get();
    }

    /// Prepares the link for a guest that calls poll(2) itself.
    ///
    /// @param nanos how long at most; -1 for ever
    /// @param pollfds where to put the `struct pollfd`s
    /// @return the number of `struct pollfd`s; zero when there is something to do at once; -1 when `pollfds` is too
    ///     small, and the guest does not sleep
    int doze(long nanos, MemorySegment pollfds) {
        Link link = work.link();
        int count = link.fallAsleep(nanos);
        if (count * Link.POLLFD_BYTES > pollfds.byteSize()) {
            link.awake();
            return -1;
        }
        if (count > 0) {
            MemorySegment.copy(link.pollfds(), 0, pollfds, 0, count * Link.POLLFD_BYTES);
            dozedOn = count;
            dozing.set(true);
        }
        return count;
    }

    /// Ends the sleep of such a guest, if there is one.
    ///
    /// @param polled the result of poll(2); NULL when it is not known
    void rouse(MemorySegment polled) {
        if (dozing.compareAndSet(true, false)) {
            Link link = work.link();
            if (polled.address() != 0) {
                MemorySegment.copy(polled, 0, link.pollfds(), 0, dozedOn * Link.POLLFD_BYTES);
            }
            link.awake();
            end();
        }
    }
}
