package verbena.verbs;

import java.util.Collection;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/// The side of a [Waitable] that a [Waiter] uses. Any thread may call it. It holds no
/// resource.
///
/// A program makes a source of its own with [#of]. It announces each event by running the listeners:
///
/// ```java
/// final class Inbox implements Waitable {
///     private final Queue<String> letters = new ConcurrentLinkedQueue<>();
///     private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
///
///     void put(String letter) {
///         letters.add(letter); // first: a waiter that has been told looks at once
///         listeners.forEach(Runnable::run);
///     }
///
///     String take() {
///         return letters.poll();
///     }
///
///     public boolean isReady() {
///         return !letters.isEmpty();
///     }
///
///     public WaitSource waitSource() {
///         return WaitSource.of(listeners, () -> false); // it never ends
///     }
/// }
/// ```
///
/// @since 0.1
public interface WaitSource {
    /// A place where one thread at a time waits: a device, or a worker. The thread does its work meanwhile, and
    /// sleeps where packets arrive, so no other thread has to wake it. Any thread may call it.
    @Preview
    interface Place {
        /// Waits as a thread of the place. Returns when `isOver` is true, after `nanos`, or when another thread
        /// needs the place. A change that makes `isOver` true and does not come from this place is followed by
        /// [#wakeAttendant()].
        ///
        /// @param isOver condition that ends the wait, asked often, on this thread
        /// @param nanos `Long.MAX_VALUE` for no limit
        /// @return false, at once, when the caller has to wait elsewhere
        boolean attend(BooleanSupplier isOver, long nanos) throws InterruptedException;

        /// Makes a thread in [#attend] check whether that wait is over. Any thread may call it.
        void wakeAttendant();
    }

    /// Returns the side of an object that runs these listeners on threads of its own.
    ///
    /// @param listeners safe for all threads
    /// @param hasEnded the answer of [#hasEnded()]
    static WaitSource of(Collection<Runnable> listeners, BooleanSupplier hasEnded) {
        return new WaitSource() {
            @Override
            public void addListener(Runnable listener) {
                listeners.add(listener);
            }

            @Override
            public void removeListener(Runnable listener) {
                listeners.remove(listener);
            }

            @Override
            public boolean hasEnded() {
                return hasEnded.getAsBoolean();
            }
        };
    }

    /// Adds a listener that runs whenever the source has become ready after [Waitable#isReady()] was
    /// false, on the thread that brought the event. That thread may be in the middle of any call, so the listener
    /// must neither wait nor throw. A source may have room for one listener only: a stream does.
    void addListener(Runnable listener);

    /// Removes a listener; does nothing when it was not added. It may still run once.
    void removeListener(Runnable listener);

    /// Returns whether a source that is ready brings nothing more after this: a result that is done, or an object
    /// that is closed.
    boolean hasEnded();

    /// Returns the place where a thread may wait for this source. A waiter asks each place once, so sources that one
    /// thread can wait for at one place return the same object. Empty when the thread has to wait elsewhere.
    @Preview
    default Optional<Place> place() {
        return Optional.empty();
    }
}
