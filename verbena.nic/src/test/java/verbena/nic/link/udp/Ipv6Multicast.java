package verbena.nic.link.udp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static verbena.nic.link.LinkBench.drain;
import static verbena.nic.link.LinkBench.filled;
import static verbena.nic.link.LinkBench.frames;
import static verbena.nic.link.LinkBench.gidOf;
import static verbena.nic.link.LinkBench.receiveAll;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import verbena.nic.link.Interfaces;
import verbena.nic.link.LinkBench;
import verbena.nic.link.LinkException;
import verbena.nic.link.LinkKind;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.GidType;
import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// A program for [Ipv6MulticastTest]; ends with an exception when a check fails.
final class Ipv6Multicast {
    private static final int SMALL = 64;

    private final UdpOptions options;

    private Ipv6Multicast(LinkKind kind) {
        options = LinkBench.options(kind);
    }

    public static void main(String[] arguments) throws Exception {
        LinkKind kind = LinkKind.parse(arguments[0]);
        var test = new Ipv6Multicast(kind);
        test.groupOf(Gid.parse("ff02::77"));
        test.groupOf(Gid.parse("ff12::77"));
        // A portable socket cannot distinguish these groups by their interface.
        test.groupAtTheFarEnd(Gid.parse("ff15::77"));
        if (kind == LinkKind.LINUX) {
            test.groupOf(Gid.parse("ff15::77"));
            test.groupOf(Gid.parse("ff0e::77"));
        }
        test.loopbackNeedsARoute(Gid.parse("ff15::78"));
    }

    private void groupOf(Gid group) {
        try (UdpLink west = open("fe80::1", "fd99::1");
                UdpLink east = open("fd99::2");
                UdpLink other = open("fd99::3")) {
            List<UdpLink> members = List.of(west, east, other);
            members.forEach(member -> member.join(group));
            for (GidEntry from : west.gids()) {
                assertThat(west.transmit(filled(3, from.gid(), group, SMALL), 0, 3))
                        .isEqualTo(3);
                members.forEach(member -> gets(member, 3, from.gid(), group));
            }
            east.leave(group);
            west.transmit(filled(1, gidOf(west), group, SMALL), 0, 1);
            gets(other, 1, gidOf(west), group);
            gets(west, 1, gidOf(west), group);
            assertThat(drain(east, frames(4))).isZero();
            assertThat(west.unsendable()).isZero();
        }
        // A link on both interfaces receives its own packets by both.
        try (UdpLink both = open("fd99::1", "fd99::2")) {
            both.join(group);
            both.transmit(filled(1, gidOf(both), group, SMALL), 0, 1);
            gets(both, 2, gidOf(both), group);
        }
    }

    private void groupAtTheFarEnd(Gid group) {
        try (UdpLink west = open("fd99::1");
                UdpLink east = open("fd99::2");
                UdpLink other = open("fd99::3")) {
            east.join(group);
            other.join(group);
            west.transmit(filled(3, gidOf(west), group, SMALL), 0, 3);
            gets(east, 3, gidOf(west), group);
            gets(other, 3, gidOf(west), group);
            assertThat(drain(west, frames(1))).isZero();
        }
    }

    private static void gets(UdpLink link, int count, Gid source, Gid group) {
        Frame[] received = frames(count + 1);
        assertThat(receiveAll(link, received, count)).isEqualTo(count);
        for (int i = 0; i < count; i++) {
            assertThat(received[i].icrcValid).isTrue();
            assertThat(new Gid(received[i].sourceHigh, received[i].sourceLow)).isEqualTo(source);
            assertThat(new Gid(received[i].destinationHigh, received[i].destinationLow))
                    .isEqualTo(group);
        }
        assertThat(drain(link, received)).isZero();
    }

    // The message of the refusal contains all that is needed.
    private void loopbackNeedsARoute(Gid group) throws Exception {
        try (UdpLink local = open("::1")) {
            var refused = catchThrowableOfType(LinkException.class, () -> local.join(group));
            assertThat(refused.kind()).isEqualTo(LinkException.Kind.UNSUPPORTED);
            assertThat(refused).hasMessageStartingWith("multicast group ff15::78 on lo: ");
            String message = refused.getMessage();
            String command = message.substring(message.indexOf("as root: ") + "as root: ".length());
            assertThat(new ProcessBuilder(command.split(" ", -1))
                            .inheritIO()
                            .start()
                            .waitFor())
                    .as(command)
                    .isZero();

            local.join(group);
            local.transmit(filled(2, gidOf(local), group, SMALL), 0, 2);
            gets(local, 2, gidOf(local), group);
        }
    }

    private UdpLink open(String... addresses) {
        var entries = new ArrayList<GidEntry>();
        for (String address : addresses) {
            Predicate<GidEntry> isIt = entry -> entry.gid().equals(Gid.parse(address));
            GidEntry found = Interfaces.all().stream()
                    .flatMap(one -> one.gids().stream())
                    .filter(isIt)
                    .findFirst()
                    .orElseThrow();
            entries.add(new GidEntry(
                    entries.size(), found.gid(), GidType.ROCE_V2, found.networkInterface(), found.interfaceIndex()));
        }
        return UdpLinks.open(entries, RoceV2.UDP_PORT, options);
    }
}
