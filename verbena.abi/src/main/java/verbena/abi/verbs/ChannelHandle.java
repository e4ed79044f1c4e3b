package verbena.abi.verbs;

import static verbena.foreign.rdma.VerbsStructs.COMP_CHANNEL;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.abi.Errno;
import verbena.abi.Handle;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.abi.PollableDescriptor;
import verbena.foreign.Memory;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.internal.WaitableChannel;

/// A completion channel and its `struct ibv_comp_channel`.
///
/// Its descriptor is readable as long as there are events to be taken: the thread that completes makes it so. But a
/// program's thread that waits in `ibv_get_cq_event` looks after the device itself meanwhile, and takes its event
/// without that: it visits
/// ([decision 13](../../../../../../../docs/decisions/13-waiting.md)).
public final class ChannelHandle extends Handle {
    // What C does next: numbers of `ibverbs.c`.
    private static final long TAKEN = 0;
    private static final long POLL = 1;
    private static final long READ = 2;
    private static final long CLOSED = 3;

    /// The channel that this thread visits the device for.
    private static final ThreadLocal<@Nullable ChannelHandle> VISITED = new ThreadLocal<>();

    final WaitableChannel channel;
    private final PollableDescriptor descriptor = new PollableDescriptor();
    private final ReentrantLock lock = new ReentrantLock();
    /// A thread visits: events are for that.
    private boolean isVisited;
    /// The program waits for the descriptor, not in a visit.
    private volatile boolean isPolled = true;

    private ChannelHandle(long pointer, WaitableChannel channel, long context) {
        super(pointer, context);
        this.channel = channel;
    }

    static ChannelHandle of(CompletionChannel channel, long context) {
        if (!(channel instanceof WaitableChannel waitable)) {
            throw new IllegalStateException(channel + " cannot be waited for in C");
        }
        long pointer = Native.allocate(COMP_CHANNEL.size());
        var made = new ChannelHandle(pointer, waitable, context);
        Memory.putLong(pointer + COMP_CHANNEL.at("context"), context);
        Memory.putInt(pointer + COMP_CHANNEL.at("fd"), made.descriptor.fd());
        waitable.waitSource().addListener(made::onNotification);
        return Handles.put(made);
    }

    @Override
    public CompletionChannel object() {
        return channel;
    }

    /// Handles a queue of this channel that was armed: the program is about to wait.
    void onArmed() {
        if (isPolled) {
            channel.handOver();
        }
    }

    // ---- events

    /// Handles a notification; called by the engine.
    private void onNotification() {
        lock.lock();
        try {
            tell();
        } finally {
            lock.unlock();
        }
    }

    /// Handles a queue of this channel that is closed, and with it its event is gone.
    void onQueueClosed() {
        onNotification();
    }

    /// Notifies the program of an event. While a thread leads in a call, events are for that thread.
    private void tell() {
        assert lock.isHeldByCurrentThread();
        descriptor.events(isVisited || !channel.isOpen() ? 0 : channel.notifications());
    }

    /// Takes an event when the program has seen the descriptor readable; answers `ENOENT` when there is none any
    /// more.
    long take(long into) {
        isPolled = true;
        Optional<CompletionQueue> ready;
        lock.lock();
        try {
            ready = channel.take();
            tell();
        } finally {
            lock.unlock();
        }
        return put(ready, into) ? 0 : Errno.ENOENT;
    }

    /// Writes the queue, and the program's own value for it.
    private static boolean put(Optional<CompletionQueue> ready, long into) {
        var queue = Handles.find(Handles.pointerOf(ready.orElse(null)), CompletionQueueHandle.class);
        if (queue == null || !queue.onEventTaken()) {
            return false;
        }
        Memory.putLong(into, queue.pointer);
        Memory.putLong(into + 8, queue.programsOwn());
        return true;
    }

    // ---- visits

    /// Returns the next step in waiting for an event: poll and come again, or read the descriptor. An event may be
    /// there already, or can never come.
    static long await(long pointer, long into, MemorySegment pollfds) {
        ChannelHandle visited = VISITED.get();
        return visited == null
                ? Handles.get(pointer, ChannelHandle.class).visit(into, pollfds)
                : visited.proceed(visited.channel.goOn(pollfds), into);
    }

    private long visit(long into, MemorySegment pollfds) {
        lock.lock();
        try {
            if (isVisited || channel.notifications() > 0) {
                return READ;
            }
            isVisited = true;
            tell();
        } finally {
            lock.unlock();
        }
        isPolled = false;
        VISITED.set(this);
        return proceed(channel.visit(pollfds), into);
    }

    private long proceed(int pollfds, long into) {
        if (pollfds > 0) {
            Memory.putLong(into, pollfds);
            return POLL;
        }
        VISITED.set(null);
        Optional<CompletionQueue> ready;
        lock.lock();
        try {
            assert isVisited;
            isVisited = false;
            ready = channel.take();
            tell();
        } finally {
            lock.unlock();
        }
        return put(ready, into) ? TAKEN : channel.isOpen() ? READ : CLOSED;
    }

    /// Ends the lead of this thread, if it had one, without an event.
    public static void endVisit() {
        ChannelHandle visited = VISITED.get();
        if (visited == null) {
            return;
        }
        VISITED.set(null);
        visited.channel.endVisit();
        visited.lock.lock();
        try {
            visited.isVisited = false;
            visited.tell();
        } finally {
            visited.lock.unlock();
        }
    }

    @Override
    protected void release() {
        lock.lock(); // against a notification that comes late
        try {
            descriptor.close();
        } finally {
            lock.unlock();
        }
        super.release();
    }
}
