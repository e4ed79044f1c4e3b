package verbena.nio;

import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamChannel;

/// Selects channels of ours together with those of the JDK's own provider. A selector of the JDK's inside sleeps for
/// all of them. Streams have no descriptor: a stream that may have become ready puts its keys among the `news`, and
/// wakes the sleeper ([decision 0101](../../../../../../docs/decisions/0101-one-selector-for-both.md)).
///
/// Threads as [Selector] has them: one selects at a time, and holds the selector and its selected-key set.
final class RdmaSelector extends AbstractSelector {
    private static final long FOREVER = Long.MAX_VALUE;

    private final Selector inner;
    private final Set<SelectionKey> keys = ConcurrentHashMap.newKeySet();
    private final Set<SelectionKey> keysView = Collections.unmodifiableSet(keys);
    private final Set<SelectionKey> selected = new HashSet<>();
    private final Set<SelectionKey> selectedView = new RemovableSet<>(selected);

    /// Keys to look at, by any thread.
    private final Queue<RdmaKey> news = new ConcurrentLinkedQueue<>();
    /// The selecting thread sleeps, or is about to.
    private volatile boolean isAsleep;

    private final AtomicBoolean isWoken = new AtomicBoolean();

    // By the selecting thread.
    /// Keys of ours to look at in each selection: what was ready, and has not been found otherwise.
    private final Set<RdmaKey> hot = new LinkedHashSet<>();
    private final List<RdmaKey> found = new ArrayList<>();
    private boolean isSelecting;

    private final SpinGuess spin = new SpinGuess();

    RdmaSelector(SelectorProvider provider) throws IOException {
        super(provider);
        this.inner = Jdk.provider().openSelector();
    }

    // ---- keys

    @Override
    protected SelectionKey register(AbstractSelectableChannel channel, int ops, @Nullable Object attachment) {
        Selected ours = ours(channel);
        if (ours == null && channel.provider() != Jdk.provider()) {
            throw new IllegalSelectorException();
        }
        var key = new RdmaKey(this, channel, ours);
        key.attach(attachment);
        key.begin(ops);
        keys.add(key);
        if (ours != null) {
            ours.add(key);
        }
        if (!isOpen()) {
            keys.remove(key);
            forget(key);
            throw new ClosedSelectorException();
        }
        try {
            key.join(inner);
        } catch (IOException | CancelledKeyException e) {
            keys.remove(key);
            forget(key);
            throw e instanceof CancelledKeyException cancelled ? cancelled : new IllegalStateException(e);
        }
        key.poke();
        return key;
    }

    private static @Nullable Selected ours(SelectableChannel channel) {
        return switch (channel) {
            case RdmaSocketChannel socket -> socket.selected();
            case RdmaServerSocketChannel server -> server.selected();
            default -> null;
        };
    }

    private static void forget(RdmaKey key) {
        Selected ours = key.ours();
        if (ours != null) {
            ours.remove(key);
        }
    }

    @Override
    public Set<SelectionKey> keys() {
        checkOpen();
        return keysView;
    }

    @Override
    public Set<SelectionKey> selectedKeys() {
        checkOpen();
        return selectedView;
    }

    private void checkOpen() {
        if (!isOpen()) {
            throw new ClosedSelectorException();
        }
    }

    // ---- news, by any thread

    void poke(RdmaKey key) {
        if (key.isNews.compareAndSet(false, true)) {
            news.add(key);
        }
        if (isAsleep) {
            inner.wakeup();
        }
    }

    @Override
    public Selector wakeup() {
        isWoken.set(true);
        if (isAsleep) {
            inner.wakeup();
        }
        return this;
    }

    // ---- selecting

    @Override
    public int selectNow() throws IOException {
        return selectFor(0, null);
    }

    @Override
    public int select(long timeout) throws IOException {
        return selectFor(nanos(timeout), null);
    }

    @Override
    public int select() throws IOException {
        return selectFor(FOREVER, null);
    }

    @Override
    public int select(Consumer<SelectionKey> action, long timeout) throws IOException {
        return selectFor(nanos(timeout), Objects.requireNonNull(action));
    }

    @Override
    public int select(Consumer<SelectionKey> action) throws IOException {
        return selectFor(FOREVER, Objects.requireNonNull(action));
    }

    @Override
    public int selectNow(Consumer<SelectionKey> action) throws IOException {
        return selectFor(0, Objects.requireNonNull(action));
    }

    private static long nanos(long timeout) {
        if (timeout < 0) {
            throw new IllegalArgumentException("timeout: zero or more, got " + timeout);
        }
        return timeout == 0 ? FOREVER : TimeUnit.MILLISECONDS.toNanos(timeout);
    }

    private int selectFor(long nanos, @Nullable Consumer<SelectionKey> action) throws IOException {
        synchronized (this) {
            checkOpen();
            if (isSelecting) {
                throw new IllegalStateException("select: a selection is under way in this thread");
            }
            isSelecting = true;
            try {
                synchronized (selectedView) {
                    removeCancelled();
                    look(nanos);
                    int updated = report(action);
                    removeCancelled();
                    return updated;
                }
            } finally {
                isSelecting = false;
            }
        }
    }

