package verbena.nic.engine;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;

/// The multicast groups and the queue pairs that are attached to them (IBTA 10.5). Engine-confined.
public final class MulticastGroups {
    /// The number of groups that a device can be a member of.
    public static final int GROUPS_MAX = 256;
    /// The number of queue pairs that can be attached to one group.
    public static final int ATTACHED_MAX = 1_024;

    /// A group and its queue pairs, in the order in which they were attached.
    static final class Group {
        final Gid gid;
        final List<EngineTask> tasks = new ArrayList<>();

        private Group(Gid gid) {
            this.gid = gid;
        }
    }

    private final List<Group> groups = new ArrayList<>();

    /// Returns the group of an address, or null when no queue pair is attached to it.
    @Nullable
    Group find(long high, long low) {
        for (int i = 0; i < groups.size(); i++) { // without an iterator: called for every packet
            Group group = groups.get(i);
            if (group.gid.low() == low && group.gid.high() == high) {
                return group;
            }
        }
        return null;
    }

    boolean hasRoom() {
        return groups.size() < GROUPS_MAX;
    }

    Group add(Gid gid) {
        var group = new Group(gid);
        groups.add(group);
        return group;
    }

    void remove(Group group) {
        groups.remove(group);
    }

    /// Returns the groups that a queue pair is attached to, as a copy.
    List<Group> of(EngineTask task) {
        return groups.stream().filter(group -> group.tasks.contains(task)).toList();
    }
}
