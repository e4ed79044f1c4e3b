package verbena.nic.kind;

import java.util.EnumSet;
import java.util.Set;
import verbena.nic.engine.OnDemandMemory;
import verbena.verbs.Capability;

/// The abilities of devices of a kind, except for those that this process does not have. Limits that all kinds
/// share are in [DeviceLimits].
///
/// @param multicastGroups how many groups queue pairs of a device may be attached to
/// @param multicastAttached how many queue pairs may be attached to one group
/// @param addressHandles how many address handles may be open
public record DeviceProfile(
        Set<Capability> capabilities, int multicastGroups, int multicastAttached, int addressHandles) {
    public DeviceProfile {
        var all = EnumSet.copyOf(capabilities);
        if (!OnDemandMemory.isThere()) {
            all.remove(Capability.ON_DEMAND_PAGING);
        }
        capabilities = Set.copyOf(all);
    }

    /// Returns this profile with one more capability.
    public DeviceProfile with(Capability more) {
        var all = EnumSet.of(more);
        all.addAll(capabilities);
        return new DeviceProfile(all, multicastGroups, multicastAttached, addressHandles);
    }
}
