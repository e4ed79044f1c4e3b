package verbena.sim.script;

import java.util.ArrayList;
import java.util.List;
import verbena.transport.memory.Window;

/// A memory window of one end, and every key that it has had: `w1` is its key now, `w1.0` the one it was made with,
/// `w1.1` that of its first bind.
final class BoundWindow {
    final String name;
    final Window window;
    final List<Integer> keys = new ArrayList<>();
    /// What `w1+0` stands for.
    long virtualAddress;

    BoundWindow(String name, Window window) {
        this.name = name;
        this.window = window;
        keys.add(window.key());
    }

    /// The key for the next bind: the same handle, the next variant.
    int nextKey() {
        int last = keys.getLast();
        int key = (last & ~0xFF) | (last + 1 & 0xFF);
        keys.add(key);
        return key;
    }
}
