package verbena.verbs.cm;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.verbs.AddressVector;
import verbena.verbs.Endpoint;
import verbena.verbs.Gid;
import verbena.verbs.QueuePair;
import verbena.verbs.VerbsException;
import verbena.verbs.spi.ConnectionService;
import verbena.verbs.spi.ConnectionService.GroupJoin;
import verbena.verbs.spi.ConnectionService.GroupListener;
import verbena.verbs.spi.ConnectionService.Watch;

/// The multicast groups that one [ConnectionId] has joined. Under the identifier's lock.
final class OwnGroups {
    private static final class Group {
        final boolean isSendOnly;
        Watch membership = () -> {};
        boolean isAttached;

        Group(boolean isSendOnly) {
            this.isSendOnly = isSendOnly;
        }
    }

    private final ConnectionId id;
    private final Map<Gid, Group> groups = new HashMap<>();

    OwnGroups(ConnectionId id) {
        this.id = id;
    }

    /// Joins; the event follows.
    void join(ConnectionService service, GroupJoin join) {
        var group = new Group(join.isSendOnly());
        Group before = groups.put(join.group(), group);
        if (before != null) {
            before.membership.close();
            group.isAttached = before.isAttached;
        }
        group.membership = service.join(join, new GroupListener() {
            @Override
            public void onJoined(AddressVector path, int qkey) {
                id.offer(() -> joined(join.group(), group, path, qkey));
            }

            @Override
            public void onRefused(String why) {
                id.offer(() -> refused(join.group(), group, why));
            }
        });
    }

    /// Attaches the queue pair. Called by the thread that takes the event.
    private Optional<ConnectionEvent> joined(Gid gid, Group group, AddressVector path, int qkey) {
        synchronized (id.lock) {
            QueuePair made = id.queuePair().orElse(null);
            if (groups.get(gid) != group) {
                return Optional.empty(); // it was left meanwhile
            }
            if (made != null && !made.isClosed() && !group.isSendOnly) {
                try {
                    made.attachMulticast(gid);
                    group.isAttached = true;
                } catch (VerbsException e) {
                    return refused(gid, group, String.valueOf(e.getMessage()));
                }
            }
            return Optional.of(new ConnectionEvent.MulticastJoined(id, gid, path, Endpoint.MULTICAST_QPN, qkey));
        }
    }

    private Optional<ConnectionEvent> refused(Gid gid, Group group, String why) {
        synchronized (id.lock) {
            if (!groups.remove(gid, group)) {
                return Optional.empty();
            }
            group.membership.close();
            return Optional.of(new ConnectionEvent.MulticastError(id, gid, why));
        }
    }

    /// Leaves a group; returns false when it was not joined.
    boolean leave(Gid gid, @Nullable QueuePair made) {
        Group group = groups.remove(gid);
        if (group == null) {
            return false;
        }
        if (made != null && !made.isClosed() && group.isAttached) {
            made.detachMulticast(gid);
        }
        group.membership.close();
        return true;
    }

    /// Leaves all; the queue pair leaves its own when it is closed.
    void close() {
        groups.values().forEach(group -> group.membership.close());
        groups.clear();
    }
}
