package verbena.nic.kind.roce;

import org.jspecify.annotations.Nullable;
import verbena.nic.capture.CaptureFile;
import verbena.nic.kind.HostProvider;
import verbena.nic.link.Faults;
import verbena.nic.link.UdpLinks;
import verbena.verbs.Mtu;

/// The options behind the first comma of a device's name.
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
    static final DeviceOptions NONE = new DeviceOptions(0, UdpLinks.Options.DEFAULT, null, null, null);

    /// Reads the options of `name`. A part without `=` goes on with the option before it.
    ///
    /// @throws IllegalArgumentException when there is no such option or it has no such value
    static DeviceOptions parse(String name) {
        int comma = name.indexOf(',');
        return HostProvider.options(name, comma < 0 ? "" : name.substring(comma + 1), NONE, DeviceOptions::with);
    }

    private DeviceOptions with(String setting) {
        String[] pair = setting.split("=", 2);
        String value = pair.length == 2 ? pair[1] : "";
        return switch (pair[0]) {
            case "link" -> new DeviceOptions(engines, link.with(UdpLinks.Kind.parse(value)), mtu, faults, capture);
            case "mtu" -> new DeviceOptions(engines, link, Mtu.ofBytes(Integer.parseInt(value)), faults, capture);
            case "faults" -> new DeviceOptions(engines, link, mtu, Faults.parse(value), capture);
            case "engines" -> new DeviceOptions(HostProvider.parseEngines(value), link, mtu, faults, capture);
            case "capture" -> new DeviceOptions(engines, link, mtu, faults, CaptureFile.parse(value));
            default ->
                throw new IllegalArgumentException(
                        "there is no option \"" + pair[0] + "\"; there are capture, engines, faults, link and mtu");
        };
    }

    /// How many engines a device gets: as the options say, else as many as fit. Several need the Linux link: without it
    /// they cannot have sockets at one address.
    ///
    /// @throws IllegalArgumentException when several are asked for and cannot be had
    int enginesToOpen() {
        String why = link.kind() == UdpLinks.Kind.PORTABLE ? "link=portable" : UdpLinks.whyPortable();
        if (why == null) {
            return engines > 0 ? engines : HostProvider.fittingEngines();
        }
        if (engines > 1) {
            throw new IllegalArgumentException("option \"engines=" + engines
                    + "\": several engines need Linux system calls, and there are none: " + why);
        }
        return 1;
    }
}
