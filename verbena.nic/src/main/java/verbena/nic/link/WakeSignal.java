package verbena.nic.link;

import java.util.concurrent.atomic.AtomicInteger;

/// The decision whether a wake-up needs a system call: only when a thread sleeps or is about to. There is one
/// sleeper and any number of wakers.
///
/// No wake-up is lost, because both sides swap the same word and only swaps decide. In the order of these swaps, a
/// waker's swap comes
///
/// - before [#sleep()]: [#sleep()] sees NOTIFIED and does not sleep;
/// - between [#sleep()] and [#awake()]: the waker sees SLEEPING and makes the system call, which ends the sleep. It
///   does so even before the sleep has begun, because an eventfd and a selector both remember the call;
/// - after [#awake()]: the notification stays for the next [#sleep()].
///
/// The sleeper sees everything that the waker wrote before its swap, because each swap is a release and an acquire
/// of the same word. Testing for NOTIFIED before the swap would save a waker the swap. But a plain store before the
/// test could then be reordered after the load (store-load order), so it would need a full fence, which costs the
/// same.
public final class WakeSignal {
    private static final int AWAKE = 0;
    private static final int NOTIFIED = 1;
    private static final int SLEEPING = 2;

    private final AtomicInteger state = new AtomicInteger(AWAKE);

    /// Creates a signal whose sleeper is awake.
    public WakeSignal() {}

    /// Announces that the sleeper is about to sleep. False when it was notified and must not sleep; then [#awake()]
    /// is not called.
    public boolean sleep() {
        if (state.compareAndSet(AWAKE, SLEEPING)) {
            return true;
        }
        state.getAndSet(AWAKE); // a swap, not a store: it acquires from every waker before it
        return false;
    }

    /// Notes that the sleeper is awake.
    public void awake() {
        state.getAndSet(AWAKE); // a swap, for the same reason
    }

    /// Notifies the sleeper; returns true when the waker must end the sleep by a system call.
    public boolean raise() {
        return state.getAndSet(NOTIFIED) == SLEEPING;
    }
}
