package verbena.check;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import verbena.verbs.Context;

/// An opened device of the program, as the rules see it.
public final class TrackedDevice {
    private final Context context;
    private final CallPlace opened;
    private volatile boolean hasWindows;
    private final Set<TrackedObject> objects = ConcurrentHashMap.newKeySet();

    /// @param opened where the program has opened it
    public TrackedDevice(Context context, CallPlace opened) {
        this.context = context;
        this.opened = opened;
    }

    /// Returns the device below the layer.
    public Context context() {
        return context;
    }

    public CallPlace opened() {
        return opened;
    }

    /// Returns whether the program has ever made a window of it, so that a key may be a window's.
    public boolean hasWindows() {
        return hasWindows;
    }

    public void addWindow() {
        hasWindows = true;
    }

    /// Returns the objects that the program has made and not closed.
    public Set<TrackedObject> objects() {
        return objects;
    }
}
