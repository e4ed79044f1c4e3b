package verbena.nic;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.Faults;
import verbena.nic.link.UdpLinks;
import verbena.verbs.Mtu;

/// What stands behind the first comma of a device's name.
///
/// @param link how its sockets are made
/// @param mtu path MTU not to exceed, null for what the interface carries
/// @param faults what is done to its packets, null for nothing
record DeviceOptions(
        UdpLinks.Options link, @Nullable Mtu mtu, @Nullable Faults faults) {
    static final DeviceOptions NONE = new DeviceOptions(UdpLinks.Options.DEFAULT, null, null);

    /// Reads the options of `name`. A part without `=` goes on with the option before it.
    ///
    /// @throws IllegalArgumentException when there is no such option or it has no such value
    static DeviceOptions parse(String name) {
        var settings = new ArrayList<String>();
        List<String> parts = List.of(name.split(",", -1));
        for (String part : parts.subList(1, parts.size())) {
            if (settings.isEmpty() || part.contains("=")) {
                settings.add(part);
            } else {
                settings.addLast(settings.removeLast() + "," + part);
            }
        }
        DeviceOptions options = NONE;
        for (String setting : settings) {
            try {
                options = options.with(setting);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        "device " + name + ": option \"" + setting + "\": " + e.getMessage(), e);
            }
        }
        return options;
    }

    private DeviceOptions with(String setting) {
        String[] pair = setting.split("=", 2);
        String value = pair.length == 2 ? pair[1] : "";
        return switch (pair[0]) {
            case "link" -> new DeviceOptions(link.with(UdpLinks.Kind.parse(value)), mtu, faults);
            case "mtu" -> new DeviceOptions(link, Mtu.ofBytes(Integer.parseInt(value)), faults);
            case "faults" -> new DeviceOptions(link, mtu, Faults.parse(value));
            default ->
                throw new IllegalArgumentException(
                        "there is no option \"" + pair[0] + "\"; there are link, mtu and faults");
        };
    }
}
