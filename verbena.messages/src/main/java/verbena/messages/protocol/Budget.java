package verbena.messages.protocol;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// Memory of a worker for messages that no program has asked for. Each peer has a share for messages that no
/// receive waits for; what peers leave behind when they are lost has a quarter of the whole, and so have
/// requests. A long request waits at its sender until there is room. Guarded by the worker.
///
/// @param <P> a peer
public final class Budget<P> {
    private final long requestsMax;
    private final Set<P> refused = new LinkedHashSet<>();
    private long requests;

    /// @param bytes of the whole
    public Budget(long bytes) {
        this.requestsMax = bytes / 4;
    }

    /// Returns the limit of whole messages that no receive waits for, of one peer: half of its share.
    public static long keptMax(long bytes, int maxPeers) {
        return bytes / 4 / maxPeers;
    }

    /// Returns the limit of offers of one kind, of one peer. Offers of tagged messages cost their upkeep, offers of
    /// active messages a header, too: together they cost less than the other half of the share.
    public static long offersMax(long bytes, int maxPeers) {
        return keptMax(bytes, maxPeers) / (4L * PeerLimits.KEPT_COST);
    }

    /// Returns the limit of messages that lost peers have left.
    public static long leftMax(long bytes) {
        return bytes / 4;
    }

    /// Returns whether a long request may be read now. The first one may, however long it is.
    public boolean admits(P from, long bytes) {
        boolean isAdmitted = requests == 0 || requests + bytes <= requestsMax;
        if (!isAdmitted) {
            refused.add(from);
        }
        return isAdmitted;
    }

    public void take(long bytes) {
        requests += bytes;
    }

    /// Gives memory of requests back.
    ///
    /// @return peers that were refused before
    public List<P> release(long bytes) {
        requests -= bytes;
        assert requests >= 0 : "more given back than was taken: " + requests;
        var again = List.copyOf(refused);
        refused.clear();
        return again;
    }

    public void forget(P lost) {
        refused.remove(lost);
    }

    public long requestBytes() {
        return requests;
    }
}
