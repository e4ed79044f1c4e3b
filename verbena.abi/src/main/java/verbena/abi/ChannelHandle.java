package verbena.abi;

import static verbena.ibverbs.abi.VerbsStructs.COMP_CHANNEL;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.InvalidStateException;

/// A completion channel and its `struct ibv_comp_channel`.
final class ChannelHandle extends Handle {
    private static final long EVENT_BYTES = 16;

    final CompletionChannel channel;
    private final EventPipe events;

    private ChannelHandle(long pointer, CompletionChannel channel, long context) {
        super(pointer, context);
        this.channel = channel;
        this.events = new EventPipe("verbena-abi-channel", EVENT_BYTES, this::next);
    }

    static ChannelHandle of(CompletionChannel channel, long context) {
        long pointer = Native.allocate(COMP_CHANNEL.size());
        var made = new ChannelHandle(pointer, channel, context);
        Native.putLong(pointer + COMP_CHANNEL.at("context"), context);
        Native.putInt(pointer + COMP_CHANNEL.at("fd"), made.events.fd());
        return Handles.put(made);
    }

    @Override
    CompletionChannel object() {
        return channel;
    }

    /// The queue and what the program calls it.
    private boolean next(MemorySegment event) throws InterruptedException {
        while (true) {
            Optional<CompletionQueue> ready;
            try {
                ready = channel.await(EventPipe.ALWAYS);
            } catch (InvalidStateException e) {
                return false; // closed
            }
            var queue = Handles.find(Handles.pointerOf(ready.orElse(null)), CompletionQueueHandle.class);
            if (queue != null) {
                event.set(ValueLayout.JAVA_LONG, 0, queue.pointer);
                event.set(ValueLayout.JAVA_LONG, 8, queue.programsOwn());
                return true;
            }
        }
    }

    @Override
    void release() {
        events.close();
        super.release();
    }
}
