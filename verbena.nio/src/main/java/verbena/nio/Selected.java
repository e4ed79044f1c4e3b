package verbena.nio;

import java.nio.channels.SelectableChannel;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamChannel;

/// What a channel of ours shows to the selectors that have a key of it.
abstract class Selected {
    private static final RdmaKey[] NONE = {};

    /// Copied for each change, so that a look at it makes nothing.
    private volatile RdmaKey[] keys = NONE;

    synchronized void add(RdmaKey key) {
        RdmaKey[] more = Arrays.copyOf(keys, keys.length + 1);
        more[keys.length] = key;
        keys = more;
    }

    synchronized void remove(RdmaKey key) {
        keys = Arrays.stream(keys).filter(each -> each != key).toArray(RdmaKey[]::new);
    }

    /// Has all selectors look again. Any thread; does not wait.
    void poke() {
        for (RdmaKey key : keys) {
            key.poke();
        }
    }

    /// Leaves the JDK's selectors, where keys were cancelled that no selection has removed yet.
    void leave() {
        for (RdmaKey key : keys) {
            boolean _ = key.leave();
        }
    }

    /// Those of the operations that are ready now, as far as the kernel does not tell. When there is none, [#poke] is
    /// called after there may be one.
    abstract int readyOps(int interestOps);

    /// The stream that carries its bytes; null when there is none.
    abstract @Nullable StreamChannel stream();

    /// The JDK's own channel below, in non-blocking mode, which the kernel tells about; null when there is none.
    abstract @Nullable SelectableChannel kernel();

    /// Which operations to ask the kernel for.
    abstract int kernelOps(int interestOps);
}
