package verbena.verbs.internal;

/// A place where one thread waits for several things at once: a device, descriptors of the system, and other threads.
/// The thread does the device's work meanwhile, and sleeps where packets arrive. So an arrival wakes one thread and
/// not two.
///
/// One thread at a time uses it, except for [#wake()]. [WaitableChannel#waiter] makes it; it holds no resource, and
/// ends with its channel. No method throws.
public interface DeviceWait {
    /// Adds a descriptor, which ends the following waits when it is ready.
    ///
    /// @param events those of poll(2)
    /// @return false when there are too many
    boolean watch(int fd, int events);

    /// Removes all descriptors.
    void watchNone();

    /// Waits until its condition is true, a descriptor is ready, or `nanos` have passed. It may return early. It
    /// polls for a while before it sleeps, when its last waits have been short.
    ///
    /// @return false when this thread cannot sleep at the device now, because others do, or want to; see
    ///     [#beginElsewhere]
    boolean await(long nanos);

    /// Returns whether one of the descriptors was ready when [#await] returned.
    boolean isReady();

    /// Begins a sleep of this thread elsewhere, after [#await] returned false. The device's own thread works
    /// meanwhile.
    void beginElsewhere();

    /// Ends what [#beginElsewhere] began.
    void endElsewhere();

    /// Makes the waiting thread evaluate its condition again. Any thread, after the change.
    void wake();
}
