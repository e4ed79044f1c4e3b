package verbena.nio;

import java.nio.channels.SelectableChannel;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamChannel;

/// The part of a channel of ours that selectors with a key of it see.
abstract class Selected implements Runnable {
    /// A key of the channel.
    interface Key {
        /// Makes the selector look at this key when it looks next, or now if it sleeps.
        void poke();

        /// Leaves the JDK's selector. Returns whether the key was there.
        boolean leave();
    }

    private static final Key[] NONE = {};

    /// The keys, copied for each change so that reading them allocates nothing.
    private volatile Key[] keys = NONE;

    synchronized void add(Key key) {
        Key[] more = Arrays.copyOf(keys, keys.length + 1);
        more[keys.length] = key;
        keys = more;
    }

    synchronized void remove(Key key) {
        int at = Arrays.asList(keys).indexOf(key);
        if (at >= 0) {
            Key[] fewer = Arrays.copyOf(keys, keys.length - 1);
            System.arraycopy(keys, at + 1, fewer, at, fewer.length - at);
            keys = fewer;
        }
    }

    /// Makes the selectors look at the channel, because an operation may be ready: [#poke], for those who know
    /// nothing of selectors.
    @Override
    public void run() {
        poke();
    }

    /// Makes all selectors look again. Any thread; does not wait.
    void poke() {
        for (Key key : keys) {
            key.poke();
        }
    }

    /// Leaves the JDK's selectors, where keys were cancelled that no selection has removed yet.
    void leave() {
        for (Key key : keys) {
            boolean _ = key.leave();
        }
    }

    /// Returns the operations among these that are ready now, without those that the kernel reports. When there is
    /// none, [#poke] is called after there may be one.
    abstract int readyOps(int interestOps);

    /// Returns the stream that carries its bytes; null when there is none.
    abstract @Nullable StreamChannel stream();

    /// Returns the JDK's own channel below, in non-blocking mode, whose events the kernel reports; null when there
    /// is none.
    abstract @Nullable SelectableChannel kernel();

    /// Returns the operations to ask the kernel for.
    abstract int kernelOps(int interestOps);
}
