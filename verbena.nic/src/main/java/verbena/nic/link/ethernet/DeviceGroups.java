package verbena.nic.link.ethernet;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import verbena.verbs.Gid;

/// The groups that the links of one device are in, together: a packet to one of them is for the device, whichever
/// link it comes by. Any thread.
final class DeviceGroups {
    private final Map<Gid, Integer> members = new ConcurrentHashMap<>();

    void join(Gid group) {
        members.merge(group, 1, Integer::sum);
    }

    void leave(Gid group) {
        members.computeIfPresent(group, (_, count) -> count == 1 ? null : count - 1);
    }

    boolean isMember(long high, long low) {
        return !members.isEmpty() && members.containsKey(new Gid(high, low));
    }
}
