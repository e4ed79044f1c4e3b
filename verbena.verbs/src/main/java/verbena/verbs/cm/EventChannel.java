package verbena.verbs.cm;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.InUseException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Preview;
import verbena.verbs.VerbsObject;
import verbena.verbs.WaitSource;
import verbena.verbs.Waitable;
import verbena.verbs.spi.ConnectionService;
import verbena.verbs.waiting.TimeLimits;

/// A channel for the events of connections (rdma_create_event_channel(3)).
///
/// Any thread may take events, each once; a virtual thread that waits releases its carrier. The channel has no thread
/// of its own. The thread that takes an event also does the library's work for it, such as bringing a queue pair to
/// RTS when the peer has accepted.
///
/// The program closes it after its identifiers; [InUseException] names those still open. Closing wakes all waiting
/// threads. Making identifiers, waiting and polling then throw [InvalidStateException].
///
/// @since 0.1
public final class EventChannel implements VerbsObject, Waitable {
    /// An event that the thread that takes it carries out.
    private record Pending(ConnectionId id, Step step) {}

    /// The rest of the work when an event is taken; empty when the program need not know of it.
    @FunctionalInterface
    interface Step {
        Optional<ConnectionEvent> take();

        /// Discards it: no thread will take it.
        default void discard() {}
    }

    private final DeviceChoice devices;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    // Small at first: most channels of streams are of one connection.
    private final ArrayDeque<Pending> events = new ArrayDeque<>(1);
    private final Set<ConnectionId> ids = new LinkedHashSet<>(1);
    /// Written under the lock; a thread that attends to a device reads both.
    private volatile boolean hasEvents;

    private volatile boolean closed;
    private final CopyOnWriteArrayList<Runnable> listeners = new CopyOnWriteArrayList<>();
    private final Attending attending = new Attending();
    /// The device that a thread attends to while it waits here.
    private volatile @Nullable ConnectionService attended;
    /// The device of one of the identifiers, so that a wait need not search; null when that is not known.
    private volatile @Nullable ConnectionService found;

    private final BooleanSupplier isOver = this::isOver;

    private EventChannel(DeviceChoice devices) {
        this.devices = devices;
    }

    /// Opens a channel whose connections use the devices with the right addresses ([DeviceChoice#byAddress()]).
    public static EventChannel open() {
        return open(DeviceChoice.byAddress());
    }

    /// Opens a channel whose connections all use one device. The program closes the device, after the channel.
    ///
    /// @throws verbena.verbs.UnsupportedException when the device has no connection manager
    public static EventChannel open(Context device) {
        return open(DeviceChoice.only(device));
    }

    /// Opens a channel whose connections use these devices.
    ///
    /// @throws verbena.verbs.UnsupportedException when it is one device, which has no connection manager
    public static EventChannel open(DeviceChoice devices) {
        devices.device().ifPresent(ConnectionService::of); // or it throws
        return new EventChannel(devices);
    }

    /// Returns whether a connection of [DeviceChoice#nearest()] to this address and port would go through the
    /// memory of this host. It does when a process of the host has the port there. Opens no device.
    ///
    /// @throws ConnectionException when no address of this host reaches the peer's
    @Preview
    public static boolean isServedWithin(PortSpace space, InetSocketAddress peer) {
        return LocalDevices.isServedWithin(
                space, LocalDevices.towards(Optional.empty(), peer.getAddress()).gid(), peer);
    }

    /// Makes an identifier, for one listener or one connection (rdma_create_id(3)).
    ///
    /// @throws InvalidStateException when the channel is closed
    public ConnectionId createId(PortSpace space) {
        var id = new ConnectionId(this, space);
        add(id, "createId");
        return id;
    }

    /// Takes the next event; empty when there is none. Never blocks.
    ///
    /// @throws InvalidStateException when the channel is closed
    public Optional<ConnectionEvent> poll() {
        while (true) {
            Pending next;
            lock.lock();
            try {
                checkOpen("poll");
                next = next();
            } finally {
                lock.unlock();
            }
            if (next == null) {
                return Optional.empty();
            }
            var event = next.step.take();
            if (event.isPresent()) {
                return event;
            }
        }
    }

    /// Throws when the channel is closed, and has no events left. Called with the lock held.
    private void checkOpen(String verb) {
        if (closed && events.isEmpty()) {
            throw new InvalidStateException(verb + ": the event channel is closed");
        }
    }

    /// Returns the next event. Called with the lock held.
    private @Nullable Pending next() {
        Pending next = events.poll();
        hasEvents = !events.isEmpty();
        return next;
    }

    /// Waits for an event without a time limit, and takes it.
    ///
    /// @throws InvalidStateException when the channel is closed, also while waiting
    public ConnectionEvent await() throws InterruptedException {
        while (true) {
            Optional<ConnectionEvent> event = await(TimeLimits.FOREVER);
            if (event.isPresent()) {
                return event.get();
            }
        }
    }

