package verbena.verbs;

import java.util.Collection;
import java.util.EnumSet;
import java.util.Set;

/// Rights of a memory region, a memory window or a queue pair (`enum ibv_access_flags`, ibv_reg_mr(3)). Immutable.
///
/// The local side may always read. On a region, `REMOTE_WRITE` and `REMOTE_ATOMIC` require `LOCAL_WRITE`: the owner
/// may change whatever a peer may change.
///
/// @since 0.1
public enum Access {
    /// This side may write: receives, results of READs and atomics.
    LOCAL_WRITE(1),
    /// The peer may WRITE.
    REMOTE_WRITE(1 << 1),
    /// The peer may READ.
    REMOTE_READ(1 << 2),
    /// The peer may do atomics.
    REMOTE_ATOMIC(1 << 3),
    /// Memory windows may be bound to the region.
    MW_BIND(1 << 4),
    /// Remote addresses count from 0 at the start of the region or window.
    ZERO_BASED(1 << 5),
    /// The memory need not be there when it is registered, and may go and come back. A request ends with an error
    /// status when it touches memory that is not there. See [ProtectionDomain#register(MemorySegment, Set)].
    ON_DEMAND(1 << 6),
    /// All the memory's pages are huge: a promise, for [#ON_DEMAND]. A card needs it to work with such pages; a
    /// software device works with pages of any size, and does nothing with it.
    HUGETLB(1 << 7),
    /// FLUSH to global visibility (IBTA A19).
    FLUSH_GLOBAL(1 << 8),
    /// FLUSH to persistence (IBTA A19).
    FLUSH_PERSISTENT(1 << 9),
    /// Writes may become visible out of order; a hint for the bus between a card and memory. A software device has
    /// no such bus, and keeps the order.
    RELAXED_ORDERING(1 << 20);

    private final int bit;

    Access(int bit) {
        this.bit = bit;
    }

    /// Returns the bit of `enum ibv_access_flags`.
    public int bit() {
        return bit;
    }

    /// Returns `LOCAL_WRITE` alone: the local side may read and write, and a peer has no rights.
    public static Set<Access> local() {
        return EnumSet.of(LOCAL_WRITE);
    }

    /// Returns the right of a peer to read, and `LOCAL_WRITE`, because the owner has to fill what the peer
    /// reads.
    public static Set<Access> remoteRead() {
        return EnumSet.of(LOCAL_WRITE, REMOTE_READ);
    }

    /// Returns the right of a peer to write, with the `LOCAL_WRITE` that it requires.
    public static Set<Access> remoteWrite() {
        return EnumSet.of(LOCAL_WRITE, REMOTE_WRITE);
    }

    /// Returns the rights of a peer to read, write and do atomics, with the `LOCAL_WRITE` that they require.
    public static Set<Access> remoteAll() {
        return EnumSet.of(LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC);
    }

    /// Returns the bits of a set, as `enum ibv_access_flags` has them.
    public static int bits(Collection<Access> access) {
        int bits = 0;
        for (Access a : access) {
            bits |= a.bit;
        }
        return bits;
    }

    /// Returns the set that has these bits.
    ///
    /// @throws IllegalArgumentException when a bit has no name here
    public static Set<Access> ofBits(int bits) {
        var set = EnumSet.noneOf(Access.class);
        int left = bits;
        for (Access a : values()) {
            if ((bits & a.bit) != 0) {
                set.add(a);
                left &= ~a.bit;
            }
        }
        if (left != 0) {
            throw new IllegalArgumentException("access: unknown bits 0x" + Integer.toHexString(left));
        }
        return set;
    }
}
