package verbena.transport.memory;

/// The kinds of memory that a region can be of, by what may happen to it. Each has a [UserMemory].
public enum Reach {
    /// Memory to which nothing can happen before its region is removed.
    LASTING(true),
    /// A program's: it was there when it was registered, and may go away.
    PROGRAMS(true),
    /// Any addresses of the process: memory there may come and go.
    ON_DEMAND(false),
    /// None.
    NOTHING(false);

    /// Whether others than the [MemoryTable] may be given its address: the operating system, peers of this host.
    public final boolean isOpen;

    Reach(boolean isOpen) {
        this.isOpen = isOpen;
    }
}
