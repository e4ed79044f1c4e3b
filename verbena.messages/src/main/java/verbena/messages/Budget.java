package verbena.messages;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import verbena.messages.protocol.PeerLimits;

/// Memory of a worker for messages that no program has asked for. Each peer has a share for messages that no
/// receive waits for; what peers leave behind when they are lost has a quarter of the whole, and so have
/// requests. A long request waits at its sender until there is room. Under the lock of [Traffic].
final class Budget {
    private final long requestsMax;
    private final Set<RemoteWorker> refused = new LinkedHashSet<>();
    private long requests;

    Budget(WorkerOptions options) {
        this.requestsMax = options.budgetBytes() / 4;
    }

    /// Whole messages that no receive waits for, of one peer; half of its share.
    static long keptMax(WorkerOptions options) {
        return options.budgetBytes() / 4 / options.maxPeers();
    }

    /// Offers of one kind, of one peer. Those of tagged messages cost their upkeep, those of active messages a header,
    /// too: together less than the other half of the share.
    static long offersMax(WorkerOptions options) {
        return keptMax(options) / (4L * PeerLimits.KEPT_COST);
    }

    /// Messages of lost peers.
    static long leftMax(WorkerOptions options) {
        return options.budgetBytes() / 4;
    }

    /// Whether a long request may be read now. The first one may, however long it is.
    boolean admits(RemoteWorker from, long bytes) {
        boolean isAdmitted = requests == 0 || requests + bytes <= requestsMax;
        if (!isAdmitted) {
            refused.add(from);
        }
        return isAdmitted;
    }

    void take(long bytes) {
        requests += bytes;
    }

    /// Gives memory of requests back.
    ///
    /// @return peers that were refused before
    List<RemoteWorker> release(long bytes) {
        requests -= bytes;
        var again = List.copyOf(refused);
        refused.clear();
        return again;
    }

    void forget(RemoteWorker lost) {
        refused.remove(lost);
    }

    long requestBytes() {
        return requests;
    }
}
