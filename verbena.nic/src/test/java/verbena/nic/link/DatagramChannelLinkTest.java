package verbena.nic.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import verbena.verbs.Gid;

class DatagramChannelLinkTest extends UdpLinkContract {
    @Override
    UdpLinks.Kind kind() {
        return UdpLinks.Kind.PORTABLE;
    }

    @Test
    void thisPlatformForbidsFragmentation() {
        try (UdpLink link = LinkBench.openAnywhere(LinkBench.options(kind()))) {
            assertThat(((DatagramChannelLink) link).isFragmentationForbidden()).isTrue();
        }
    }

    @Test
    void addressesAreMadeOnceAndTheirNumberIsBounded() {
        var cache = new AddressCache(4791, 3);
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
}
