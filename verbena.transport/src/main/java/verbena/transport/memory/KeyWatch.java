package verbena.transport.memory;

/// A listener for code that has given peers direct access to memory: it learns when the memory that a key opens ends
/// or changes. The change is made before the call, and is complete after it.
public interface KeyWatch {
    /// Handles the end of a region or window, or a change of its rights. Called while no engine works.
    ///
    /// @param key of the region or window; of a window, the bindings before had keys with the same upper 24 bits
    /// @return false when a peer may still use the memory: it must not be used for anything else
    boolean onEnded(int key);

    /// Handles the end of a window's binding, because it was bound anew or invalidated. Called by an engine while
    /// others work.
    ///
    /// @param key by which the binding was opened
    void onUnbound(int key);
}
