package verbena.abi;

import static verbena.ibverbs.abi.CmStructs.EVENT_CHANNEL;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import verbena.verbs.InvalidStateException;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.EventChannel;

/// A channel of the connection manager's events and its `struct rdma_event_channel`.
final class EventChannelHandle extends Handle {
    final EventChannel channel;
    private final EventPipe events;

    private EventChannelHandle(long pointer, EventChannel channel) {
        super(pointer, 0);
        this.channel = channel;
        this.events = new EventPipe("verbena-abi-cm", Long.BYTES, this::next);
    }

    static EventChannelHandle create() {
        long pointer = Native.allocate(EVENT_CHANNEL.size());
        var made = new EventChannelHandle(pointer, open());
        Native.putInt(pointer, made.events.fd());
        return Handles.put(made);
    }

    /// When the program is to see one device only, its connections are that device's; otherwise the address tells
    /// which.
    static EventChannel open() {
        return DeviceHandle.only()
                .map(device -> EventChannel.open(device.shared()))
                .orElseGet(() -> EventChannel.open(DeviceHandle::at));
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
