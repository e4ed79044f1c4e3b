package verbena.verbs;

/// The state of the alternate path of a connected queue pair (IBTA 17.2.8, `enum ibv_mig_state`). A program asks for
/// [#REARM], and for [#MIGRATED] when it is [#ARMED]. Immutable.
///
/// @since 0.1
public enum PathMigration {
    /// The present path is the only one: the path of the connection, or the alternate path after a migration.
    MIGRATED,
    /// An alternate path is loaded. The queue pair waits until a packet of the peer reports that the peer has one
    /// too.
    REARM,
    /// The queue pair changes to the alternate path when all retries are used up, or when the peer migrates.
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