    /// Waits for an event and takes it; empty when `timeout` passed.
    ///
    /// @throws InvalidStateException when the channel is closed, also while waiting
    public Optional<ConnectionEvent> await(Duration timeout) throws InterruptedException {
        return await(TimeLimits.nanos(timeout));
    }

    /// Waits for a time in nanoseconds; `Long.MAX_VALUE` is no limit.
    Optional<ConnectionEvent> await(long nanos) throws InterruptedException {
        long left = nanos;
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        while (true) {
            left = attend(left);
            Pending next;
            lock.lockInterruptibly();
            try {
                while (events.isEmpty() && !closed && left > 0) {
                    left = changed.awaitNanos(left);
                }
                checkOpen("await");
                next = next();
            } finally {
                lock.unlock();
            }
            if (next == null) {
                return Optional.empty();
            }
            var event = next.step.take();
            if (event.isPresent()) {
                return event;
            }
        }
    }

    /// Works for the device whose events are waited for, so that no other thread of this process has to wake
    /// this one; returns how much of the time is left. Does nothing where that cannot be.
    private long attend(long nanos) throws InterruptedException {
        if (isOver() || nanos <= 0) {
            return nanos;
        }
        long start = System.nanoTime();
        boolean _ = attending.attend(isOver, nanos);
        return TimeLimits.left(nanos, start);
    }

    private boolean isOver() {
        return hasEvents || closed;
    }

    /// Returns the device of an identifier, of the first one that has any.
    private @Nullable ConnectionService service() {
        ConnectionService known = found;
        if (known != null) {
            return known;
        }
        List<ConnectionId> all;
        lock.lock();
        try {
            all = List.copyOf(ids);
        } finally {
            lock.unlock();
        }
        for (ConnectionId id : all) {
            ConnectionService there = id.ofPorts(OwnPorts::service);
            if (there != null) {
                keep(there, id);
                return there;
            }
        }
        return null;
    }

    /// Keeps the device of an identifier, as long as that is here.
    private void keep(ConnectionService service, ConnectionId of) {
        lock.lock();
        try {
            if (ids.contains(of)) {
                found = service;
            }
        } finally {
            lock.unlock();
        }
    }

    /// Wakes a thread in [#attend], and runs the listeners.
    private void wake() {
        attending.wakeAttendant();
        for (int i = 0; i < listeners.size(); i++) {
            listeners.get(i).run();
        }
    }

    // ---- for a waiter

    @Override
    public boolean isReady() {
        return isOver();
    }

    @Override
    public WaitSource waitSource() {
        return attending;
    }

    /// The side for a waiter, and for the threads that wait here.
    private final class Attending implements WaitSource, WaitSource.Place {
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
            return closed && !hasEvents;
        }

        @Override
        public Optional<Place> place() {
            return Optional.of(this);
        }

        @Override
        public boolean attend(BooleanSupplier isOver, long nanos) throws InterruptedException {
            ConnectionService service = service();
            if (service == null) {
                return false;
            }
            attended = service; // before a look at the condition: wakeAttendant() follows a change, then reads this
            return service.attend(isOver, nanos);
        }

        @Override
        public void wakeAttendant() {
            ConnectionService there = attended;
            if (there != null) {
                there.wakeAttendant();
            }
        }
    }

    DeviceChoice devices() {
        return devices;
    }

    // ---- by identifiers

    /// @param verb that the program has called
    void add(ConnectionId id, String verb) {
        lock.lock();
        try {
            if (closed) {
                throw new InvalidStateException(verb + ": the event channel is closed");
            }
            ids.add(id);
        } finally {
            lock.unlock();
        }
    }

    /// Adds an event. Any thread, the device's included.
    void offer(ConnectionId id, Step step) {
        lock.lock();
        try {
            events.add(new Pending(id, step));
            hasEvents = true;
            changed.signal();
        } finally {
            lock.unlock();
        }
        wake();
    }

    /// Removes an identifier that is closed or moves elsewhere, and returns its events.
    List<Step> remove(ConnectionId id) {
        var its = new ArrayList<Step>();
        lock.lock();
        try {
            ids.remove(id);
            found = null;
            events.removeIf(pending -> {
                boolean is = pending.id == id;
                if (is) {
                    its.add(pending.step);
                }
                return is;
            });
            hasEvents = !events.isEmpty();
        } finally {
            lock.unlock();
        }
        return its;
    }

    /// Closes it whatever it has, and gives the identifiers that are left.
    List<ConnectionId> shut() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
            return List.copyOf(ids);
        } finally {
            lock.unlock();
            wake();
        }
    }

    /// Closes the channel and wakes all threads that wait. Idempotent.
    ///
    /// @throws InUseException when it has identifiers that are not closed
    @Override
    public void close() {
        lock.lock();
        try {
            if (!ids.isEmpty()) {
                throw new InUseException(
                        "close",
                        "event channel",
                        ids.stream().map(ConnectionId::toString).toList());
            }
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        wake();
    }

    @Override
    public boolean isClosed() {
        return closed;
    }
}
