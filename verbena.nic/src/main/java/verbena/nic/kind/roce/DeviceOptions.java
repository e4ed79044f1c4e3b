package verbena.nic.kind.roce;

import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.nic.capture.CaptureFile;
import verbena.nic.kind.HostProvider;
import verbena.nic.link.Faults;
import verbena.nic.link.UdpLinks;
import verbena.verbs.Mtu;

/// What stands behind the first comma of a device's name.
///
/// @param engines how many share its queue pairs, 0 for what the processors suggest
/// @param link how its sockets are made
/// @param mtu path MTU not to exceed, null for what the interface carries
/// @param faults what is done to its packets, null for nothing
/// @param capture where its packets are written, null for nowhere
record DeviceOptions(
        int engines,
        UdpLinks.Options link,
        @Nullable Mtu mtu,
        @Nullable Faults faults,
        @Nullable CaptureFile capture) {
    /// Each has a slot at the address, and 256 is all there are for all who share it.
    private static final int ENGINES_MAX = 64;

    private static final int ENGINES_UNASKED_MAX = 8;
    private static final int PROCESSORS_OF_ENGINE = 4;

    static final DeviceOptions NONE = new DeviceOptions(0, UdpLinks.Options.DEFAULT, null, null, null);

    /// Reads the options of `name`. A part without `=` goes on with the option before it.
    ///
    /// @throws IllegalArgumentException when there is no such option or it has no such value
    static DeviceOptions parse(String name) {
        DeviceOptions options = NONE;
        int comma = name.indexOf(',');
        for (String setting : comma < 0 ? List.<String>of() : HostProvider.settings(name.substring(comma + 1))) {
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
            case "link" -> new DeviceOptions(engines, link.with(UdpLinks.Kind.parse(value)), mtu, faults, capture);
            case "mtu" -> new DeviceOptions(engines, link, Mtu.ofBytes(Integer.parseInt(value)), faults, capture);
            case "faults" -> new DeviceOptions(engines, link, mtu, Faults.parse(value), capture);
            case "icrc" -> new DeviceOptions(engines, parseIcrc(value) ? link : link.stamp(), mtu, faults, capture);
            case "engines" -> new DeviceOptions(parseEngines(value), link, mtu, faults, capture);
            case "capture" -> new DeviceOptions(engines, link, mtu, faults, CaptureFile.parse(value));
            default ->
                throw new IllegalArgumentException("there is no option \"" + pair[0]
                        + "\"; there are capture, engines, faults, icrc, link and mtu");
        };
    }

    /// Whether every packet is to have one.
    private static boolean parseIcrc(String value) {
        return switch (value) {
            case "always" -> true;
            case "optional" -> false;
            default -> throw new IllegalArgumentException("always or optional, got \"" + value + "\"");
        };
    }

    private static int parseEngines(String value) {
        int engines = Integer.parseInt(value);
        if (engines < 1 || engines > ENGINES_MAX) {
            throw new IllegalArgumentException("1 to " + ENGINES_MAX + ", got " + engines);
        }
        return engines;
    }

    /// How many engines a device gets: as the options say, else one for four processors, because the threads of
    /// the application drive too. Several need the Linux link: without it they cannot have sockets at one address.
    ///
    /// @throws IllegalArgumentException when several are asked for and cannot be had
    int enginesToOpen() {
        String why = link.kind() == UdpLinks.Kind.PORTABLE ? "link=portable" : UdpLinks.whyPortable();
        if (why == null) {
            int fitting = Runtime.getRuntime().availableProcessors() / PROCESSORS_OF_ENGINE;
            return engines > 0 ? engines : Math.clamp(fitting, 1, ENGINES_UNASKED_MAX);
        }
        if (engines > 1) {
            throw new IllegalArgumentException("option \"engines=" + engines
                    + "\": several engines need Linux system calls, and there are none: " + why);
        }
        return 1;
    }
}
