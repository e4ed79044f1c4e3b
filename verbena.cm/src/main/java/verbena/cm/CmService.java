package verbena.cm;

import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;

/// The listener of a service, and the requests that wait for its decision.
final class CmService {
    final CmEvent.Listener listener;
    private final int backlog;
    private final Crowd<CmConnection> waiting =
            new Crowd<>(connection -> connection.route().remote());

    CmService(int backlog, CmEvent.Listener listener) {
        this.backlog = backlog;
        this.listener = listener;
    }

    boolean isFull() {
        return waiting.size() >= backlog;
    }

    /// Returns the request that makes room for a request of `peer`: the oldest of the peer with the most, if that
    /// is more than this peer would have then. Therefore no peer can keep others out. Null: none.
    @Nullable
    CmConnection rival(Gid peer) {
        return waiting.oldestBeyond(waiting.of(peer) + 1);
    }

    void add(CmConnection connection) {
        assert !isFull() : "room was made";
        boolean _ = waiting.add(connection);
    }

    void remove(CmConnection connection) {
        boolean _ = waiting.remove(connection);
    }
}
