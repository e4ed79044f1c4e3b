package verbena.nic.link.udp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import verbena.nic.link.LinkBench;
import verbena.nic.link.LinkKind;
import verbena.nic.link.LoopbackAddress;
import verbena.verbs.Gid;
import verbena.wire.Frame;

class DatagramChannelLinkTest extends UdpLinkContract {
    private final int port = freePort();

    @Override
    LinkKind kind() {
        return LinkKind.PORTABLE;
    }

    @Test
    void thisPlatformForbidsFragmentation() {
        try (UdpLink link = LinkBench.openAnywhere(LinkBench.options(kind()))) {
            assertThat(((DatagramChannelLink) link).isFragmentationForbidden()).isTrue();
        }
    }

    @Test
    void addressesAreMadeOnceAndTheirNumberIsBounded() {
        var cache = new AddressCache(4791, 3, false);
        Gid first = Gid.parse("10.77.0.1");
        InetSocketAddress made = cache.of(first.high(), first.low());

        assertThat(made).isEqualTo(new InetSocketAddress(InetAddress.ofLiteral("10.77.0.1"), 4791));
        assertThat(cache.of(first.high(), first.low())).isSameAs(made);
        for (int i = 0; i < 10 * AddressCache.CAPACITY; i++) {
            InetSocketAddress other = cache.of(0x2001_0db8L << 32, i);
            assertThat(Gid.of(other.getAddress())).isEqualTo(new Gid(0x2001_0db8L << 32, i));
        }
        assertThat(cache.of(first.high(), first.low())).isEqualTo(made);
    }

    /// As on macOS, where of 127.0.0.0/8 only 127.0.0.1 is local.
    @Test
    void atOneAddressLinksHaveAddressesThatStandForPorts() throws IOException {
        try (DatagramChannelLink named = lone(InetAddress.ofLiteral("127.0.0.1"));
                DatagramChannelLink one = LoopbackAddress.claim(this::lone, StandIn::candidate);
                DatagramChannelLink two = LoopbackAddress.claim(this::lone, StandIn::candidate)) {
            assertThat(LinkBench.addressOf(one)).isNotEqualTo(LinkBench.addressOf(two));
            for (UdpLink[] way : new UdpLink[][] {{one, two}, {two, one}, {one, named}, {named, one}, {one, one}}) {
                Gid from = LinkBench.gidOf(way[0]);
                Gid to = LinkBench.gidOf(way[1]);
                Frame[] sent = LinkBench.frames(1);
                LinkBench.fill(sent[0], from, to, 7, 100);
                assertThat(way[0].transmit(sent, 0, 1)).isEqualTo(1);
                assertThat(sent[0].marks.unsendable).isFalse();

                Frame[] received = LinkBench.frames(1);
                assertThat(LinkBench.receive(way[1], received, 0, 1)).isEqualTo(1);
                assertThat(received[0].icrcValid).isTrue();
                assertThat(new Gid(received[0].sourceHigh, received[0].sourceLow))
                        .isEqualTo(from);
                assertThat(new Gid(received[0].destinationHigh, received[0].destinationLow))
                        .isEqualTo(to);
                assertThat(received[0].sourcePort).isEqualTo(port);
            }
        }
    }

    private static int freePort() {
        try (var probe = new DatagramSocket(0, InetAddress.ofLiteral("127.0.0.1"))) {
            return probe.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private DatagramChannelLink lone(InetAddress address) {
        return new DatagramChannelLink(List.of(LinkBench.entry(0, address)), port, LinkBench.options(kind()), true);
    }
}
