package verbena.nic.link.tcp;

import java.util.List;
import verbena.nic.link.LinkException;
import verbena.nic.link.LinkKind;
import verbena.nic.link.NativeAccess;
import verbena.verbs.GidEntry;

/// The factory of TCP links: the Linux one where it works, else the portable one.
public final class TcpLinks {
    private TcpLinks() {}

    /// Opens a link: the Linux link where it works, else the portable one, or a link of the given kind.
    ///
    /// @throws LinkException when the kind asked for does not work here
    public static TcpLink open(List<GidEntry> addresses, LinkKind kind) {
        String why = NativeAccess.whyPortable();
        return switch (kind) {
            case PORTABLE -> new ChannelTcpLink(addresses);
            case AUTO -> why == null ? new LinuxTcpLink(addresses) : new ChannelTcpLink(addresses);
            case LINUX -> {
                if (why != null) {
                    throw new LinkException(LinkException.Kind.UNSUPPORTED, "link=linux: " + why);
                }
                yield new LinuxTcpLink(addresses);
            }
        };
    }
}
