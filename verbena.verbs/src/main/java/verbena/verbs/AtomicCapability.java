package verbena.verbs;

/// The accesses with which a device's atomics are atomic (`enum ibv_atomic_cap`). Immutable.
///
/// @since 0.1
public enum AtomicCapability {
    /// The device has no atomics.
    NONE,
    /// Among the queue pairs of one device.
    HCA,
    /// Among everything that touches the memory.
    GLOBAL;

    /// Returns the name that `ibv_devinfo` prints, for example `ATOMIC_HCA`.
    @Override
    public String toString() {
        return "ATOMIC_" + name();
    }
}
