package verbena.transport.memory;

import java.util.Arrays;

/// The watches of a device. Added before the device is used; notified by engines.
final class KeyWatches {
    private volatile KeyWatch[] all = {};

    synchronized void add(KeyWatch watch) {
        KeyWatch[] more = Arrays.copyOf(all, all.length + 1);
        more[all.length] = watch;
        all = more;
    }

    /// Calls [KeyWatch#onEnded] of all.
    boolean ended(int key) {
        boolean isFree = true;
        for (KeyWatch watch : all) {
            isFree &= watch.onEnded(key);
        }
        return isFree;
    }

    /// Calls [KeyWatch#onUnbound] of all.
    void unbound(int key) {
        for (KeyWatch watch : all) {
            watch.onUnbound(key);
        }
    }
}
