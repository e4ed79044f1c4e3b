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
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamChannel;

/// A selector of channels of ours together with those of the JDK's own provider. A selector of the JDK's inside
/// sleeps for the latter. Streams have no descriptor: a stream that may have become ready puts its keys among the
/// `news`, and wakes the sleeper ([decision 30](../../../../../../docs/decisions/30-selectors.md)).
///
/// Threads as [Selector] has them: one selects at a time, and holds the selector and its selected-key set.
final class RdmaSelector extends AbstractSelector {
    private static final long FOREVER = Long.MAX_VALUE;
    /// While streams are ready all the time, the kernel is asked once in so many selections.
    private static final int UNASKED_MAX = 16;

    private final Selector inner;
    private final Set<SelectionKey> keys = ConcurrentHashMap.newKeySet();
    private final Set<SelectionKey> keysView = Collections.unmodifiableSet(keys);
    private final SelectedKeys selected = new SelectedKeys();

    /// The last of the keys to look at, by any thread; each leads to the next.
    private final AtomicReference<@Nullable RdmaKey> news = new AtomicReference<>();

    private volatile boolean isWoken;
    private final SelectorSleep sleep;
    private final Consumer<RdmaKey> poke = new Poke();

    // By the selecting thread.
    /// The keys of ours to look at in each selection: they were ready, and have not been found otherwise since.
    private final List<RdmaKey> hot = new ArrayList<>();
    private final List<RdmaKey> found = new ArrayList<>();
    private boolean isSelecting;
    /// Selections since the kernel was last asked.
    private int unasked;

    private RdmaSelector(SelectorProvider provider) throws IOException {
        super(provider);
        this.inner = Jdk.provider().openSelector();
        this.sleep = new SelectorSleep(inner, new HasNews());
    }

    /// Opens one. The JVM loads this class only then, and not to check its caller, as it would for a constructor.
    static AbstractSelector open(SelectorProvider provider) throws IOException {
        return new RdmaSelector(provider);
    }

    // ---- keys

