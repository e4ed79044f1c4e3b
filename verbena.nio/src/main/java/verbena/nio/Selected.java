package verbena.nio;

import java.nio.channels.SelectableChannel;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import verbena.stream.StreamChannel;

/// What a channel of ours shows to the selectors that have a key of it.
abstract class Selected {
    /// A key of the channel.
    interface Key {
        /// The selector looks at this key when it looks next, or now if it sleeps.
        void poke();

        /// Leaves the JDK's selector; whether it was there.
        boolean leave();
    }

    private static final Key[] NONE = {};

    /// Copied for each change, so that a look at it makes nothing.
    private volatile Key[] keys = NONE;

    synchronized void add(Key key) {
        Key[] more = Arrays.copyOf(keys, keys.length + 1);
        more[keys.length] = key;
        keys = more;
    }

    synchronized void remove(Key key) {
        keys = Arrays.stream(keys).filter(each -> each != key).toArray(Key[]::new);
    }

    /// Has all selectors look again. Any thread; does not wait.
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
