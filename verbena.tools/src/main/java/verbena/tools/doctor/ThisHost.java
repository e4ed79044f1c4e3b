package verbena.tools.doctor;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.DatagramChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import jdk.net.ExtendedSocketOptions;
import verbena.ibverbs.IbverbsProvider;
import verbena.nic.link.Interfaces;
import verbena.nic.link.Interfaces.HostInterface;
import verbena.nic.link.LoopbackAddress;
import verbena.nic.link.NativeAccess;
import verbena.nic.link.udp.UdpLink;
import verbena.nic.link.udp.UdpLinks;
import verbena.nic.link.udp.UdpOptions;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.wire.roce.RoceV2;

/// The host that this JVM runs on.
final class ThisHost implements Surroundings {
    @Override
    public Path root() {
        return Path.of("/");
    }

    @Override
    public String property(String name) {
        return System.getProperty(name, "");
    }

    @Override
    public Optional<String> whyPortable() {
        return Optional.ofNullable(NativeAccess.whyPortable());
    }

    @Override
    public Optional<String> whyNoVerbs() {
        return IbverbsProvider.whyNot();
    }

    @Override
    public List<HostInterface> interfaces() {
        return Interfaces.all();
    }

    @Override
    public boolean isLoopbackWhole() {
        return LoopbackAddress.isWhole();
    }

    @Override
    public long receiveBufferBytes() {
        try (UdpLink link = openOnLoopback(Interfaces.loopback())) {
            return link.receiveBufferBytes();
        }
    }

    @Override
    public Context open(String device) {
        return Device.named(device).open();
    }

    @Override
    public List<InetAddress> resolve(String host) throws UnknownHostException {
        return List.of(InetAddress.getAllByName(host));
    }

    @Override
    public InetAddress sourceTowards(InetAddress peer) throws IOException {
        try (var probe = DatagramChannel.open()) {
            probe.connect(new InetSocketAddress(peer, RoceV2.UDP_PORT));
            return ((InetSocketAddress) probe.getLocalAddress()).getAddress();
        }
    }

    @Override
    public Echo knock(InetAddress own, InetSocketAddress peer, int bytes, Duration timeout) throws IOException {
        try (var socket = new DatagramSocket(new InetSocketAddress(own, 0))) {
            if (socket.supportedOptions().contains(ExtendedSocketOptions.IP_DONTFRAGMENT)) {
                socket.setOption(ExtendedSocketOptions.IP_DONTFRAGMENT, true);
            }
            socket.setSoTimeout((int) Math.max(1, timeout.toMillis()));
            socket.connect(peer);
            socket.send(new DatagramPacket(new byte[bytes], bytes));
            socket.receive(new DatagramPacket(new byte[1], 1));
            return Echo.SILENCE; // the peer answers with data of its own: no error
        } catch (PortUnreachableException _) {
            return Echo.REFUSED;
        } catch (SocketTimeoutException _) {
            return Echo.SILENCE;
        } catch (IOException e) {
            // The JDK tells causes apart by the system's words only.
            String words = String.valueOf(e.getMessage());
            if (words.contains("too long")) {
                return Echo.TOO_LARGE;
            }
            if (words.contains("o route") || words.contains("nreachable")) {
                return Echo.UNREACHABLE;
            }
            throw e;
        }
    }

    @Override
    public Questions questions(HostInterface own) {
        UdpLink link = own.gids().isEmpty() ? openOnLoopback(own) : open(own, UdpOptions.DEFAULT.share());
        return new ManagementQuestions(link);
    }

    private static UdpLink openOnLoopback(HostInterface loopback) {
        return UdpLinks.openOnLoopback(loopback, RoceV2.UDP_PORT, UdpOptions.DEFAULT);
    }

    private static UdpLink open(HostInterface own, UdpOptions options) {
        return UdpLinks.open(own.gids(), RoceV2.UDP_PORT, options);
    }
}
