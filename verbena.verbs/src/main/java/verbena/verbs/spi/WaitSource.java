package verbena.verbs.spi;

import java.util.Collection;
import java.util.function.BooleanSupplier;
import verbena.verbs.Preview;

/// The side of a [verbena.verbs.Waitable] that a [verbena.verbs.Waiter] uses. Any thread may call it. It holds no
/// resource.
///
/// @since 0.1
@Preview
public interface WaitSource {
    /// Returns the side of an object whose own threads attend to its devices, and run these listeners.
    ///
    /// @param listeners safe for all threads
    static WaitSource of(Collection<Runnable> listeners) {
        return new WaitSource() {
            @Override
            public void addListener(Runnable listener) {
                listeners.add(listener);
            }

            @Override
            public void removeListener(Runnable listener) {
                listeners.remove(listener);
            }
        };
    }

    /// Adds a listener that runs whenever the source has become ready, on the thread that brought the event. That
    /// thread may be in the middle of any call, so the listener must not wait, and must not throw.
    /// A source may have room for one listener only: a stream does.
    void addListener(Runnable listener);

    /// Removes a listener; does nothing when it was not added. It may still run once.
    void removeListener(Runnable listener);

    /// Waits as a thread of the device. The caller does the device's work and sleeps where packets arrive, so no
    /// other thread has to wake it. Returns when `isOver` is true, after `nanos`, or when the device needs its
    /// place. A change that makes `isOver` true and does not come from this device is followed by
    /// [#wakeAttendant()].
    ///
    /// @param isOver condition that ends the wait, asked often, on this thread
    /// @param nanos `Long.MAX_VALUE` for no limit
    /// @return false, at once, when the caller has to wait elsewhere
    default boolean attend(BooleanSupplier isOver, long nanos) throws InterruptedException {
        return false;
    }

    /// Makes a thread in [#attend] check whether its wait is over. Any thread.
    default void wakeAttendant() {}
}
