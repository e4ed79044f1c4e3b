package verbena.netty;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.ThreadAwareExecutor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamChannel;
import verbena.stream.waiting.StreamSleep;
import verbena.verbs.internal.DeviceWait;

/// The input and output of an event loop whose channels are streams over RDMA: [VerbenaSocketChannel] and
/// [VerbenaServerSocketChannel].
///
/// ```java
/// var group = new MultiThreadIoEventLoopGroup(VerbenaIoHandler.newFactory());
/// new Bootstrap().group(group).channel(VerbenaSocketChannel.class)
/// ```
///
/// The thread of the event loop does the work of the device when it has nothing else to do, and sleeps there. So an
/// arrival wakes one thread. When several event loops have the same device, one of them sleeps there at a time.
///
/// The rules of [IoHandler] hold for threads and lifetime: the event loop makes it, calls it and destroys it. A
/// handle that is not of a Verbena channel throws [IllegalArgumentException].
///
/// @since 0.1
public final class VerbenaIoHandler implements IoHandler {
    private static final long FOREVER = Long.MAX_VALUE;

    private final ThreadAwareExecutor executor;
    private final Parked parked = new Parked();
    private final StreamSleep sleep = new StreamSleep(parked, this::hasNews);

    /// The last of the registrations to look at, by any thread; each leads to the next.
    private final AtomicReference<@Nullable StreamRegistration> news = new AtomicReference<>();

    private volatile boolean isWoken;

    // By the thread of the event loop.
    private final Set<StreamRegistration> all = new HashSet<>();
    /// The registrations to look at in each round: they were ready, and have not been found otherwise since.
    private final List<StreamRegistration> hot = new ArrayList<>();

    private VerbenaIoHandler(ThreadAwareExecutor executor) {
        this.executor = executor;
    }

    /// Returns a factory for an event loop group.
    public static IoHandlerFactory newFactory() {
        return new IoHandlerFactory() {
            @Override
            public IoHandler newHandler(ThreadAwareExecutor executor) {
                return new VerbenaIoHandler(executor);
            }

            // An event loop that was suspended goes on in another thread, which #initialize() gets to know.
            @Override
            public boolean isChangingThreadSupported() {
                return true;
            }
        };
    }

    /// The place where the thread sleeps when it has no streams, or another thread is at the device.
    private static final class Parked implements StreamSleep.Elsewhere {
        private volatile @Nullable Thread thread;

        @Override
        public boolean watch(DeviceWait at) {
            return true;
        }

        @Override
        public void sleep(long nanos) {
            if (nanos == FOREVER) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, nanos);
            }
        }

        @Override
        public void wake() {
            LockSupport.unpark(thread);
        }
    }

    @Override
    public void initialize() {
        parked.thread = Thread.currentThread();
    }

    // ---- registrations

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return StreamHandle.class.isAssignableFrom(handleType);
    }

    @Override
    public IoRegistration register(IoHandle handle) {
        if (!(handle instanceof StreamHandle ours)) {
            throw new IllegalArgumentException("handle: one of a Verbena channel, got " + handle);
        }
        var made = new StreamRegistration(this, ours);
        all.add(made);
        ours.registered();
        return made;
    }

    void forget(StreamRegistration cancelled) {
        all.remove(cancelled);
        if (cancelled.isStream) {
            sleep.remove();
        }
        cancelled.handle().unregistered();
    }

    // ---- news, by any thread

    void poke(StreamRegistration registration) {
        if (registration.isNews.compareAndSet(false, true)) {
            StreamRegistration before;
            do {
                before = news.get();
                registration.nextNews = before;
            } while (!news.compareAndSet(before, registration));
        }
        sleep.wake();
    }

    @Override
    public void wakeup() {
        if (!executor.isExecutorThread(Thread.currentThread())) {
            isWoken = true;
            sleep.wake();
        }
    }

    private boolean hasNews() {
        return isWoken || news.get() != null;
    }

    // ---- rounds

    @Override
    public int run(IoHandlerContext context) {
        int handled = look(context);
        if (handled == 0) {
            if (context.canBlock()) {
                sleep(context);
            }
            isWoken = false; // what a wake-up was for is there before it, and the event loop looks after this round
            handled = look(context);
        }
        return handled;
    }

    private void sleep(IoHandlerContext context) {
        long nanos = context.deadlineNanos() == -1 ? FOREVER : context.delayNanos(System.nanoTime());
        if (nanos > 0) {
            try {
                boolean _ = sleep.sleep(nanos);
            } catch (IOException e) {
                throw new UncheckedIOException(e); // parking throws none
            }
        }
    }

    /// Handles the ready registrations; returns their number.
    private int look(IoHandlerContext context) {
        long start = context.shouldReportActiveIoTime() ? System.nanoTime() : 0;
        takeNews();
        int handled = 0;
        int kept = 0;
        int before = hot.size();
        for (int i = 0; i < before; i++) {
            StreamRegistration next = hot.get(i);
            if (handle(next)) {
                hot.set(kept++, next);
                handled++;
            } else {
                next.isHot = false;
            }
        }
        while (hot.size() > kept) {
            hot.removeLast();
        }
        if (handled > 0 && context.shouldReportActiveIoTime()) {
            context.reportActiveIoTime(System.nanoTime() - start);
        }
        return handled;
    }

    private void takeNews() {
        StreamRegistration next = news.getAndSet(null);
        while (next != null) {
            StreamRegistration each = next;
            next = each.nextNews;
            each.nextNews = null;
            each.isNews.set(false); // from now on it can be news again
            if (!each.isHot) {
                each.isHot = true;
                hot.add(each);
            }
        }
    }

    private boolean handle(StreamRegistration registration) {
        if (!registration.isValid()) {
            return false;
        }
        StreamHandle handle = registration.handle();
        StreamChannel stream = handle.stream();
        if (stream != null) {
            if (!registration.isStream) {
                registration.isStream = true;
                sleep.add();
            }
            sleep.found(stream.context());
        }
        int ready = handle.readyOps(registration.interestOps());
        if (ready == 0) {
            return false;
        }
        handle.handle(registration, StreamOps.of(ready));
        return true;
    }

    // ---- the end

    @Override
    public void prepareToDestroy() {
        for (StreamRegistration each : List.copyOf(all)) {
            each.handle().close();
        }
    }

    /// Destroys the handler. An event loop may end without [#prepareToDestroy()], when its end is asked for at a
    /// certain moment.
    @Override
    public void destroy() {
        prepareToDestroy();
    }

    @Override
    public String toString() {
        return "VerbenaIoHandler[" + all.size() + " channels]";
    }
}
