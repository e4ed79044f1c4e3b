package verbena.nic.link.udp;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.DatagramChannel;
import java.nio.channels.MembershipKey;
import jdk.net.ExtendedSocketOptions;
import verbena.nic.link.Channels;
import verbena.nic.link.Interfaces;
import verbena.nic.link.LinkException;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;

/// The factory of the channels of a [DatagramChannelLink], with those options for RoCE v2 that the JDK offers.
final class UdpChannels {
    private final int port;
    private final UdpOptions options;
    private final boolean isLone;

    /// A channel and its membership in a group.
    record Joined(DatagramChannel channel, MembershipKey membership) {}

    /// @param port the port of all channels
    /// @param isLone whether own addresses of loopback are [StandIn]s
    UdpChannels(int port, UdpOptions options, boolean isLone) {
        this.port = port;
        this.options = options;
        this.isLone = isLone;
    }

    /// Opens a channel that is bound to an own address, for all packets from and to that address.
    ///
    /// @throws LinkException when the address cannot be had
    DatagramChannel openOwn(GidEntry entry) {
        Gid gid = entry.gid();
        DatagramChannel channel = openChannel(gid);
        boolean bound = false;
        try {
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.SO_RCVBUF, options.receiveBufferBytes());
            channel.setOption(StandardSocketOptions.SO_SNDBUF, options.sendBufferBytes());
            channel.setOption(StandardSocketOptions.IP_MULTICAST_LOOP, true);
            NetworkInterface at = NetworkInterface.getByIndex(entry.interfaceIndex());
            if (at != null) {
                channel.setOption(StandardSocketOptions.IP_MULTICAST_IF, at);
            }
            bind(channel, gid, entry);
            bound = true;
            return channel;
        } catch (IOException e) {
            throw Channels.bindFailed(gid.address(), port, e);
        } finally {
            if (!bound) {
                Channels.close(channel);
            }
        }
    }

    /// Opens a channel that is bound to a group, so that it gets no other packets.
    ///
    /// @throws LinkException when the membership cannot be had
    Joined openGroup(Gid group, GidEntry at) {
        DatagramChannel channel = openChannel(group);
        boolean joined = false;
        try {
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.SO_RCVBUF, options.receiveBufferBytes());
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            bind(channel, group, at);
            MembershipKey membership = channel.join(group.address(), Interfaces.of(group, at));
            joined = true;
            return new Joined(channel, membership);
        } catch (IOException e) {
            String words = String.valueOf(e.getMessage());
            throw LinkException.ofJoin(Channels.kindOf(words), group, at, words, e);
        } finally {
            if (!joined) {
                Channels.close(channel);
            }
        }
    }

    private DatagramChannel openChannel(Gid gid) {
        try {
            return DatagramChannel.open(gid.isIpv4() ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6);
        } catch (UnsupportedOperationException | IOException e) {
            String words = String.valueOf(e.getMessage());
            throw LinkException.ofBind(LinkException.Kind.UNSUPPORTED, gid.toString(), port, words, e);
        }
    }

    @SuppressWarnings("AddressSelection") // the group has one address, which is bound, not resolved
    private void bind(DatagramChannel channel, Gid gid, GidEntry at) throws IOException {
        InetAddress address = Interfaces.scoped(gid, at.interfaceIndex());
        channel.bind(isLone ? StandIn.socketOf(address, port) : new InetSocketAddress(address, port));
    }

    /// Forbids fragmentation, so that Linux sends IPv4 identification 0 and DF: the ICRC is sealed for these. False
    /// where the platform has no such option; peers that check the ICRC strictly then drop packets over IPv4.
    static boolean forbidFragmentation(DatagramChannel channel) throws IOException {
        if (!channel.supportedOptions().contains(ExtendedSocketOptions.IP_DONTFRAGMENT)) {
            return false;
        }
        channel.setOption(ExtendedSocketOptions.IP_DONTFRAGMENT, true);
        return true;
    }
}
