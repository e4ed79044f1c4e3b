package verbena.verbs.spi;

import verbena.verbs.Preview;

/// A thread that waits for several things at once: for a device, for descriptors of the system, and for what other
/// threads have to say. It attends to the device's work meanwhile, and sleeps where packets arrive. So what arrives
/// wakes one thread and not two. Made by [WaitableChannel#waiter].
///
/// One thread at a time uses it, except for [#wake()].
@Preview
public interface Waiter {
    /// Watches a descriptor in the waits to come, too.
    ///
    /// @param events those of poll(2)
    /// @return false when there are too many
    boolean watch(int fd, int events);

    /// Forgets the descriptors.
    void watchNone();

    /// Waits until what it was made to wait for is there, a descriptor is ready, or `nanos` have passed. It may
    /// return early. Looks for a while before it sleeps, when its waits have been short.
    ///
    /// @return false when this thread cannot sleep at the device now, because others do, or want to; see [#parked]
    boolean await(long nanos);

    /// Returns whether one of the descriptors was ready when [#await] returned.
    boolean isReady();

    /// Counts threads that wait in vain here, and now sleep where no device sees them: 1 before, -1 afterwards. The
    /// device's own thread works meanwhile.
    void parked(int change);

    /// Makes the thread that waits ask again whether it has what it waits for. Any thread, after the change.
    void wake();
}
