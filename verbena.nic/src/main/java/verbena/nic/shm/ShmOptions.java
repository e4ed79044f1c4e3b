package verbena.nic.shm;

import org.jspecify.annotations.Nullable;
import verbena.nic.capture.CaptureFile;
import verbena.nic.kind.HostProvider;
import verbena.nic.link.Faults;

/// The options behind the first comma of a device's name.
///
/// @param engines how many share its queue pairs
/// @param direct whether one-sided requests may need no packets
/// @param faults what is done to its packets, null for nothing
/// @param capture where its packets are written, null for nowhere
record ShmOptions(
        int engines,
        boolean direct,
        @Nullable Faults faults,
        @Nullable CaptureFile capture) {
    /// Reads the options of a device.
    ///
    /// @throws IllegalArgumentException when there is no such option or it has no such value
    static ShmOptions parse(String name, String text) {
        return HostProvider.options(
                name, text, new ShmOptions(HostProvider.fittingEngines(), true, null, null), ShmOptions::with);
    }

    private ShmOptions with(String setting) {
        String[] pair = setting.split("=", 2);
        String value = pair.length == 2 ? pair[1] : "";
        return switch (pair[0]) {
            case "engines" -> new ShmOptions(HostProvider.parseEngines(value), direct, faults, capture);
            case "direct" -> new ShmOptions(engines, parseDirect(value), faults, capture);
            case "faults" -> new ShmOptions(engines, direct, Faults.parse(value), capture);
            case "capture" -> new ShmOptions(engines, direct, faults, CaptureFile.parse(value));
            default ->
                throw new IllegalArgumentException(
                        "there is no option \"" + pair[0] + "\"; there are capture, direct, engines and faults");
        };
    }

    private static boolean parseDirect(String value) {
        return switch (value) {
            case "on" -> true;
            case "off" -> false;
            default -> throw new IllegalArgumentException("on or off, got \"" + value + "\"");
        };
    }

    /// Returns whether one-sided requests may need no packets: not where packets are to suffer.
    boolean isDirect() {
        return direct && faults == null;
    }
}
