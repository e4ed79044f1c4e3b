package verbena.ibverbs.lib;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;

/// The membership of this host in a multicast group. It is announced on the network (IGMP, MLD), so that switches
/// forward the group's packets. The device's own filter is set by ibv_attach_mcast(3); on InfiniBand the subnet
/// manager requires more.
public final class Membership implements AutoCloseable {
    private final @Nullable DatagramChannel channel;

    private Membership(@Nullable DatagramChannel channel) {
        this.channel = channel;
    }

    /// Joins on the interface of a GID table; where there is none, or it does not take it, nothing is said.
    public static Membership join(Gid group, List<GidEntry> table) {
        InetAddress address = group.address();
        String name = table.stream()
                .map(GidEntry::networkInterface)
                .filter(each -> !each.isEmpty())
                .findFirst()
                .orElse("");
        DatagramChannel channel = null;
        try {
            NetworkInterface on = name.isEmpty() ? null : NetworkInterface.getByName(name);
            if (on == null) {
                return new Membership(null);
            }
            channel = DatagramChannel.open(
                    address instanceof Inet4Address ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6);
            channel.join(address, on);
            return new Membership(channel);
        } catch (IOException | IllegalArgumentException e) {
            new Membership(channel).close();
            return new Membership(null);
        }
    }

    @Override
    public void close() {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            // It has left.
        }
    }
}
