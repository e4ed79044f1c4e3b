package verbena.nic.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.nic.link.udp.LinuxUdpLink;
import verbena.nic.link.udp.UdpLink;
import verbena.nic.link.udp.UdpOptions;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;

class InterfacesTest {
    @Test
    void loopbackIsAmongThem() {
        Interfaces.HostInterface loopback = Interfaces.loopback();

        assertThat(Interfaces.all()).contains(loopback);
        assertThat(loopback.up()).isTrue();
        assertThat(loopback.mac()).isZero();
        assertThat(loopback.index()).isPositive();
        assertThat(loopback.pathMtu().bytes()).isEqualTo(4096);
        assertThat(loopback.gids()).anyMatch(e -> e.gid().toString().equals("127.0.0.1"));
    }

    @Test
    void gidsAreLinkLocalThenIpv4ThenOtherIpv6AndNumbered() {
        for (Interfaces.HostInterface one : Interfaces.all()) {
            List<Integer> ranks = one.gids().stream()
                    .map(e -> e.gid().isLinkLocal() ? 0 : e.gid().isIpv4() ? 1 : 2)
                    .toList();
            assertThat(ranks).isSorted();
            for (int i = 0; i < one.gids().size(); i++) {
                GidEntry entry = one.gids().get(i);
                assertThat(entry.index()).isEqualTo(i);
                assertThat(entry.type()).isEqualTo(GidType.ROCE_V2);
                assertThat(entry.networkInterface()).isEqualTo(one.name());
                assertThat(entry.interfaceIndex()).isEqualTo(one.index());
            }
        }
    }

    @Test
    void loopbackCanHaveAnyAddressOf127() {
        InetAddress address = InetAddress.ofLiteral("127.8.7.6");
        Interfaces.HostInterface loopback = Interfaces.loopback().withOnly(address);

        assertThat(loopback.gids()).hasSize(1);
        assertThat(loopback.gids().getFirst().gid().toString()).isEqualTo("127.8.7.6");
        assertThat(loopback.mtu()).isEqualTo(Interfaces.loopback().mtu());
    }

    // protocol: the largest of 256 to 4096 that is no more than the interface's MTU less 80
    @ParameterizedTest
    @CsvSource({
        "65536, 4096",
        "9000, 4096",
        "4180, 4096",
        "4176, 4096",
        "4175, 2048",
        "2128, 2048",
        "1500, 1024",
        "1400, 1024",
        "1104, 1024",
        "1103, 512",
        "592, 512",
        "591, 256",
        "336, 256",
        "68, 256"
    })
    void thePathMtuLeavesRoomForTheHeaders(int interfaceMtu, int pathMtu) {
        assertThat(PathMtu.ofInterface(interfaceMtu).bytes()).isEqualTo(pathMtu);
    }

    @Test
    void candidatesKeepAwayFromTheEdges() {
        var random = new Random(1);
        var seen = new HashSet<Inet4Address>();
        for (int i = 0; i < 100_000; i++) {
            Inet4Address candidate = LoopbackAddress.candidate(random);
            byte[] bytes = candidate.getAddress();
            assertThat(bytes[0]).isEqualTo((byte) 127);
            assertThat(bytes[1]).isNotIn((byte) 0, (byte) 255);
            assertThat(bytes[3]).isNotIn((byte) 0, (byte) 255);
            seen.add(candidate);
        }
        assertThat(seen).hasSizeGreaterThan(99_000);
    }

    @Test
    void aTakenAddressIsPassedOver() {
        var tried = new HashSet<InetAddress>();
        InetAddress claimed = LoopbackAddress.claim(address -> {
            tried.add(address);
            if (tried.size() < 5) {
                throw new LinkException(LinkException.Kind.PORT_IN_USE, "taken");
            }
            return address;
        });
        assertThat(tried).hasSize(5).contains(claimed);
    }

    @Test
    void thereIsAnEndToTrying() {
        assertThatThrownBy(() -> LoopbackAddress.claim(_ -> {
                    throw new LinkException(LinkException.Kind.PORT_IN_USE, "taken");
                }))
                .isInstanceOf(LinkException.class)
                .hasMessageContaining(LoopbackAddress.ATTEMPTS_MAX + " random addresses");
    }

    @Test
    void theChoiceOfLinkCanBeSpelt() {
        assertThat(LinkKind.parse("linux")).isEqualTo(LinkKind.LINUX);
        assertThat(LinkKind.parse("portable")).isEqualTo(LinkKind.PORTABLE);
        assertThat(LinkKind.parse("auto")).isEqualTo(LinkKind.AUTO);
        assertThatThrownBy(() -> LinkKind.parse("fast")).hasMessageContaining("auto, linux or portable");
    }

    @Test
    void autoTakesWhatItSaysItTakes() {
        try (UdpLink link = LinkBench.openAnywhere(UdpOptions.DEFAULT)) {
            assertThat(link instanceof LinuxUdpLink).isEqualTo(NativeAccess.whyPortable() == null);
        }
    }
}
