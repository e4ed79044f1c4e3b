package verbena.abi.rsocket;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import verbena.verbs.CompletionQueue;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.Context;
import verbena.verbs.internal.WaitableChannel;

/// A watch that brings the completions of a device to the [Rsocket]s there
/// ([decision 38](../../../../../../../docs/decisions/38-rsockets.md)). All of them share one
/// completion channel.
///
/// A call that waits leads: its thread visits the device, does the device's work itself, and takes the
/// notifications of all rsockets there. One thread leads at a time. While none does, the
/// [StreamLooker] looks after an rsocket that a thread waits for.
final class StreamWatch {
    /// The answer of [#visit] when the device cannot be used now.
    static final int ELSEWHERE = WaitableChannel.ELSEWHERE;

    private static final Map<Context, StreamWatch> ALL = new HashMap<>();

    private final Context context;
    private final WaitableChannel channel;
    private final Map<CompletionQueue, Attended> byQueue = new ConcurrentHashMap<>();
    private final AtomicReference<@Nullable Thread> leader = new AtomicReference<>();
    /// Threads that wait for an rsocket of this device without leading.
    private final AtomicInteger followers = new AtomicInteger();
    /// Whether the leader's condition may have come true without a notification.
    private volatile boolean poked;
    /// The number of streams, guarded by the class.
    private int streams;

    private StreamWatch(Context context) {
        this.context = context;
        this.channel = (WaitableChannel) context.createCompletionChannel();
        channel.waitSource().addListener(this::onNotification);
    }

    /// Joins the watch of this device: the same one for all its rsockets, until the last of them has left it.
    static StreamWatch join(Context context) {
        synchronized (ALL) {
            StreamWatch watch = ALL.computeIfAbsent(context, StreamWatch::new);
            watch.streams++;
            StreamLooker.begin();
            return watch;
        }
    }

    /// Handles an rsocket that leaves.
    ///
    /// @param queue is none of this device's any more; null when it has not been made
    void leave(@Nullable CompletionQueue queue) {
        if (queue != null) {
            byQueue.remove(queue);
        }
        synchronized (ALL) {
            if (--streams == 0) {
                ALL.remove(context);
                channel.close();
            }
        }
    }

    CompletionQueue createQueue(int entries, Attended of) {
        CompletionQueue made =
                context.createCompletionQueue(CompletionQueueOptions.of(entries).withChannel(channel));
        byQueue.put(made, of);
        return made;
    }

    // ---- without a leader

    /// Handles a notification, on the thread that works for the device, which may be in the middle of any call.
    private void onNotification() {
        if (leader.get() == null) {
            Attended next = next();
            while (next != null) {
                if (next.onNotification()) {
                    StreamLooker.look(next);
                }
                next = next();
            }
        }
    }

    private @Nullable Attended next() {
        Optional<CompletionQueue> taken = channel.take();
        while (taken.isPresent()) {
            Attended of = byQueue.get(taken.get());
            if (of != null) {
                return of;
            }
            taken = channel.take();
        }
        return null;
    }

    /// Counts a thread that begins to wait without leading, or ends that.
    void follow(int change) {
        int count = followers.addAndGet(change);
        assert count >= 0 : count + " threads follow";
        if (change > 0) {
            handOver();
        }
    }

    /// Hands the device over to its own thread: the program is likely to wait in the kernel, where this library
    /// cannot see it.
    void handOver() {
        channel.handOver();
    }

    // ---- the leader

    /// Returns whether this thread leads from now on.
    boolean tryLead() {
        return leader.compareAndSet(null, Thread.currentThread());
    }

    /// Begins to sleep as the leader: how many descriptors to poll; 0 when there is something to look at; or
    /// [#ELSEWHERE]. Only after a positive answer the visit is under way.
    int visit(MemorySegment pollfds) {
        return channel.visit(pollfds);
    }

    /// Continues the same, after the descriptors were polled.
    int goOn(MemorySegment pollfds) {
        return channel.goOn(pollfds);
    }

    /// Returns whether the leader was called since this was asked last.
    boolean takePoke() {
        boolean was = poked;
        if (was) {
            poked = false;
        }
        return was;
    }

    /// Calls the leader, if that is another thread: what it waits for may have come.
    void poke() {
        Thread now = leader.get();
        if (now != null && now != Thread.currentThread()) {
            poked = true; // before the wake-up: a leader announces its sleep, then looks for this
            channel.wake();
        }
    }

    /// Leads no more. What has come is brought to the rsockets.
    ///
    /// @param isVisiting whether a visit is under way
    void endLead(boolean isVisiting) {
        assert leader.get() == Thread.currentThread();
        if (isVisiting) {
            channel.endVisit();
        }
        bring();
        leader.set(null); // before the look: a thread that notifies does so first, then looks for a leader
        bring();
        if (followers.get() > 0) {
            handOver();
        }
    }

    /// Brings all notifications there are to the rsockets, without a lock of one held.
    void bring() {
        Attended next = next();
        while (next != null) {
            if (next.onNotification()) {
                next.lookAfter();
            }
            next = next();
        }
    }
}
