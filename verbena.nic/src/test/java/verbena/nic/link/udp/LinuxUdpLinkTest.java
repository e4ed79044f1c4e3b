package verbena.nic.link.udp;

import static org.assertj.core.api.Assertions.assertThat;
import static verbena.nic.link.LinkBench.anyGroup;
import static verbena.nic.link.LinkBench.filled;
import static verbena.nic.link.LinkBench.frames;
import static verbena.nic.link.LinkBench.gidOf;
import static verbena.nic.link.LinkBench.receiveAll;

import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.LinkBench;
import verbena.nic.link.LinkKind;
import verbena.nic.link.LoopbackAddress;
import verbena.nic.link.UnreadSockets;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

@EnabledOnOs(value = OS.LINUX, disabledReason = "Linux system calls")
class LinuxUdpLinkTest extends UdpLinkContract {
    @Override
    LinkKind kind() {
        return LinkKind.LINUX;
    }

    @Test
    void aLinkSaysThatItMayHaveMoreUntilItHasFoundNothing() {
        try (UdpLink a = LinkBench.openAnywhere(LinkBench.options(kind()));
                UdpLink b = LinkBench.openAnywhere(LinkBench.options(kind()))) {
            Frame[] sent = filled(2, gidOf(a), gidOf(b), 64);
            Frame[] received = frames(2);
            a.transmit(sent, 0, 1);
            a.transmit(sent, 1, 1);
            assertThat(b.mayHaveMore()).isFalse();
            assertThat(LinkBench.receive(b, received, 0, 2)).isEqualTo(1);
            assertThat(b.mayHaveMore()).isTrue();
            assertThat(receiveAll(b, received, 1)).isEqualTo(1);
            assertThat(LinkBench.receive(b, received, 0, 2)).isZero();
            assertThat(b.mayHaveMore()).isFalse();
        }
    }

    @Test
    void aLinkSeesWhatLiesUnreadInTheSocketOfAnother() {
        try (UdpLink a = LinkBench.openAnywhere(LinkBench.options(kind()));
                UdpLink b = LinkBench.openAnywhere(LinkBench.options(kind()))) {
            var linux = new LinuxSockets(Arena.ofAuto());
            long[] now = {0};
            var sockets = new UnreadDatagrams(linux, new int[] {RoceV2.UDP_PORT}, () -> now[0]);
            assertThat(sockets.unread(gidOf(b))).isEmpty();
            a.transmit(filled(2, gidOf(a), gidOf(b), 64), 0, 1);
            assertThat(sockets.unread(gidOf(b))).as("as looked at before").isEmpty();

            now[0] += UnreadDatagrams.FRESH_NANOS;
            assertThat(sockets.unread(gidOf(b)).values())
                    .singleElement()
                    .satisfies(bytes -> assertThat(bytes).isGreaterThanOrEqualTo(64));
            assertThat(sockets.unread(gidOf(a))).isEmpty();
            assertThat(sockets.unread(Gid.parse("192.0.2.1")))
                    .as("another host")
                    .isEmpty();
            assertThat(a.service(UnreadSockets.class)).isSameAs(a);
            assertThat(receiveAll(b, frames(1), 1)).isEqualTo(1);

            now[0] += UnreadDatagrams.FRESH_NANOS;
            assertThat(sockets.unread(gidOf(b))).isEmpty();
        }
    }

    /// A link of two addresses asks the one that brought messages last without looking at the other, a few times.
    @Test
    void theOtherAddressIsHeardWhileOneBringsMessageAfterMessage() {
        InetAddress[] addresses = {LoopbackAddress.find(RoceV2.UDP_PORT), LoopbackAddress.find(RoceV2.UDP_PORT)};
        List<GidEntry> entries = List.of(LinkBench.entry(0, addresses[0]), LinkBench.entry(1, addresses[1]));
        Gid busy = entries.get(0).gid();
        Gid quiet = entries.get(1).gid();
        try (UdpLink a = LinkBench.openAnywhere(LinkBench.options(kind()));
                UdpLink two = UdpLinks.open(entries, RoceV2.UDP_PORT, LinkBench.options(kind()))) {
            Frame[] toBusy = filled(1, gidOf(a), busy, 64);
            Frame[] toQuiet = filled(1, gidOf(a), quiet, 64);
            Frame[] received = frames(1);
            a.transmit(toBusy, 0, 1);
            assertThat(LinkBench.receive(two, received, 0, 1)).isEqualTo(1);
            a.transmit(toQuiet, 0, 1);

            int others = 0;
            long low = 0;
            while (low != quiet.low() && others <= 20) {
                a.transmit(toBusy, 0, 1);
                assertThat(two.receive(received, 0, 1)).isEqualTo(1);
                low = received[0].destinationLow;
                others++;
                assertThat(two.mayHaveMore()).isTrue();
            }

            assertThat(others).isBetween(2, 20);
        }
    }

    /// A sleep ends for each address, and then the link looks at each.
    @Test
    void afterASleepAnyAddressIsHeardAtOnce() {
        InetAddress[] addresses = {LoopbackAddress.find(RoceV2.UDP_PORT), LoopbackAddress.find(RoceV2.UDP_PORT)};
        List<GidEntry> entries = List.of(LinkBench.entry(0, addresses[0]), LinkBench.entry(1, addresses[1]));
        try (UdpLink a = LinkBench.openAnywhere(LinkBench.options(kind()));
                UdpLink two = UdpLinks.open(entries, RoceV2.UDP_PORT, LinkBench.options(kind()))) {
            Frame[] received = frames(1);
            for (int i : new int[] {0, 1, 1, 0, 1, 0}) {
                a.transmit(filled(1, gidOf(a), entries.get(i).gid(), 64), 0, 1);
                two.await(LinkBench.TIMEOUT_NANOS);
                assertThat(two.receive(received, 0, 1)).isEqualTo(1);
                assertThat(received[0].destinationLow)
                        .isEqualTo(entries.get(i).gid().low());
            }
        }
    }

