package verbena.nic.kind;

import java.util.Set;
import verbena.verbs.Capability;

/// What devices of a kind can do. Limits that all kinds have in common are in [DeviceLimits].
///
/// @param multicastGroups that queue pairs of a device may be attached to
/// @param multicastAttached queue pairs that may be attached to one group
/// @param addressHandles that may be open
public record DeviceProfile(
        Set<Capability> capabilities, int multicastGroups, int multicastAttached, int addressHandles) {
    public DeviceProfile {
        capabilities = Set.copyOf(capabilities);
    }
}
