package verbena.nic.goal;

import verbena.verbs.Device;

/// The kinds of device that goals are tried over.
final class Kinds {
    private Kinds() {}

    /// Whether this machine has devices of this kind.
    static boolean isHere(String kind) {
        return Device.list().stream().anyMatch(device -> device.name().startsWith(kind));
    }
}
