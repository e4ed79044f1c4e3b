package verbena.verbs;

/// The state of the alternate path of a connected queue pair (IBTA 17.2.8, `enum ibv_mig_state`). A program asks for
/// [#REARM], and for [#MIGRATED] when it is [#ARMED].
public enum PathMigration {
    /// The path that it has is its only one: that with which it was connected, or the one that it has migrated to.
    MIGRATED,
    /// An alternate path is loaded, and the queue pair waits until the peer has one too. A packet of the peer
    /// tells.
    REARM,
    /// The alternate path takes the place of the path when all retries are used up, or the peer migrates.
    ARMED;

    /// Returns the number in `enum ibv_mig_state`.
    public int code() {
        return ordinal();
    }

    /// Returns the state with this number.
    ///
    /// @throws IllegalArgumentException when there is none
    public static PathMigration ofCode(int code) {
        if (code < 0 || code >= values().length) {
            throw new IllegalArgumentException("path migration state: 0 to 2, got " + code);
        }
        return values()[code];
    }
}
