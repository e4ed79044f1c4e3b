package verbena.nic.link;

import java.util.concurrent.atomic.AtomicInteger;

/// Decides whether a wake-up needs a system call: only when a thread sleeps or is about to. There is one sleeper,
/// and any number of wakers.
///
/// No wake-up is lost, because both sides swap the same word and only swaps decide. In the order of these swaps, the
/// waker's comes
///
/// - before [#sleep()]: that sees NOTIFIED and does not sleep;
/// - between [#sleep()] and [#awake()]: it sees SLEEPING and the waker makes the system call, which ends the sleep
/// even
///   when it comes before the sleep has begun, because an eventfd and a selector both remember it;
/// - after [#awake()]: it is left for the next [#sleep()].
///
/// What the waker wrote before its swap is seen by the sleeper after the swap that answers it: each swap is a
/// release and an acquire of the same word. A test of NOTIFIED before the swap would save a waker the swap, but a
/// plain store before it could then pass the load (store-load order), so it would need a full fence, which costs the
/// same.
final class WakeSignal {
    private static final int AWAKE = 0;
    private static final int NOTIFIED = 1;
    private static final int SLEEPING = 2;

    private final AtomicInteger state = new AtomicInteger(AWAKE);

    /// The sleeper is about to sleep; false when it has been notified and must not. Then [#awake()] is not called.
    boolean sleep() {
        if (state.compareAndSet(AWAKE, SLEEPING)) {
            return true;
        }
        state.getAndSet(AWAKE); // a swap, not a store: it acquires from every waker before it
        return false;
    }

    /// The sleeper has slept.
    void awake() {
        state.getAndSet(AWAKE); // a swap, for the same reason
    }

    /// A waker; true when it must end the sleep by a system call.
    boolean raise() {
        return state.getAndSet(NOTIFIED) == SLEEPING;
    }
}
