package verbena.nic.link.udp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.List;
import verbena.nic.link.Interfaces;
import verbena.nic.link.LinkBench;
import verbena.nic.link.LinkException;
import verbena.nic.link.LinkKind;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.roce.RoceV2;

/// A program for [NewAddressTest]; ends with an exception when a check fails.
final class NewAddress {
    private NewAddress() {}

    public static void main(String[] arguments) {
        Interfaces.HostInterface west = Interfaces.all().stream()
                .filter(one -> one.name().equals("west"))
                .findFirst()
                .orElseThrow();
        assertThat(west.gids()).extracting(GidEntry::gid).contains(Gid.parse("fe80::1"), Gid.parse("fd99::1"));
        UdpOptions options = LinkBench.options(LinkKind.LINUX);
        try (UdpLink link = UdpLinks.open(west.gids(), RoceV2.UDP_PORT, options)) {
            assertThat(link.gids()).isEqualTo(west.gids());
        }
        GidEntry first = west.gids().getFirst();
        var unassigned = new GidEntry(0, Gid.parse("fd99::77"), first.type(), west.name(), west.index());
        assertThatExceptionOfType(LinkException.class)
                .isThrownBy(() -> UdpLinks.open(List.of(unassigned), RoceV2.UDP_PORT, options))
                .matches(e -> e.kind() == LinkException.Kind.ADDRESS_NOT_LOCAL);
    }
}
