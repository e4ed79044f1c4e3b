package verbena.abi.cm;

import static verbena.foreign.rdma.CmStructs.EVENT_CHANNEL;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.abi.Errno;
import verbena.abi.EventInbox;
import verbena.abi.Handle;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.abi.verbs.DeviceHandle;
import verbena.foreign.Memory;
import verbena.verbs.InvalidStateException;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionEvent.ConnectRequest;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.DeviceChoice;
import verbena.verbs.cm.EventChannel;

/// A channel of the connection manager's events and its `struct rdma_event_channel`.
public final class EventChannelHandle extends Handle {
    final EventChannel channel;
    private final EventInbox<ConnectionEvent> events;

    private EventChannelHandle(long pointer, EventChannel channel) {
        super(pointer, 0);
        this.channel = channel;
        this.events =
                new EventInbox<>("verbena-abi-cm", this::next, EventChannelHandle::home, EventChannelHandle::refuse);
    }

    static EventChannelHandle create() {
        long pointer = Native.allocate(EVENT_CHANNEL.size());
        var made = new EventChannelHandle(pointer, open());
        Memory.putInt(pointer, made.events.fd());
        return Handles.put(made);
    }

    /// Opens a channel. When the program is to see one device only, its connections are that device's; otherwise
    /// the address decides. Connections within this host go through its memory when the program sees a device for
    /// that, because it has to know the device of each identifier.
    static EventChannel open() {
        Optional<DeviceHandle> only = DeviceHandle.only();
        if (only.isPresent()) {
            return EventChannel.open(only.get().shared());
        }
        return DeviceHandle.seesHost()
                ? EventChannel.open(
                        DeviceChoice.nearest().withDevices(DeviceHandle::at).withDevicesOfHost(DeviceHandle::within))
                : EventChannel.open(DeviceChoice.byAddress().withDevices(DeviceHandle::at));
    }

    /// Opens the same for connections whose devices the program does not see: those within this host go through its
    /// memory, unless the user has chosen devices.
    public static EventChannel openNearest() {
        return DeviceHandle.isChosen()
                ? open()
                : EventChannel.open(DeviceChoice.nearest().withDevices(DeviceHandle::at));
    }

    private @Nullable ConnectionEvent next() throws InterruptedException {
        try {
            return channel.await();
        } catch (InvalidStateException e) {
            return null; // closed
        }
    }

    /// Returns the inbox of an event: that of its identifier, or of the listener for a request.
    private static @Nullable EventInbox<ConnectionEvent> home(ConnectionEvent event) {
        ConnectionId of = event instanceof ConnectRequest request ? request.listener() : event.id();
        EventChannelHandle home = of.isClosed() || event.id().isClosed()
                ? null
                : Handles.find(Handles.pointerOf(of.channel()), EventChannelHandle.class);
        return home == null ? null : home.events;
    }

    /// Refuses a request that no program will get.
    private static void refuse(ConnectionEvent event) {
        if (event instanceof ConnectRequest request) {
            request.id().close();
        }
    }

    /// Puts the pointer to the oldest event's struct into memory; `ENOENT` when there is no event.
    long take(long into) {
        ConnectionEvent event = events.take(CmEvents::isTaken);
        if (event == null) {
            return Errno.ENOENT;
        }
        Memory.putLong(into, CmEvents.ofTaken(event));
        return 0;
    }

    /// Takes back all events of an identifier that is closed, and refuses the requests that came to it.
    void takeBack(ConnectionId id) {
        for (ConnectionEvent event : events.remove(each -> isOf(each, id))) {
            refuse(event);
            if (event.id() != id) {
                takeBack(event.id());
            }
        }
    }

    /// Takes out the events of an identifier whose calls wait from now on.
    List<ConnectionEvent> takeOut(ConnectionId id) {
        return events.remove(each -> isOf(each, id));
    }

    private static boolean isOf(ConnectionEvent event, ConnectionId id) {
        return event.id() == id || (event instanceof ConnectRequest request && request.listener() == id);
    }

    /// Takes an identifier over from another channel, with its events that the program has not got yet
    /// (rdma_migrate_id(3)).
    void takeOver(IdHandle id, EventChannelHandle from) {
        from.events.move(event -> isOf(event, id.id), events, () -> {
            id.id.migrate(channel);
            id.set("channel", pointer);
        });
    }

    @Override
    public EventChannel object() {
        return channel;
    }

    @Override
    protected void release() {
        events.close();
        super.release();
    }
}
