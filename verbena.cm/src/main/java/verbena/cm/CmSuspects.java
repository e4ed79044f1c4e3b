package verbena.cm;

import java.util.LinkedHashMap;
import verbena.verbs.Gid;

/// Peers whose connections have asked for memory that they may not have, and what becomes of their requests
/// for more connections. Each connection can guess a key once, because the first wrong key ends it.
///
/// Only packets that prove their sender count: those that fit into an established connection. A request
/// proves nothing, and neither does a packet with a wrong number, so an attacker cannot get a peer blocked
/// by naming its address. Existing connections go on. Confined to its owner; time comes from outside.
public final class CmSuspects {
    /// Errors within [#WINDOW_NANOS] from which on a peer is slowed.
    public static final int SLOWED_AT = 4;
    /// Errors within [#WINDOW_NANOS] from which on it is blocked.
    public static final int BLOCKED_AT = 16;

    /// The time for which an error counts.
    public static final long WINDOW_NANOS = 10_000_000_000L;
    /// A peer that is slowed gets no connection for so long after an error.
    public static final long PAUSE_NANOS = 250_000_000;
    /// A peer that is blocked gets none for so long after the error that did it, or a later one: as long as a key
    /// rests.
    public static final long BLOCK_NANOS = 60_000_000_000L;
    /// Peers that are remembered; whose last error is the oldest is forgotten first.
    public static final int PEERS_MAX = 1_024;

    private static final class Suspect {
        /// Times of the last errors, a ring.
        final long[] errors = new long[BLOCKED_AT];

        int count;
        long blockedUntil = Long.MIN_VALUE;

        /// Returns the time of the n-th last error; long ago when there were not so many.
        long last(int n) {
            return count < n ? Long.MIN_VALUE : errors[(count - n) % BLOCKED_AT];
        }
    }

    /// The standing of a peer, which decides about its requests.
    public enum Standing {
        /// A peer with nothing against it.
        FREE,
        /// A peer that gets no connection now, but later.
        SLOWED,
        /// A peer that gets no connection.
        BLOCKED
    }

    /// The one whose last error is the oldest is first.
    private final LinkedHashMap<Gid, Suspect> suspects = new LinkedHashMap<>();

    /// Begins without suspects.
    public CmSuspects() {}

    /// Counts an error of a connection of this peer, which has asked for memory that it may not have. Returns true
    /// when that makes the peer blocked, which it was not.
    public boolean onAccessError(Gid peer, long now) {
        Suspect suspect = suspects.remove(peer);
        if (suspect == null) {
            suspect = new Suspect();
            if (suspects.size() == PEERS_MAX) {
                suspects.pollFirstEntry();
            }
        }
        suspects.putLast(peer, suspect);
        boolean was = isBlocked(suspect, now);
        suspect.errors[suspect.count++ % BLOCKED_AT] = now;
        if (suspect.count == 2 * BLOCKED_AT) {
            suspect.count = BLOCKED_AT; // the same place in the ring
        }
        if (!was && !isWithin(suspect.last(BLOCKED_AT), WINDOW_NANOS, now)) {
            return false;
        }
        suspect.blockedUntil = now + BLOCK_NANOS;
        return !was;
    }

    /// Returns the standing of this peer, which decides about its request.
    public Standing standing(Gid peer, long now) {
        Suspect suspect = suspects.get(peer);
        if (suspect == null) {
            return Standing.FREE;
        }
        if (isBlocked(suspect, now)) {
            return Standing.BLOCKED;
        }
        if (!isWithin(suspect.last(1), WINDOW_NANOS, now)) {
            suspects.remove(peer); // the block is over too: it is longer than an error counts
            return Standing.FREE;
        }
        return isWithin(suspect.last(SLOWED_AT), WINDOW_NANOS, now) && isWithin(suspect.last(1), PAUSE_NANOS, now)
                ? Standing.SLOWED
                : Standing.FREE;
    }

    private static boolean isBlocked(Suspect suspect, long now) {
        return suspect.blockedUntil != Long.MIN_VALUE && now - suspect.blockedUntil < 0;
    }

    private static boolean isWithin(long error, long nanos, long now) {
        return error != Long.MIN_VALUE && now - error < nanos;
    }

    /// Peers that are remembered.
    public int size() {
        return suspects.size();
    }
}
