package verbena.abi;

import static verbena.foreign.rdma.CmStructs.EVENT_CHANNEL;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import verbena.foreign.Memory;
import verbena.verbs.InvalidStateException;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.EventChannel;

/// A channel of the connection manager's events and its `struct rdma_event_channel`.
final class EventChannelHandle extends Handle {
    private static final ReentrantLock MOVING = new ReentrantLock();

    final EventChannel channel;
    private final EventPipe events;

    private EventChannelHandle(long pointer, EventChannel channel) {
        super(pointer, 0);
        this.channel = channel;
        this.events = new EventPipe("verbena-abi-cm", Long.BYTES, new EventPipe.Source() {
            @Override
            public boolean next(MemorySegment event) throws InterruptedException {
                return EventChannelHandle.this.next(event);
            }

            @Override
            public Optional<EventPipe> elsewhere(MemorySegment event) {
                return home(event.get(ValueLayout.JAVA_LONG, 0))
                        .filter(home -> home != EventChannelHandle.this)
                        .map(home -> home.events);
            }
        });
    }

    static EventChannelHandle create() {
        long pointer = Native.allocate(EVENT_CHANNEL.size());
        var made = new EventChannelHandle(pointer, open());
        Memory.putInt(pointer, made.events.fd());
        return Handles.put(made);
    }

    /// When the program is to see one device only, its connections are that device's; otherwise the address tells
    /// which. Connections within this host go through its memory when the program sees a device for that, because
    /// it has to know the device of each identifier.
    static EventChannel open() {
        Optional<DeviceHandle> only = DeviceHandle.only();
        if (only.isPresent()) {
            return EventChannel.open(only.get().shared());
        }
        return DeviceHandle.seesHost()
                ? EventChannel.openNearest(DeviceHandle::at, DeviceHandle::within)
                : EventChannel.open(DeviceHandle::at);
    }

    /// The same for connections whose devices the program does not see: those within this host go through its memory,
    /// unless the user has chosen devices.
    static EventChannel openNearest() {
        return DeviceHandle.isChosen() ? open() : EventChannel.openNearest(DeviceHandle::at, _ -> Optional.empty());
    }

    /// The channel of the identifier that an event is about; of the listener, for a request.
    private static Optional<EventChannelHandle> home(long event) {
        return Optional.ofNullable(Handles.find(event, CmEvents.Told.class))
                .map(told -> Handles.find(told.listener() != 0 ? told.listener() : told.id(), IdHandle.class))
                .map(id -> Handles.find(id.get("channel"), EventChannelHandle.class));
    }

    /// Takes an identifier over from another channel, with its events that were not read yet (rdma_migrate_id(3)).
    void takeOver(IdHandle id, EventChannelHandle from) {
        MOVING.lock(); // so no two threads hold each other's
        List<Long> unread = from.events.hold();
        try (var arena = Arena.ofConfined()) {
            MemorySegment event = arena.allocate(ValueLayout.JAVA_LONG);
            List<Long> here = events.hold();
            try {
                id.id.migrate(channel);
                id.set("channel", pointer);
            } finally {
                for (long each : here) {
                    event.set(ValueLayout.JAVA_LONG, 0, each);
                    boolean ignored = events.put(event);
                }
                for (long each : unread) {
                    event.set(ValueLayout.JAVA_LONG, 0, each);
                    boolean isIts = home(each).filter(home -> home == this).isPresent();
                    boolean ignored = (isIts ? events : from.events).put(event);
                }
                events.release();
            }
        } finally {
            from.events.release();
            MOVING.unlock();
        }
    }

    @Override
    EventChannel object() {
        return channel;
    }

    private boolean next(MemorySegment into) throws InterruptedException {
        long event = 0;
        while (event == 0) {
            try {
                event = next(channel);
            } catch (InvalidStateException e) {
                return false; // closed
            }
        }
        into.set(ValueLayout.JAVA_LONG, 0, event);
        return true;
    }

    /// Waits for the next event of a channel; 0 when it is of an identifier that is gone.
    static long next(EventChannel channel) throws InterruptedException {
        var event = channel.await(EventPipe.ALWAYS);
        while (event.isEmpty()) {
            event = channel.await(EventPipe.ALWAYS);
        }
        ConnectionEvent told = event.get();
        return CmEvents.of(told);
    }

    @Override
    void release() {
        events.close();
        super.release();
    }
}
