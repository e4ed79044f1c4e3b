package verbena.verbs;

/// Which accesses atomics are atomic with (`enum ibv_atomic_cap`).
public enum AtomicCapability {
    NONE,
    /// Among the queue pairs of one device.
    HCA,
    /// Among everything that touches the memory.
    GLOBAL;

    /// As `ibv_devinfo` prints it, for example `ATOMIC_HCA`.
    @Override
    public String toString() {
        return "ATOMIC_" + name();
    }
}
