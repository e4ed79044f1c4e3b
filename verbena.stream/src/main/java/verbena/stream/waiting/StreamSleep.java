package verbena.stream.waiting;

import java.io.IOException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Context;
import verbena.verbs.internal.DeviceWait;

/// The sleep of a thread that serves many streams, on which selectors and event loops stand. The thread sleeps at the
/// device of its streams, so that an arrival wakes one thread. It sleeps elsewhere without streams, or when other
/// threads of the process sleep at the device. [Decision 30](../../../../../../../docs/decisions/30-selectors.md) shows
/// why no wake-up is lost.
///
/// One thread uses it: the sleeping one. Other threads call only the methods that allow it. It holds no resource and
/// is not closed.
public final class StreamSleep {
    private enum Place {
        /// The thread is awake, or has to ask its streams once more before it sleeps.
        NONE,
        DEVICE,
        ELSEWHERE
    }

    /// The place where the thread sleeps when it cannot sleep at a device, such as a selector.
    public interface Elsewhere {
        /// Makes the device watch the descriptors of this place. Returns false when they are too many, and the
        /// thread has to sleep here.
        boolean watch(DeviceWait at);

        /// Sleeps for a time at most; it may end early. A wake-up that came before ends it at once.
        ///
        /// @param nanos `Long.MAX_VALUE` for no limit
        void sleep(long nanos) throws IOException;

        /// Ends the sleep, or the next one. Any thread.
        void wake();
    }

    private final Elsewhere elsewhere;
    private final BooleanSupplier isOver;

    private volatile Place place = Place.NONE;
    private volatile @Nullable DeviceWait waiter;
    /// The device of the stream that was looked at last.
    private @Nullable Context device;

    private int streams;

    /// @param elsewhere where the thread sleeps without a device
    /// @param isOver whether there is a reason to be awake. A thread that makes it true then calls [#wake()]
    public StreamSleep(Elsewhere elsewhere, BooleanSupplier isOver) {
        this.elsewhere = elsewhere;
        this.isOver = isOver;
    }

    /// Counts a stream that the thread now serves.
    public void add() {
        streams++;
    }

    /// Discounts a stream that the thread no longer serves.
    public void remove() {
        if (--streams == 0) {
            device = null;
            waiter = null;
        }
    }

    /// Chooses the device of a stream for the next sleep. The thread has asked that stream whether it is ready.
    public void found(Context its) {
        if (its != device) {
            device = its;
            waiter = DeviceWatch.waiter(its, isOver);
        }
    }

    /// Ends the sleep, if there is one. Any thread.
    public void wake() {
        switch (place) {
            case NONE -> {}
            case DEVICE -> {
                DeviceWait at = waiter;
                if (at != null) {
                    at.wake();
                }
            }
            case ELSEWHERE -> elsewhere.wake();
        }
    }

    /// Sleeps for a time at most; it may end early.
    ///
    /// @param nanos `Long.MAX_VALUE` for no limit
    /// @return whether the other place may have events
    /// @throws IOException of the other place
    public boolean sleep(long nanos) throws IOException {
        DeviceWait at = waiter;
        if (at == null) {
            return sleepElsewhere(nanos);
        }
        at.watchNone();
        if (elsewhere.watch(at)) {
            place = Place.DEVICE; // before it asks whether to sleep: see wake()
            try {
                if (at.await(nanos)) {
                    return at.isReady();
                }
            } finally {
                place = Place.NONE;
            }
        }
        at.beginElsewhere();
        try {
            return sleepElsewhere(nanos);
        } finally {
            at.endElsewhere();
        }
    }

    private boolean sleepElsewhere(long nanos) throws IOException {
        place = Place.ELSEWHERE; // before the question: see wake()
        try {
            if (isOver.getAsBoolean()) {
                return false;
            }
            elsewhere.sleep(nanos);
            return true;
        } finally {
            place = Place.NONE;
        }
    }
}
