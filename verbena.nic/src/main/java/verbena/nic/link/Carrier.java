package verbena.nic.link;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import verbena.foreign.linux.LinuxAbi.Pollfd;
import verbena.verbs.GidEntry;

/// A carrier of a device's traffic to and from other processes: a [Link] of frames, or a
/// [verbena.nic.link.tcp.TcpLink] of streams. The device's engine sleeps in it.
///
/// The owner of the engine moves the traffic, so never two threads at once. One more thread may be in [#await(long)]
/// meanwhile, and any thread may call [#wakeup()]. Only [#await(long)] blocks.
public interface Carrier extends AutoCloseable {
    /// The result of [#slot()] when the carrier is alone on its addresses.
    int NO_SLOT = -1;

    /// Returns the addresses that this carrier sends from and receives on, in GID table order.
    List<GidEntry> gids();

    /// Returns the entries of [#gids()] that can be used now: the host has the address, on an interface that is up.
    /// Any thread; may take as long as a question to the operating system.
    default List<GidEntry> liveGids() {
        return gids();
    }

    /// Returns this carrier's slot, one of 256 parts of all numbers, when other carriers receive at its addresses
    /// too. The slot is the eight highest bits of each queue pair number, communication ID and SIDR request ID that
    /// is assigned here. These bits lead an arrival to its carrier. [#NO_SLOT] when the carrier is alone, and may
    /// assign any number. Never changes. Any thread.
    default int slot() {
        return NO_SLOT;
    }

    /// Moves the traffic that does not travel in frames, and calls the owners of that traffic. Returns how much was
    /// done; 0 when there was nothing to do.
    int move(long nowNanos);

    /// Sleeps until something has arrived, [#wakeup()] was called since the last `await`, or `timeoutNanos` have
    /// passed (negative: no limit; 0: return at once). May return early. Costs no CPU while it sleeps.
    void await(long timeoutNanos);

    /// Returns whether a thread may sleep by a system call of its own: by [#fallAsleep] in place of [#await(long)].
    /// Never changes. Any thread.
    default boolean canBePolled() {
        return false;
    }

    /// Begins a sleep as [#await(long)] does, which the caller carries out. The caller calls poll(2) with this many
    /// [#pollfds()], until one is ready or the caller stops waiting. [#awake()] ends the sleep. Zero means that
    /// there is a reason not to sleep, and no sleep has begun.
    default int fallAsleep(long timeoutNanos) {
        throw new UnsupportedOperationException("this carrier cannot be polled");
    }

    /// The size of a `struct pollfd`.
    long POLLFD_BYTES = Pollfd.BYTES;

    /// Returns the array of `struct pollfd`, always the same.
    default MemorySegment pollfds() {
        return MemorySegment.NULL;
    }

    /// Ends a sleep that [#fallAsleep] has begun.
    default void awake() {}

    /// Makes the current or the next [#await(long)] return. Any thread; cheap when no thread sleeps.
    void wakeup();

    /// Returns the carrier's own counters since its creation, by name. Any thread.
    default Map<String, Long> counters() {
        return Map.of();
    }

    /// Closes sockets and frees memory; wakes a sleeping thread. Idempotent.
    @Override
    void close();
}
