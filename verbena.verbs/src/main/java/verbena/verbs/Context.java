package verbena.verbs;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/// An opened device, which makes all other objects (ibv_open_device(3)).
///
/// Any thread may use it. [Device#open()] makes it, and the program closes it after all objects that it made.
/// [InUseException] names those still open. Closing wakes threads that wait for asynchronous events. All verbs
/// that make an object then throw [InvalidStateException].
///
/// A verb that makes an object throws [ResourceLimitException] when the device has no more of its kind. A device that
/// fails raises [AsyncEvent.Type#DEVICE_FATAL], and [CompletionQueue#await] throws [DeviceException]. The program can
/// then only close its objects.
///
/// @since 0.1
public interface Context extends VerbsObject {
    /// Returns the device that was opened.
    Device device();

    /// Returns what the device can do.
    DeviceAttributes attributes();

    /// Returns the state of a port; ports count from 1.
    ///
    /// @throws IllegalArgumentException when there is no such port
    PortAttributes port(int port);

    /// Returns the GID table of a port, without empty entries.
    ///
    /// @throws IllegalArgumentException when there is no such port
    List<GidEntry> gids(int port);

    /// Returns one entry of the GID table.
    ///
    /// @throws IllegalArgumentException when there is no such port or entry
    default GidEntry gid(int port, int index) {
        return gids(port).stream()
                .filter(entry -> entry.index() == index)
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("gid index: port " + port + " of "
                        + device().name() + " has "
                        + gids(port).stream().map(GidEntry::index).toList() + ", got " + index));
    }

    /// Returns the entry of the GID table to use towards `peer`. It is of the same address family and scope. Where
    /// several fit, it is the one that the system would send from.
    ///
    /// @throws IllegalArgumentException when there is no such port
    /// @throws DeviceException when no own address can reach `peer`; the message shows the table
    GidEntry gidFor(int port, Gid peer);

    /// Returns a P_Key of a port, 16 bits.
    ///
    /// @throws IllegalArgumentException when there is no such port or entry
    int pkey(int port, int index);

    /// Finds an open queue pair of this device by its number. It leads from [WorkCompletion#qpn()] to the queue
    /// pair, and to the program's own object ([QueuePair#attachment()]). Takes no lock and allocates nothing.
    ///
    /// @return null when no open queue pair has this number
    @Nullable
    QueuePair queuePair(int qpn);

    /// Says that what this thread has done comes before what another does after [#noteAcquire] of the same object. A
    /// checked device uses it to find races; every other device does nothing.
    ///
    /// @param by what joins the two: a lock, a queue or, for threads of different processes, a [String]
    @Preview
    default void noteRelease(Object by) {
        Objects.requireNonNull(by, "by");
    }

    /// Says that what other threads have done before [#noteRelease] of the same object comes before what this one
    /// does now.
    @Preview
    default void noteAcquire(Object by) {
        Objects.requireNonNull(by, "by");
    }

    /// Makes a protection domain: objects of one cannot be used with those of another (ibv_alloc_pd(3)).
    ///
    /// @throws ResourceLimitException when the device has no more
    ProtectionDomain allocateProtectionDomain();

    /// Allocates memory of the device, zeroed, from an address on that fits every atomic (ibv_alloc_dm(3)).
    ///
    /// @param bytes at least 1
    /// @throws IllegalArgumentException when `bytes` is less than 1
    /// @throws ResourceLimitException when the device has not so much left
    /// @throws UnsupportedException when the device has no memory for programs
    @Preview
    default DeviceMemory allocateDeviceMemory(long bytes) {
        throw new UnsupportedException("allocateDeviceMemory", Capability.DEVICE_MEMORY, device().name());
    }

    /// Makes a completion queue of at least `entries` entries, without a channel.
    ///
    /// @throws ResourceLimitException when the device has no more, or none of this size
    default CompletionQueue createCompletionQueue(int entries) {
        return createCompletionQueue(CompletionQueueOptions.of(entries));
    }

    /// Makes a completion queue (ibv_create_cq(3)).
    ///
    /// @throws IllegalArgumentException when it is to have less than one entry, or a channel of another context
    /// @throws ResourceLimitException when the device has no more, or none of this size
    /// @throws UnsupportedException when it is to have time stamps, and the device has no clock for them
    CompletionQueue createCompletionQueue(CompletionQueueOptions options);

    /// Opens a domain for extended reliable connections (ibv_open_xrcd(3)).
    ///
    /// @throws ResourceLimitException when the device has no more
    /// @throws UnsupportedException when the device has no such connections
    default XrcDomain openXrcDomain() {
        throw new UnsupportedException("openXrcDomain", Capability.XRC, device().name());
    }

    /// Makes a channel on which a thread can wait for several completion queues (ibv_create_comp_channel(3)).
    CompletionChannel createCompletionChannel();

    /// Takes the oldest asynchronous event; empty when there is none. Never blocks.
    ///
    /// @throws InvalidStateException when the device is closed
    Optional<AsyncEvent> pollAsyncEvent();

    /// Waits for an asynchronous event; empty when `timeout` passed. A virtual thread releases its carrier.
    ///
    /// @throws InvalidStateException when the device is closed, also while waiting
    Optional<AsyncEvent> awaitAsyncEvent(Duration timeout) throws InterruptedException;

    /// Waits for an asynchronous event without a time limit.
    ///
    /// @throws InvalidStateException when the device is closed, also while waiting
    AsyncEvent awaitAsyncEvent() throws InterruptedException;

    /// Returns the asynchronous events as a source for a [Waiter], which is ready when [#pollAsyncEvent()] has an event
    /// to take, or the device is closed. Each call returns the same object.
    Waitable asyncEvents();

    /// Returns the device's counters since it was opened, by name: packets and bytes, retransmissions, and each
    /// packet that was not accepted under its one reason. A name that ends in `.now` counts objects that exist
    /// at this moment. All other counters never fall. Each call returns a new map, which the program may
    /// change.
    SortedMap<String, Long> counters();
}
