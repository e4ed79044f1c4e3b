package verbena.check;

import java.util.List;
import java.util.Set;
import verbena.verbs.QpState;

/// Hears what the program does, and tells findings. Any thread calls; several at once.
public abstract class Watcher {
    /// The events, one for each method.
    public enum Event {
        POST,
        SUBMIT,
        SUBMITTED,
        SHARED,
        FULL,
        END,
        DROP,
        MESSAGE,
        ACCESS,
        HAND_OVER,
        HANDLE_CLOSED,
        WINDOW_CLOSED,
        PRIVATE_DATA,
        REGISTER,
        REREGISTER,
        UNREGISTER,
        UNREGISTERED,
        OPEN,
        MODIFY,
        CLOSE,
        RESIZE,
        POLL,
        WAIT,
        EXIT
    }

    private final Set<Event> events;

    /// @param events of which it hears: those whose methods do something
    protected Watcher(Set<Event> events) {
        this.events = Set.copyOf(events);
    }

    /// Returns the events of which it hears.
    public final Set<Event> events() {
        return events;
    }

    /// Hears of requests that are about to be posted by one call, each of them.
    public void onPost(TrackedRequest request) {}

    /// Hears of all send requests of one call.
    public void onSubmit(TrackedPair pair, List<TrackedRequest> requests) {}

    /// Hears that the device has taken the send requests of one call.
    public void onSubmitted(TrackedPair pair) {}

    /// Hears of receives that are about to be posted to a shared queue by one call.
    public void onShared(TrackedReceives receives) {}

    /// Hears that the send queue had no room for a request.
    ///
    /// @param pending those of the same batch
    public void onFull(TrackedPair pair, List<TrackedRequest> pending, CallPlace where) {}

    /// Hears that the program has seen a request end, by its own completion or by that of a later one.
    ///
    /// @param isOk whether it was carried out
    public void onEnd(TrackedRequest request, boolean isOk) {}

    /// Hears that requests have ended without a completion: the queue pair was closed or reset, or they could not
    /// be posted.
    public void onDrop(TrackedRequest request) {}

    /// Hears that the program has taken the receive of the next message to a queue pair.
    public void onMessage(TrackedPair pair) {}

    /// Hears of loads or stores that the program says it does.
    public void onAccess(TrackedRegion region, long offset, long length, boolean isStore) {}

    /// Hears that a thread has handed over what it knows to other threads, or has taken it over.
    public void onHandOver(Object by, boolean isRelease) {}

    /// Hears that an address handle was closed.
    public void onHandleClosed(TrackedDevice device, Object handle) {}

    /// Hears that a memory window was closed, and the key that it had.
    public void onWindowClosed(TrackedDevice device, int rkey) {}

    /// Hears that an end sends private data.
    ///
    /// @param bytes how many
    /// @param most how many InfiniBand carries there
    public void onPrivateData(TrackedDevice device, String verb, int bytes, int most) {}

    public void onRegister(TrackedRegion region) {}

    /// Hears that a region is about to get other rights or another protection domain.
    public void onReregister(TrackedRegion region) {}

    /// Hears that a region is about to be closed.
    public void onUnregister(TrackedRegion region) {}

    /// Hears that a region was closed.
    public void onUnregistered(TrackedRegion region) {}

    /// Hears that a queue pair was made.
    public void onOpen(TrackedPair pair) {}

    /// Hears of a step of a queue pair, which has been taken.
    ///
    /// @param before the state that it was in
    /// @param lost what a reset has dropped
    public void onModify(TrackedPair pair, QpState before, List<TrackedRequest> lost) {}

    /// Hears that a queue pair was closed.
    ///
    /// @param before the state that it was in
    /// @param lost what was outstanding
    public void onClose(TrackedPair pair, QpState before, List<TrackedRequest> lost) {}

    /// Hears that a completion queue was given another capacity.
    public void onResize(TrackedQueue queue) {}

    /// Hears of a look at a completion queue.
    ///
    /// @param found whether there was a completion
    public void onPoll(TrackedQueue queue, boolean found) {}

    /// Hears that a thread is about to wait on a channel.
    ///
    /// @param queues those that report there
    /// @param isAll whether the thread waits for this channel alone, and no event is there
    public void onWait(List<TrackedQueue> queues, boolean isAll) {}

    /// Hears that the process ends.
    ///
    /// @param open the devices that are open
    public void onExit(List<TrackedDevice> open) {}
}