    /// Finds the keys that are ready; waits for the first, at most so long.
    private void look(long nanos) throws IOException {
        long start = nanos == 0 || nanos == FOREVER ? 0 : System.nanoTime();
        boolean mayWait = nanos > 0;
        while (true) {
            lookAtStreams();
            boolean sleeps = found.isEmpty() && !isWoken.get() && mayWait;
            if (sleeps) {
                long left = nanos == FOREVER ? FOREVER : nanos - (System.nanoTime() - start);
                mayWait = left > 0 && sleep(left);
            } else {
                int _ = inner.selectNow();
            }
            collectKernel();
            if (isWoken.getAndSet(false) || !found.isEmpty() || !mayWait || !isOpen()) {
                if (sleeps) {
                    lookAtStreams(); // what has come while it slept
                }
                return;
            }
        }
    }

    /// Sleeps until there may be something; false when the thread is interrupted.
    private boolean sleep(long nanos) throws IOException {
        spin.begin();
        while (news.isEmpty() && !isWoken.get() && spin.looks()) {
            StreamChannel.drive();
            Thread.onSpinWait();
        }
        if (!news.isEmpty() || isWoken.get()) {
            spin.end();
            return true;
        }
        StreamChannel.handOver();
        isAsleep = true; // before the look at the news: a thread that adds some does so first, then reads this
        try {
            if (news.isEmpty() && !isWoken.get()) {
                begin();
                try {
                    int _ = nanos == FOREVER ? inner.select() : inner.select(millis(nanos));
                } finally {
                    end();
                }
            }
        } finally {
            isAsleep = false;
            spin.end();
        }
        return !Thread.currentThread().isInterrupted();
    }

    private static long millis(long nanos) {
        return Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos + 999_999));
    }

    private void lookAtStreams() throws IOException {
        RdmaKey next = news.poll();
        while (next != null) {
            next.isNews.set(false);
            if (next.isValid()) {
                if (joins(next) && next.ours() != null) {
                    hot.add(next);
                }
            }
            next = news.poll();
        }
        for (Iterator<RdmaKey> each = hot.iterator(); each.hasNext(); ) {
            RdmaKey key = each.next();
            Selected ours = key.ours();
            int ready = ours == null || !key.isValid() ? 0 : ours.readyOps(key.interest());
            if (ready == 0) {
                each.remove();
            } else {
                find(key, ready);
            }
        }
    }

    private boolean joins(RdmaKey key) throws IOException {
        try {
            key.join(inner);
            return true;
        } catch (ClosedChannelException | CancelledKeyException e) {
            return false; // its end cancels the key
        }
    }

    private void collectKernel() {
        if (!isOpen()) {
            return;
        }
        for (SelectionKey below : inner.selectedKeys()) {
            if (below.attachment() instanceof RdmaKey key && below.isValid()) {
                try {
                    find(key, below.readyOps());
                } catch (CancelledKeyException e) {
                    // closed at this moment
                }
            }
        }
        inner.selectedKeys().clear();
    }

    private void find(RdmaKey key, int ready) {
        if (key.found == 0) {
            found.add(key);
        }
        key.found |= ready;
    }

    /// Hands out what was found, and counts the keys whose ready operations are new.
    private int report(@Nullable Consumer<SelectionKey> action) {
        int updated = 0;
        List<RdmaKey> ready = List.copyOf(found);
        found.clear();
        for (RdmaKey key : ready) {
            int ops = key.found & key.interest();
            key.found = 0;
            if (ops != 0 && key.isValid()) {
                updated += report(key, ops, action);
            }
        }
        return updated;
    }

    private int report(RdmaKey key, int ops, @Nullable Consumer<SelectionKey> action) {
        if (action != null) {
            key.ready(ops);
            action.accept(key);
            checkOpen();
            return 1;
        }
        if (selected.add(key)) {
            key.ready(ops);
            return 1;
        }
        int all = key.readyNow() | ops;
        boolean isNew = all != key.readyNow();
        key.ready(all);
        return isNew ? 1 : 0;
    }

    // ---- the end of keys

    private void removeCancelled() throws IOException {
        Set<SelectionKey> cancelled = cancelledKeys();
        boolean hasLeft = false;
        synchronized (cancelled) {
            for (SelectionKey each : cancelled) {
                if (each instanceof RdmaKey key) {
                    hasLeft |= remove(key);
                }
            }
            cancelled.clear();
        }
        if (hasLeft) {
            int _ = inner.selectNow(); // its own keys go now; what is ready stays there to be collected
        }
    }

    private boolean remove(RdmaKey key) {
        keys.remove(key);
        selected.remove(key);
        hot.remove(key);
        forget(key);
        boolean was = key.leave();
        deregister(key);
        SelectableChannel channel = key.channel();
        if (key.ours() == null && !channel.isOpen() && !channel.isRegistered()) {
            Jdk.release(channel);
        }
        return was;
    }

    @Override
    protected void implCloseSelector() throws IOException {
        wakeup();
        synchronized (this) {
            synchronized (selectedView) {
                for (SelectionKey each : List.copyOf(keys)) {
                    if (each instanceof RdmaKey key) {
                        key.cancel();
                        boolean _ = remove(key);
                    }
                }
                news.clear();
                inner.close();
            }
        }
    }
}
