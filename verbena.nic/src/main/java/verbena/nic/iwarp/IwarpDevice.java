package verbena.nic.iwarp;

import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.nic.capture.CaptureFile;
import verbena.nic.device.DeviceContext;
import verbena.nic.kind.HostProvider;
import verbena.nic.kind.NodeGuid;
import verbena.nic.link.FramelessLink;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.link.LinkException;
import verbena.nic.link.LinkKind;
import verbena.nic.link.tcp.TcpLink;
import verbena.nic.link.tcp.TcpLinks;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.DeviceException;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.verbs.TransportType;

/// iWARP in user space, on the addresses of one network interface.
///
/// @param name as [Device#name()]
/// @param host the interface; its GIDs are the device's
public record IwarpDevice(String name, HostInterface host, Options options) implements Device {
    /// The options behind the first comma of its name.
    ///
    /// @param link how its sockets are made
    /// @param crc whether it asks for CRCs (RFC 5044, 7.1)
    /// @param capture where its streams are written, null for nowhere
    public record Options(
            LinkKind link, boolean crc, @Nullable CaptureFile capture) {
        /// Reads options as they stand behind the first comma of a name.
        ///
        /// @throws IllegalArgumentException when there is no such option or it has no such value
        public static Options parse(String name, String text) {
            return HostProvider.options(name, text, new Options(LinkKind.AUTO, true, null), Options::with);
        }

        private Options with(String setting) {
            String[] pair = setting.split("=", 2);
            String value = pair.length == 2 ? pair[1] : "";
            return switch (pair[0]) {
                case "link" -> new Options(LinkKind.parse(value), crc, capture);
                case "crc" ->
                    new Options(
                            link,
                            switch (value) {
                                case "on" -> true;
                                case "off" -> false;
                                default -> throw new IllegalArgumentException("crc: on or off, got \"" + value + "\"");
                            },
                            capture);
                case "capture" -> new Options(link, crc, CaptureFile.parse(value));
                default ->
                    throw new IllegalArgumentException(
                            "there is no option \"" + pair[0] + "\"; there are capture, crc and link");
            };
        }
    }

    @Override
    public TransportType transportType() {
        return TransportType.IWARP;
    }

    @Override
    public long nodeGuid() {
        return NodeGuid.of(host, name);
    }

    @Override
    public List<GidEntry> gids() {
        return host.gids().stream()
                .map(entry -> new GidEntry(
                        entry.index(), entry.gid(), GidType.IWARP, entry.networkInterface(), entry.interfaceIndex()))
                .toList();
    }

    @Override
    public Context open() {
        try {
            TcpLink link = TcpLinks.open(gids(), options.link());
            var context = DeviceContext.open(
                    this,
                    List.of(new FramelessLink(link)),
                    opened -> new IwarpKind(opened, link, options.crc()),
                    host.pathMtu());
            context.watchNetwork();
            return context.capturing(options.capture());
        } catch (LinkException e) {
            throw new DeviceException("open " + name + ": " + e.getMessage(), e);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
