package verbena.abi;

import static verbena.foreign.rdma.VerbsStructs.COMP_CHANNEL;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.foreign.Memory;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.spi.WaitableChannel;

/// A completion channel and its `struct ibv_comp_channel`.
///
/// Its descriptor is an eventfd(2) that counts the events which are there to be taken: a thread that has read it
/// may take one. The thread that completes writes it. But a program's thread that waits in `ibv_get_cq_event` looks
/// after the device itself meanwhile, and takes its event without that: it visits
/// ([decision 0080](../../../../../../docs/decisions/0080-a-c-thread-that-waits.md)).
final class ChannelHandle extends Handle {
    // What C does next: numbers of `ibverbs.c`.
    private static final long TAKEN = 0;
    private static final long POLL = 1;
    private static final long READ = 2;
    private static final long CLOSED = 3;

    /// The channel that this thread visits the device for.
    private static final ThreadLocal<@Nullable ChannelHandle> VISITED = new ThreadLocal<>();

    private static final MemorySegment ONE = Arena.global().allocateFrom(ValueLayout.JAVA_LONG, 1);

    final WaitableChannel channel;
    private final int fd;
    /// The same by another number, so what the program does with its own is its own business.
    private final int ours;
    private final ReentrantLock lock = new ReentrantLock();
    /// Events that the descriptor counts, or that threads have read from it and not taken yet.
    private int counted;
    /// Events that have come and that the descriptor does not count; less than none when one was taken before
    /// [#onNotification()].
    private int uncounted;
    /// A thread visits: events are for that.
    private boolean isVisited;
    /// The program waits for the descriptor, not in a visit.
    private volatile boolean isPolled = true;

    private ChannelHandle(long pointer, WaitableChannel channel, long context) {
        super(pointer, context);
        this.channel = channel;
        int[] counter = Native.eventCounter();
        fd = counter[0];
        ours = counter[1];
    }

    static ChannelHandle of(CompletionChannel channel, long context) {
        if (!(channel instanceof WaitableChannel waitable)) {
            throw new IllegalStateException(channel + " cannot be waited for in C");
        }
        long pointer = Native.allocate(COMP_CHANNEL.size());
        var made = new ChannelHandle(pointer, waitable, context);
        Memory.putLong(pointer + COMP_CHANNEL.at("context"), context);
        Memory.putInt(pointer + COMP_CHANNEL.at("fd"), made.fd);
        waitable.tell(made::onNotification);
        return Handles.put(made);
    }

    @Override
    CompletionChannel object() {
        return channel;
    }

    /// A queue of this channel was armed: the program is about to wait.
    void onArmed() {
        if (isPolled) {
            channel.handOver();
        }
    }

    // ---- events

    /// By the engine.
    private void onNotification() {
        lock.lock();
        try {
            uncounted++;
            count();
        } finally {
            lock.unlock();
        }
    }

    private void count() {
        while (uncounted > 0 && !isVisited) {
            uncounted--;
            counted++;
            boolean _ = Native.write(ours, ONE);
        }
    }

    /// The program has read the descriptor: takes an event for it. `ENOENT` when it was of a queue that is gone.
    long take(long into) {
        isPolled = true;
        Optional<CompletionQueue> ready;
        lock.lock();
        try {
            counted--;
            ready = channel.take();
        } finally {
            lock.unlock();
        }
        return put(ready, into) ? 0 : Errno.ENOENT;
    }

    /// The queue, and what the program calls it.
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

    /// What to do to wait for an event: poll and come again, or read the descriptor; or it is there, or there will
    /// never be one.
    static long await(long pointer, long into, MemorySegment pollfds) {
        ChannelHandle visited = VISITED.get();
        return visited == null
                ? Handles.get(pointer, ChannelHandle.class).visit(into, pollfds)
                : visited.proceed(visited.channel.goOn(pollfds), into);
    }

    private long visit(long into, MemorySegment pollfds) {
        lock.lock();
        try {
            if (isVisited || counted > 0) {
                return READ;
            }
            isVisited = true;
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
            isVisited = false;
            ready = channel.take();
            // None: what has come was of a queue that is gone.
            uncounted = ready.isPresent() ? uncounted - 1 : Math.min(uncounted, 0);
            count();
        } finally {
            lock.unlock();
        }
        return put(ready, into) ? TAKEN : channel.isOpen() ? READ : CLOSED;
    }

    /// This thread's visit, if there is one, has ended without an event.
    static void endVisit() {
        ChannelHandle visited = VISITED.get();
        if (visited == null) {
            return;
        }
        VISITED.set(null);
        visited.channel.endVisit();
        visited.lock.lock();
        try {
            visited.isVisited = false;
            visited.count();
        } finally {
            visited.lock.unlock();
        }
    }

    @Override
    void release() {
        Native.close(fd);
        Native.close(ours);
        super.release();
    }
}
