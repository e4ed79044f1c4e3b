package verbena.nic.shm;

import org.jspecify.annotations.Nullable;
import verbena.nic.capture.CaptureFile;
import verbena.nic.kind.HostProvider;
import verbena.nic.link.Faults;
import verbena.transport.weak.Weakness;

/// The options behind the first comma of a device's name.
///
/// @param engines how many share its queue pairs
/// @param direct whether one-sided requests may need no packets
/// @param faults what is done to its packets, null for nothing
/// @param capture where its packets are written, null for nowhere
/// @param weakness the freedoms that it takes, null for none
record ShmOptions(
        int engines,
        boolean direct,
        @Nullable Faults faults,
        @Nullable CaptureFile capture,
        @Nullable Weakness weakness) {
    /// Reads the options of a device.
    ///
    /// @throws IllegalArgumentException when there is no such option or it has no such value
    static ShmOptions parse(String name, String text) {
        var none = new ShmOptions(HostProvider.fittingEngines(), true, null, null, null);
        ShmOptions options = HostProvider.options(name, text, none, ShmOptions::with);
        if (options.weakness != null && options.engines > 1) {
            throw new IllegalArgumentException("device " + name + ": option \"engines=" + options.engines
                    + "\": with weak a device has one engine");
        }
        return options;
    }

    private ShmOptions with(String setting) {
        String[] pair = setting.split("=", 2);
        String value = pair.length == 2 ? pair[1] : "";
        return switch (pair[0]) {
            case "engines" -> new ShmOptions(HostProvider.parseEngines(value), direct, faults, capture, weakness);
            case "direct" -> new ShmOptions(engines, parseDirect(value), faults, capture, weakness);
            case "faults" -> new ShmOptions(engines, direct, Faults.parse(value), capture, weakness);
            case "capture" -> new ShmOptions(engines, direct, faults, CaptureFile.parse(value), weakness);
            case "weak" -> new ShmOptions(1, direct, faults, capture, Weakness.parse(value, 0));
            case "seed" -> new ShmOptions(engines, direct, faults, capture, HostProvider.parseSeed(weakness, value));
            default ->
                throw new IllegalArgumentException("there is no option \"" + pair[0]
                        + "\"; there are capture, direct, engines, faults, seed and weak");
        };
    }

    private static boolean parseDirect(String value) {
        return switch (value) {
            case "on" -> true;
            case "off" -> false;
            default -> throw new IllegalArgumentException("on or off, got \"" + value + "\"");
        };
    }

    /// Returns whether one-sided requests may need no packets: not where packets are to suffer, or what they bring
    /// comes late.
    boolean isDirect() {
        return direct && faults == null && weakness == null;
    }
}
