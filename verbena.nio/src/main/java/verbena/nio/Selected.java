package verbena.nio;

import java.nio.channels.SelectableChannel;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/// What a channel of ours shows to the selectors that have a key of it.
abstract class Selected {
    private final List<RdmaKey> keys = new CopyOnWriteArrayList<>();

    void add(RdmaKey key) {
        keys.add(key);
    }

    void remove(RdmaKey key) {
        keys.remove(key);
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

    /// The JDK's own channel below, in non-blocking mode, which the kernel tells about; null when there is none.
    abstract @Nullable SelectableChannel kernel();

    /// Which operations to ask the kernel for.
    abstract int kernelOps(int interestOps);
}
