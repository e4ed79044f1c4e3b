package verbena.nic.link;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import verbena.foreign.linux.LinuxAbi.Pollfd;
import verbena.verbs.GidEntry;

/// What carries a device's traffic to and from other processes, and what its engine sleeps in: a [Link] of frames,
/// or a [TcpLink] of streams.
///
/// The owner of the engine moves the traffic, never two threads at once. One more thread may be in [#await(long)]
/// meanwhile, and any thread may call [#wakeup()]. Only [#await(long)] blocks.
public interface Carrier extends AutoCloseable {
    /// What [#slot()] says when the carrier is alone on its addresses.
    int NO_SLOT = -1;

    /// The addresses this carrier sends from and receives on, in GID table order.
    List<GidEntry> gids();

    /// Those of [#gids()] that can be used now: the host has the address, on an interface that is up. Any thread;
    /// may take as long as asking the operating system does.
    default List<GidEntry> liveGids() {
        return gids();
    }

    /// Which of 256 parts of all numbers is this carrier's own, when other carriers receive at its addresses too:
    /// the eight highest bits of each queue pair number, communication ID and SIDR request ID that is given out
    /// here. By these bits an arrival finds its carrier. [#NO_SLOT] when the carrier is alone, and every number is
    /// free. Never changes. Any thread.
    default int slot() {
        return NO_SLOT;
    }

    /// Moves what does not come and go in frames, and tells the owners of it. Returns how much was done; 0 when
    /// there was nothing to do.
    int move(long nowNanos);

    /// Sleeps until something has arrived, [#wakeup()] was called since the last `await`, or `timeoutNanos` have
    /// passed (negative: no limit; 0: return at once). May return early. Costs no CPU while it sleeps.
    void await(long timeoutNanos);

    /// Whether a thread may sleep by a system call of its own: by [#fallAsleep] in place of [#await(long)]. Never
    /// changes. Any thread.
    default boolean canBePolled() {
        return false;
    }

    /// Begins a sleep as [#await(long)] does, which the caller carries out: poll(2) of so many [#pollfds()], until
    /// one is ready or the caller has had enough. [#awake()] ends it. Zero: there is a reason not to sleep, and
    /// nothing has begun.
    default int fallAsleep(long timeoutNanos) {
        throw new UnsupportedOperationException("this carrier cannot be polled");
    }

    /// Of a `struct pollfd`.
    long POLLFD_BYTES = Pollfd.BYTES;

    /// An array of `struct pollfd`, always the same.
    default MemorySegment pollfds() {
        return MemorySegment.NULL;
    }

    /// Ends a sleep that [#fallAsleep] has begun.
    default void awake() {}

    /// Makes the current or the next [#await(long)] return. Any thread; cheap when nothing sleeps.
    void wakeup();

    /// What this carrier counts by itself, by name, since creation. Any thread.
    default Map<String, Long> counters() {
        return Map.of();
    }

    /// Gives back sockets and memory; wakes a sleeper. Idempotent.
    @Override
    void close();
}
