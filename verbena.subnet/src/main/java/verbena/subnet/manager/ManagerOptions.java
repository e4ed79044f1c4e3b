package verbena.subnet.manager;

import java.util.List;

/// The options that the owner gives to a [SubnetManager].
///
/// @param priority 0 to 15; the highest becomes the master
/// @param lmc 0 to 7: ports of adapters have two to this many LIDs
/// @param mkey the M_Key that all ports get; 0: none
/// @param smKey the SM_Key by which managers of one subnet know each other; 0: of any
/// @param sweepNanos how often it looks whether something has changed
/// @param partitions the first is at index 0 of the P_Key tables of its members
public record ManagerOptions(
        int priority, int lmc, long mkey, long smKey, long sweepNanos, List<Partition> partitions) {
    /// One LID for each port, no M_Key, the SM_Key 1 that opensm has too, a look each 10 s, one partition.
    public static final ManagerOptions DEFAULT =
            new ManagerOptions(0, 0, 0, 1, 10_000_000_000L, List.of(Partition.DEFAULT));

    private static final int PARTITIONS_MAX = 32;

    public ManagerOptions {
        partitions = List.copyOf(partitions);
        if (priority < 0 || priority > 15) {
            throw new IllegalArgumentException("priority: 0 to 15, got " + priority);
        }
        if (lmc < 0 || lmc > 7) {
            throw new IllegalArgumentException("lmc: 0 to 7, got " + lmc);
        }
        if (sweepNanos <= 0) {
            throw new IllegalArgumentException("sweepNanos: more than 0, got " + sweepNanos);
        }
        if (partitions.isEmpty() || partitions.size() > PARTITIONS_MAX) {
            throw new IllegalArgumentException("partitions: 1 to " + PARTITIONS_MAX + ", got " + partitions.size());
        }
    }

    /// Returns the same options with another priority.
    public ManagerOptions withPriority(int priority) {
        return new ManagerOptions(priority, lmc, mkey, smKey, sweepNanos, partitions);
    }

    /// Returns the same options with another number of LIDs for each port.
    public ManagerOptions withLmc(int lmc) {
        return new ManagerOptions(priority, lmc, mkey, smKey, sweepNanos, partitions);
    }

    /// Returns the same options with another M_Key.
    public ManagerOptions withMkey(long mkey) {
        return new ManagerOptions(priority, lmc, mkey, smKey, sweepNanos, partitions);
    }

    /// Returns the same options with other partitions.
    public ManagerOptions withPartitions(List<Partition> partitions) {
        return new ManagerOptions(priority, lmc, mkey, smKey, sweepNanos, partitions);
    }
}