    @Test
    void trafficClassAndHopLimitArrive() {
        try (UdpLink a = LinkBench.openAnywhere(LinkBench.options(kind()));
                UdpLink b = LinkBench.openAnywhere(LinkBench.options(kind()))) {
            Frame[] sent = filled(4, gidOf(a), gidOf(b), 64);
            sent[1].trafficClass = 0x6B; // DSCP 26, congestion experienced
            sent[2].hopLimit = 3;
            sent[3].trafficClass = 0x01; // ECT(1)
            sent[3].hopLimit = 255;
            Frame[] received = frames(4);
            a.transmit(sent, 0, 4);
            receiveAll(b, received, 4);

            assertThat(received).extracting(f -> f.trafficClass).containsExactly(0, 0x6B, 0, 0x01);
            assertThat(received).extracting(f -> f.hopLimit).containsExactly(64, 64, 3, 255);
        }
    }

    /// After many packets that ask for the same, the socket itself is set to it.
    @Test
    void trafficClassAndHopLimitArriveAlsoWhenTheyStayTheSame() {
        try (UdpLink a = LinkBench.openAnywhere(LinkBench.options(kind()));
                UdpLink b = LinkBench.openAnywhere(LinkBench.options(kind()))) {
            Frame[] received = frames(1);
            int[][] asked = {{255, 0x6B}, {0, 0}, {255, 0x6B}, {255, 0}, {7, 1}};
            for (int[] values : asked) {
                for (int i = 0; i < 50; i++) {
                    Frame[] sent = filled(2, gidOf(a), gidOf(b), 64);
                    sent[0].hopLimit = values[0];
                    sent[0].trafficClass = values[1];
                    sent[1].hopLimit = 9;
                    for (Frame frame : sent) {
                        a.transmit(new Frame[] {frame}, 0, 1);
                        receiveAll(b, received, 1);
                        assertThat(received[0].hopLimit).isEqualTo(frame.hopLimit == 0 ? 64 : frame.hopLimit);
                        assertThat(received[0].trafficClass).isEqualTo(frame.trafficClass);
                        if (i < 30) {
                            break; // the second only now and then, or nothing would stay the same
                        }
                    }
                }
            }
        }
    }

    @Test
    void theHopLimitOfAMulticastIsOneUnlessItIsGiven() {
        try (UdpLink a = LinkBench.openAnywhere(LinkBench.options(kind()))) {
            Gid group = anyGroup();
            a.join(group);
            Frame[] sent = filled(4, gidOf(a), group, 64);
            sent[1].hopLimit = 1;
            sent[2].hopLimit = 64;
            sent[3].hopLimit = 9;
            sent[3].trafficClass = 0x6B;
            Frame[] received = frames(4);
            a.transmit(sent, 0, 4);
            receiveAll(a, received, 4);

            assertThat(received).extracting(f -> f.hopLimit).containsExactly(1, 1, 64, 9);
            assertThat(received).extracting(f -> f.trafficClass).containsExactly(0, 0, 0, 0x6B);
        }
    }

    /// After a sleep that brought one message, the next call asks for one message first.
    @Test
    void manyMessagesAfterOneAllArrive() {
        try (UdpLink a = LinkBench.openAnywhere(LinkBench.options(kind()));
                UdpLink b = LinkBench.openAnywhere(LinkBench.options(kind()))) {
            Frame[] sent = filled(8, gidOf(a), gidOf(b), 64);
            Frame[] received = frames(8);
            for (int round = 0; round < 3; round++) {
                a.transmit(sent, 0, 1);
                b.await(LinkBench.TIMEOUT_NANOS);
                assertThat(b.receive(received, 0, 8)).isEqualTo(1);
                for (int i = 0; i < 8; i++) {
                    a.transmit(sent, i, 1);
                }
                b.await(LinkBench.TIMEOUT_NANOS);
                for (int arrived = 0; arrived < 8; ) {
                    int some = b.receive(received, arrived, 8 - arrived);
                    assertThat(some).isPositive();
                    arrived += some;
                    assertThat(arrived == 8 || b.mayHaveMore()).isTrue();
                }
            }
        }
    }

    @Test
    void thePacketPathAllocatesNothing() {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (UdpLink a = LinkBench.openAnywhere(LinkBench.options(kind()));
                UdpLink b = LinkBench.openAnywhere(LinkBench.options(kind()))) {
            Frame[] sent = filled(64, gidOf(a), gidOf(b), 256);
            Frame[] received = frames(64);
            long least = Long.MAX_VALUE;
            // Until the compiler has done its work; then a thousand packets must allocate nothing.
            for (int attempt = 0; attempt < 200 && least > 0; attempt++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < 100; i++) {
                    a.transmit(sent, 0, 64);
                    b.await(LinkBench.TIMEOUT_NANOS);
                    b.receive(received, 0, 64);
                    a.wakeup();
                    a.await(0);
                }
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
            }
            assertThat(least).isZero();
        }
    }
}