    @Override
    protected SelectionKey register(AbstractSelectableChannel channel, int ops, @Nullable Object attachment) {
        Selected ours = ours(channel);
        if (ours == null && !Jdk.isNative(channel)) {
            throw new IllegalSelectorException();
        }
        var key = new RdmaKey(this, poke, channel, ours);
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
            join(key);
        } catch (IOException | CancelledKeyException e) {
            keys.remove(key);
            forget(key);
            throw e instanceof CancelledKeyException cancelled ? cancelled : new IllegalStateException(e);
        }
        key.poke();
        return key;
    }

    private static @Nullable Selected ours(SelectableChannel channel) {
        if (channel instanceof RdmaSocketChannel socket) { // no switch by type: the first one is a lambda too
            return socket.selected();
        }
        return channel instanceof RdmaServerSocketChannel server ? server.selected() : null;
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
        return selected;
    }

    private void checkOpen() {
        if (!isOpen()) {
            throw new ClosedSelectorException();
        }
    }

    // ---- news, by any thread

    void poke(RdmaKey key) {
        if (key.isNews.compareAndSet(false, true)) {
            RdmaKey before;
            do {
                before = news.get();
                key.nextNews = before;
            } while (!news.compareAndSet(before, key));
        }
        sleep.end();
    }

    @Override
    public Selector wakeup() {
        isWoken = true;
        sleep.end();
        return this;
    }

    // Classes, and no lambdas: a first connection passes here.

    private final class Poke implements Consumer<RdmaKey> {
        @Override
        public void accept(RdmaKey key) {
            poke(key);
        }
    }

    private final class HasNews implements BooleanSupplier {
        @Override
        public boolean getAsBoolean() {
            return isWoken || news.get() != null;
        }
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
                synchronized (selected) {
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
        boolean mayBeReady = false;
        while (true) {
            lookAtStreams();
            boolean isOver = !found.isEmpty() || isWoken || !mayWait || !isOpen();
            if (mayBeReady
                    || (isOver && sleep.hasKernel() && (nanos == 0 || found.isEmpty() || ++unasked >= UNASKED_MAX))) {
                int _ = inner.selectNow();
                unasked = 0;
                collectKernel();
            }
            if (isOver || !found.isEmpty()) {
                isWoken = false;
                return;
            }
            long left = nanos == FOREVER ? FOREVER : nanos - (System.nanoTime() - start);
            mayWait = left > 0;
            mayBeReady = mayWait && sleep(left);
            mayWait &= !Thread.currentThread().isInterrupted();
        }
    }

    private boolean sleep(long nanos) throws IOException {
        begin();
        try {
            return sleep.begin(nanos);
        } finally {
            end();
        }
    }

    private void lookAtStreams() throws IOException {
        RdmaKey next = news.getAndSet(null);
        while (next != null) {
            RdmaKey key = next;
            next = key.nextNews;
            key.nextNews = null;
            key.isNews.set(false); // from now on it can be news again
            if (key.isValid() && joins(key) && key.ours() != null && !key.isHot) {
                key.isHot = true;
                hot.add(key);
            }
        }
        int kept = 0;
        for (int i = 0; i < hot.size(); i++) {
            RdmaKey key = hot.get(i);
            if (isReady(key)) {
                hot.set(kept++, key);
            } else {
                key.isHot = false;
            }
        }
        while (hot.size() > kept) {
            hot.removeLast();
        }
    }

    private boolean isReady(RdmaKey key) {
        Selected ours = key.ours();
        if (ours == null || !key.isValid()) {
            return false;
        }
        int ready = ours.readyOps(key.interest());
        StreamChannel stream = ours.stream();
        if (stream != null) {
            if (!key.isStream) {
                key.isStream = true;
                sleep.addStream();
            }
            sleep.found(stream);
        } else if (key.isStream) {
            key.isStream = false;
            sleep.removeStream();
        }
        if (ready != 0) {
            find(key, ready);
        }
        return ready != 0;
    }

    private boolean joins(RdmaKey key) throws IOException {
        try {
            join(key);
            return true;
        } catch (ClosedChannelException | CancelledKeyException e) {
            return false; // its end cancels the key
        }
    }

    private void join(RdmaKey key) throws IOException {
        if (key.join(inner)) {
            sleep.addKernel(key);
        } else if (key.hasLeftKernel()) {
            sleep.removeKernel(key);
        }
    }

    private void collectKernel() {
        if (!isOpen()) {
            return;
        }
        Set<SelectionKey> ready = inner.selectedKeys();
        if (ready.isEmpty()) {
            return;
        }
        for (SelectionKey below : ready) {
            if (below.attachment() instanceof RdmaKey key && below.isValid()) {
                try {
                    find(key, below.readyOps());
                } catch (CancelledKeyException e) {
                    // closed at this moment
                }
            }
        }
        ready.clear();
    }

    private void find(RdmaKey key, int ready) {
        if (key.found == 0) {
            found.add(key);
        }
        key.found |= ready;
    }

    /// Reports the keys that were found, and returns the number of those whose ready operations are new.
    private int report(@Nullable Consumer<SelectionKey> action) {
        int updated = 0;
        try {
            for (int i = 0; i < found.size(); i++) {
                RdmaKey key = found.get(i);
                int ops = key.found & key.interest();
                if (ops != 0 && key.isValid()) {
                    updated += report(key, ops, action);
                }
            }
        } finally {
            for (int i = 0; i < found.size(); i++) {
                found.get(i).found = 0;
            }
            found.clear();
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
        if (selected.find(key)) {
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
            if (cancelled.isEmpty()) {
                return;
            }
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
        if (key.isHot) {
            hot.remove(key);
            key.isHot = false;
        }
        sleep.remove(key);
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
            synchronized (selected) {
                for (SelectionKey each : List.copyOf(keys)) {
                    if (each instanceof RdmaKey key) {
                        key.cancel();
                        boolean _ = remove(key);
                    }
                }
                news.set(null);
                inner.close();
            }
        }
    }
}
