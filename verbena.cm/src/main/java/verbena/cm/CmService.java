package verbena.cm;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;

/// The listener of a service, and the requests that wait for its decision.
final class CmService {
    final CmEvent.Listener listener;
    private final int backlog;
    /// Of each peer, the oldest first.
    private final Map<Gid, LinkedHashSet<CmConnection>> waiting = new HashMap<>();

    private int size;

    CmService(int backlog, CmEvent.Listener listener) {
        this.backlog = backlog;
        this.listener = listener;
    }

    boolean isFull() {
        return size >= backlog;
    }

    /// The request that makes room for one of `peer`: the oldest of the peer with the most, if that is more than
    /// this peer would have then. So no peer can keep others out. Null: none.
    @Nullable
    CmConnection rival(Gid peer) {
        LinkedHashSet<CmConnection> most = null;
        for (LinkedHashSet<CmConnection> of : waiting.values()) { // at most as many as the backlog
            most = most == null || of.size() > most.size() ? of : most;
        }
        LinkedHashSet<CmConnection> own = waiting.get(peer);
        return most != null && most.size() > (own == null ? 0 : own.size()) + 1 ? most.getFirst() : null;
    }

    void add(CmConnection connection) {
        size++;
        waiting.computeIfAbsent(connection.route().remote(), _ -> new LinkedHashSet<>())
                .add(connection);
    }

    void remove(CmConnection connection) {
        size--;
        waiting.computeIfPresent(connection.route().remote(), (_, of) -> {
            of.remove(connection);
            return of.isEmpty() ? null : of;
        });
    }
}
