package verbena.nio;

import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectionKey;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.verbs.internal.DeviceWait;

/// A channel's registration with an [RdmaSelector]: of a channel of ours, or of a channel of the JDK's own. The
/// events of the kernel come through a second key, with the JDK's selector inside.
final class RdmaKey extends AbstractSelectionKey implements Selected.Key {
    private final Selector selector;
    private final Consumer<RdmaKey> look;
    private final SelectableChannel channel;
    /// The channel of ours; null for a channel of the JDK's own.
    private final @Nullable Selected ours;

    private volatile int interestOps;
    private volatile int readyOps;
    /// The key of the JDK's selector.
    private volatile @Nullable SelectionKey inner;
    /// Whether the channel has left the kernel. It may come back. By the selecting thread.
    private boolean isAway;
    /// Whether the key waits for the selector to look at it.
    final AtomicBoolean isNews = new AtomicBoolean();

    /// The key to look at after this key.
    @Nullable
    RdmaKey nextNews;

    // By the selecting thread.
    /// The ready operations that a selection has found.
    int found;
    /// The place of this key among the selected keys; negative when it is not there.
    int place = -1;
    /// Whether each selection looks at this key.
    boolean isHot;
    /// Whether this key was seen with a stream.
    boolean isStream;

    /// @param look has the selector look at a key when it looks next, or now if it sleeps
    RdmaKey(Selector selector, Consumer<RdmaKey> look, SelectableChannel channel, @Nullable Selected ours) {
        this.selector = selector;
        this.look = look;
        this.channel = channel;
        this.ours = ours;
    }

    @Override
    public SelectableChannel channel() {
        return channel;
    }

    @Override
    public Selector selector() {
        return selector;
    }

    @Nullable
    Selected ours() {
        return ours;
    }

    private void check() {
        if (!isValid()) {
            throw new CancelledKeyException();
        }
    }

    @Override
    public int interestOps() {
        check();
        return interestOps;
    }

    @Override
    public SelectionKey interestOps(int ops) {
        check();
        if ((ops & ~channel.validOps()) != 0) {
            throw new IllegalArgumentException("interestOps: " + ops + ", valid are " + channel.validOps());
        }
        begin(ops);
        return this;
    }

    /// Returns the operations of interest, whether the key is valid or not.
    int interest() {
        return interestOps;
    }

    void begin(int ops) {
        interestOps = ops;
        SelectionKey below = inner;
        if (below != null && below.isValid()) {
            try {
                below.interestOps(ours == null ? ops : ours.kernelOps(ops));
            } catch (CancelledKeyException e) {
                // its channel was closed at this moment, and this key is cancelled with it
            }
        }
        if (ours != null) {
            poke();
        }
    }

    @Override
    public void poke() {
        look.accept(this);
    }

    @Override
    public int readyOps() {
        check();
        return readyOps;
    }

    /// Sets the operations that are ready, in the selecting thread.
    void ready(int ops) {
        readyOps = ops;
    }

    int readyNow() {
        return readyOps;
    }

    /// Registers with the JDK's selector, when there is something to register and it has not been done; and asks it
    /// for the operations that the kernel reports now. Returns whether it registers now.
    ///
    /// @throws IOException when the channel below cannot be made non-blocking
    boolean join(Selector innerSelector) throws IOException {
        SelectableChannel below = ours == null ? channel : ours.kernel();
        SelectionKey own = inner;
        if (own != null && ours != null && own.isValid()) {
            int wanted = ours.kernelOps(interestOps);
            if (own.interestOps() != wanted) {
                own.interestOps(wanted);
            }
        }
        if (below != null && own != null && isAway) {
            isAway = false;
            return true;
        }
        if (below == null || own != null) {
            return false;
        }
        if (ours != null) {
            below.configureBlocking(false);
        }
        int ops = interestOps;
        inner = below.register(innerSelector, ours == null ? ops : ours.kernelOps(ops), this);
        return true;
    }

    /// Returns whether its channel has left the kernel since the last look.
    boolean hasLeftKernel() {
        boolean hasLeft = !isAway && inner != null && ours != null && ours.kernel() == null;
        isAway |= hasLeft;
        return hasLeft;
    }

    /// Makes a thread that waits watch the kernel's channel. Returns false when it watches too many.
    boolean watch(DeviceWait at) {
        SelectionKey below = inner;
        if (below == null || !below.isValid()) {
            return true;
        }
        try {
            int ops = below.interestOps();
            return ops == 0 || at.watch(Jdk.descriptor(below.channel()), Jdk.pollEvents(below.channel(), ops));
        } catch (CancelledKeyException e) {
            return true; // closed at this moment
        }
    }

    @Override
    public boolean leave() {
        SelectionKey below = inner;
        if (below == null) {
            return false;
        }
        below.cancel();
        return true;
    }
}
