package verbena.nic.link.udp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static verbena.nic.link.LinkBench.SECOND;
import static verbena.nic.link.LinkBench.TIMEOUT_NANOS;
import static verbena.nic.link.LinkBench.addressOf;
import static verbena.nic.link.LinkBench.anyGroup;
import static verbena.nic.link.LinkBench.drain;
import static verbena.nic.link.LinkBench.fill;
import static verbena.nic.link.LinkBench.filled;
import static verbena.nic.link.LinkBench.frames;
import static verbena.nic.link.LinkBench.gidOf;
import static verbena.nic.link.LinkBench.lastByte;
import static verbena.nic.link.LinkBench.number;
import static verbena.nic.link.LinkBench.receiveAll;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.link.Interfaces;
import verbena.nic.link.LinkBench;
import verbena.nic.link.LinkException;
import verbena.nic.link.LinkKind;
import verbena.nic.link.LoopbackAddress;
import verbena.nic.link.PathMtu;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.Mtu;
import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// The contract of every UDP link, tested over loopback between two links of a kind.
@Timeout(120)
abstract class UdpLinkContract {
    private static final int SMALL = 64;
    private static final int FULL = 4096 + 12 + 16 + 4;

    private final UdpOptions options = LinkBench.options(kind());
    private UdpLink a;
    private UdpLink b;

    abstract LinkKind kind();

    @BeforeEach
    void open() {
        a = LinkBench.openAnywhere(options);
        b = LinkBench.openAnywhere(options);
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 63, 64, 65, 200})
    void aBatchArrivesWholeAndInOrder(int count) {
        Frame[] sent = filled(count, gidOf(a), gidOf(b), SMALL);
        Frame[] received = frames(count);

        assertThat(a.transmit(sent, 0, count)).isEqualTo(count);
        assertThat(receiveAll(b, received, count)).isEqualTo(count);

        for (int i = 0; i < count; i++) {
            assertThat(number(received[i])).isEqualTo(i);
            assertThat(lastByte(received[i])).isEqualTo((byte) i);
        }
    }

    @Test
    void aFrameTellsWhereItCameFromAndWhereItWent() {
        Frame[] sent = filled(1, gidOf(a), gidOf(b), SMALL);
        Frame[] received = frames(1);

        a.transmit(sent, 0, 1);
        receiveAll(b, received, 1);

        assertThat(new Gid(received[0].sourceHigh, received[0].sourceLow)).isEqualTo(gidOf(a));
        assertThat(new Gid(received[0].destinationHigh, received[0].destinationLow))
                .isEqualTo(gidOf(b));
        assertThat(received[0].sourcePort).isEqualTo(a.sourcePort(gidOf(a), gidOf(b)));
        assertThat(received[0].length).isEqualTo(SMALL);
        assertThat(received[0].icrcValid).isTrue();
        assertThat(received[0].packet().mismatch(sent[0].packet())).isEqualTo(-1);
    }

    @Test
    void fullPacketsGoBothWays() {
        Frame[] forth = filled(8, gidOf(a), gidOf(b), FULL);
        Frame[] back = filled(8, gidOf(b), gidOf(a), FULL);
        Frame[] atA = frames(8);
        Frame[] atB = frames(8);

        assertThat(a.transmit(forth, 0, 8)).isEqualTo(8);
        assertThat(b.transmit(back, 0, 8)).isEqualTo(8);

        assertThat(receiveAll(b, atB, 8)).isEqualTo(8);
        assertThat(receiveAll(a, atA, 8)).isEqualTo(8);
        for (int i = 0; i < 8; i++) {
            assertThat(atB[i].packet().mismatch(forth[i].packet())).isEqualTo(-1);
            assertThat(atA[i].packet().mismatch(back[i].packet())).isEqualTo(-1);
            assertThat(atA[i].icrcValid && atB[i].icrcValid).isTrue();
        }
    }

    @Test
    void theLargestPacketItPromisesArrives() {
        Frame[] sent = filled(1, gidOf(a), gidOf(b), a.packetMax());
        Frame[] received = frames(1);

        assertThat(a.transmit(sent, 0, 1)).isEqualTo(1);
        assertThat(receiveAll(b, received, 1)).isEqualTo(1);

        assertThat(received[0].length).isEqualTo(a.packetMax());
        assertThat(received[0].icrcValid).isTrue();
        assertThat(a.packetMax()).isGreaterThanOrEqualTo(Frame.PACKET_MAX - 4);
    }

    @Test
    void partsOfAnArrayAreLeftAlone() {
        Frame[] sent = filled(10, gidOf(a), gidOf(b), SMALL);
        Frame[] received = frames(10);

        assertThat(a.transmit(sent, 3, 4)).isEqualTo(4);
        b.await(TIMEOUT_NANOS);
        for (int n = 0; n < 3; ) { // a link may bring fewer than there are
            n += LinkBench.receive(b, received, 2 + n, 3 - n);
        }

        assertThat(received[1].length).isZero();
        assertThat(IntStream.range(2, 5).map(i -> number(received[i]))).containsExactly(3, 4, 5);
        assertThat(received[5].length).isZero();
        assertThat(LinkBench.receive(b, received, 5, 5)).isEqualTo(1);
        assertThat(number(received[5])).isEqualTo(6);
    }

    @Test
    void ipv6GoesThroughOneSocketToItself() {
        try (UdpLink six = openIpv6()) {
            Frame[] sent = filled(5, gidOf(six), gidOf(six), FULL);
            Frame[] received = frames(5);

            assertThat(six.transmit(sent, 0, 5)).isEqualTo(5);
            assertThat(receiveAll(six, received, 5)).isEqualTo(5);

            for (int i = 0; i < 5; i++) {
                assertThat(number(received[i])).isEqualTo(i);
                assertThat(received[i].icrcValid).isTrue();
                assertThat(new Gid(received[i].sourceHigh, received[i].sourceLow))
                        .isEqualTo(gidOf(six));
            }
        }
    }

    @Test
    void aLinkLocalAddressIsReachedThroughItsInterface() throws IOException {
        GidEntry local = Interfaces.all().stream()
                .filter(Interfaces.HostInterface::up)
                .flatMap(i -> i.gids().stream())
                .filter(e -> e.gid().isLinkLocal())
                .findFirst()
                .orElse(null);
        assumeTrue(local != null, "no interface here has a link-local IPv6 address");
        try (UdpLink link = openAtFreePort(local)) {
            Frame[] sent = filled(1, local.gid(), local.gid(), SMALL);
            Frame[] received = frames(1);

            assertThat(link.transmit(sent, 0, 1)).isEqualTo(1);
            assertThat(receiveAll(link, received, 1)).isEqualTo(1);

            assertThat(received[0].icrcValid).isTrue();
            assertThat(link.unsendable()).isZero();
            NetworkInterface at = NetworkInterface.getByIndex(local.interfaceIndex());
            assertThat(link.pathMtu()).isEqualTo(PathMtu.ofInterface(at.getMTU()));
        }
    }

    @Test
    void severalAddressesAreOneLink() {
        InetAddress[] addresses = {LoopbackAddress.find(RoceV2.UDP_PORT), LoopbackAddress.find(RoceV2.UDP_PORT)};
        List<GidEntry> entries = List.of(LinkBench.entry(0, addresses[0]), LinkBench.entry(1, addresses[1]));
        try (UdpLink two = UdpLinks.open(entries, RoceV2.UDP_PORT, options)) {
            assertThat(two.gids()).isEqualTo(entries);
            Frame[] sent = frames(6);
            for (int i = 0; i < 6; i++) {
                fill(sent[i], gidOf(a), entries.get(i % 2).gid(), i, SMALL);
            }
            Frame[] received = frames(6);

            assertThat(a.transmit(sent, 0, 6)).isEqualTo(6);
            assertThat(receiveAll(two, received, 6)).isEqualTo(6);

            for (Frame frame : received) {
                assertThat(new Gid(frame.destinationHigh, frame.destinationLow))
                        .isEqualTo(entries.get(number(frame) % 2).gid());
                assertThat(frame.icrcValid).isTrue();
            }
            Frame[] back = frames(6);
            for (int i = 0; i < 6; i++) {
                fill(back[i], entries.get(i % 2).gid(), gidOf(a), i, SMALL);
            }
            assertThat(two.transmit(back, 0, 6)).isEqualTo(6);
            assertThat(receiveAll(a, received, 6)).isEqualTo(6);
            assertThat(IntStream.range(0, 6).map(i -> number(received[i]))).containsExactly(0, 1, 2, 3, 4, 5);
        }
    }

    @Test
    void neitherAddressOfTwoIsStarved() {
        InetAddress[] addresses = {LoopbackAddress.find(RoceV2.UDP_PORT), LoopbackAddress.find(RoceV2.UDP_PORT)};
        List<GidEntry> entries = List.of(LinkBench.entry(0, addresses[0]), LinkBench.entry(1, addresses[1]));
        try (UdpLink two = UdpLinks.open(entries, RoceV2.UDP_PORT, options)) {
            for (GidEntry entry : entries) {
                Frame[] sent = filled(20, gidOf(a), entry.gid(), SMALL);
                assertThat(a.transmit(sent, 0, 20)).isEqualTo(20);
            }
            Frame[] received = frames(40);
            for (int i = 0; i < 40; i++) {
                assertThat(LinkBench.receive(two, received, i, 1)).isEqualTo(1);
            }

            // One of them waits at most for the packets that the other was sent in one piece.
            assertThat(IntStream.range(0, 21)
                            .mapToLong(i -> received[i].destinationLow)
                            .distinct())
                    .hasSize(2);
        }
    }

    @Test
    void whatFindsNoRoomIsLostAtTheReceiverAndNotInventedLater() {
        Frame[] sent = filled(64, gidOf(a), gidOf(b), FULL);
        Frame[] received = frames(20_000);
        int taken = 0;
        for (int round = 0; round < 250; round++) {
            for (int i = 0; i < 64; i++) {
                fill(sent[i], gidOf(a), gidOf(b), taken + i, FULL);
            }
            taken += a.transmit(sent, 0, 64);
        }

        int arrived = drain(b, received);

        assertThat(taken).isEqualTo(16_000);
        assertThat(a.unsendable()).isZero();
        // The buffer keeps the first packets and drops those that find it full; none is cut, duplicated or out of
        // order.
        assertThat(arrived).isBetween(64, taken);
        for (int i = 0; i < arrived; i++) {
            assertThat(received[i].icrcValid).isTrue();
            assertThat(number(received[i])).isEqualTo(i);
        }
        // And there is room again.
        a.transmit(filled(1, gidOf(a), gidOf(b), SMALL), 0, 1);
        assertThat(receiveAll(b, received, 1)).isEqualTo(1);
    }

    @Test
    void aFrameWithoutRouteIsCountedAndTheOthersGoOn() {
        Frame[] sent = filled(5, gidOf(a), gidOf(b), SMALL);
        // From loopback to the outside; from an address that is not this link's; to the other family.
        fill(sent[1], gidOf(a), Gid.parse("198.51.100.7"), 1, SMALL);
        fill(sent[2], Gid.parse("127.99.98.97"), gidOf(b), 2, SMALL);
        fill(sent[3], gidOf(a), Gid.parse("::1"), 3, SMALL);
        Frame[] received = frames(5);

        assertThat(a.transmit(sent, 0, 5)).isEqualTo(5);
        assertThat(receiveAll(b, received, 2)).isEqualTo(2);

        assertThat(a.unsendable()).isEqualTo(3);
        assertThat(IntStream.range(0, 2).map(i -> number(received[i]))).containsExactly(0, 4);
    }

    @Test
    void aPeerWithoutASocketIsNoError() {
        UdpLink gone = LinkBench.openAnywhere(options);
        Gid closedPort = gidOf(gone);
        gone.close();
        Frame[] sent = filled(3, gidOf(a), closedPort, SMALL);

        for (int i = 0; i < 10; i++) {
            assertThat(a.transmit(sent, 0, 3)).isEqualTo(3);
        }
        assertThat(a.receive(frames(1), 0, 1)).isZero();
        assertThat(a.unsendable()).isZero();
    }

    @Test
    void whatIsTooShortOrTooLongIsCountedAndNotHandedOut() throws IOException {
        try (DatagramChannel raw = rawSender()) {
            Frame[] good = filled(3, gidOf(a), gidOf(b), SMALL);
            Frame[] received = frames(20);

            a.transmit(good, 0, 1);
            sendRaw(raw, new byte[0]);
            sendRaw(raw, new byte[15]);
            a.transmit(good, 1, 1);
            sendRaw(raw, new byte[Frame.PACKET_MAX + 1]);
            sendRaw(raw, new byte[60_000]);
            a.transmit(good, 2, 1);

            assertThat(receiveAll(b, received, 3)).isEqualTo(3);
            assertThat(IntStream.range(0, 3).map(i -> number(received[i]))).containsExactly(0, 1, 2);
            for (int i = 0; i < 3; i++) {
                assertThat(received[i].icrcValid).isTrue();
                assertThat(received[i].length).isEqualTo(SMALL);
            }
            assertThat(b.malformed()).isEqualTo(4);
        }
    }

    @Test
    void theShortestPacketIsOne() throws IOException {
        try (DatagramChannel raw = rawSender()) {
            sendRaw(raw, new byte[16]);
            Frame[] received = frames(1);

            assertThat(receiveAll(b, received, 1)).isEqualTo(1);
            assertThat(received[0].length).isEqualTo(16);
            assertThat(received[0].icrcValid).isFalse();
            assertThat(b.malformed()).isZero();
        }
    }

    @Test
    void aFlippedBitIsSeen() throws IOException {
        try (DatagramChannel raw = rawSender()) {
            // The packet as the raw sender's address and port would send it: right first, then with each bit
            // wrong.
            var from = (InetSocketAddress) raw.getLocalAddress();
            Frame[] one = filled(1, Gid.of(from.getAddress()), gidOf(b), SMALL);
            one[0].sourcePort = from.getPort();
            new RoceV2().seal(one[0], 0);
            byte[] packet = one[0].packet().toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
            Frame[] received = frames(1);

            sendRaw(raw, packet);
            receiveAll(b, received, 1);
            assertThat(received[0].icrcValid).isTrue();

            for (int bit = 0; bit < packet.length * 8; bit++) {
                if (bit / 8 == 4) {
                    continue; // FECN, BECN and reserved bits are not covered
                }
                packet[bit / 8] ^= (byte) (1 << bit % 8);
                sendRaw(raw, packet);
                packet[bit / 8] ^= (byte) (1 << bit % 8);
                assertThat(receiveAll(b, received, 1)).isEqualTo(1);
                assertThat(received[0].icrcValid).as("bit " + bit).isFalse();
            }
        }
    }

    @Test
    void trafficClassAndHopLimitDoNotHinderDelivery() {
        Frame[] sent = filled(4, gidOf(a), gidOf(b), SMALL);
        sent[1].trafficClass = 0x6A; // DSCP 26, ECT(0)
        sent[2].hopLimit = 3;
        sent[3].trafficClass = 0x6A;
        sent[3].hopLimit = 3;
        Frame[] received = frames(4);

        assertThat(a.transmit(sent, 0, 4)).isEqualTo(4);
        assertThat(receiveAll(b, received, 4)).isEqualTo(4);
        for (Frame frame : received) {
            assertThat(frame.icrcValid).isTrue();
        }
    }

    /// The basis of the whole ICRC. A witness of the IP headers sees identification 0 and "don't fragment" on
    /// every packet of a batch, and the ICRC is right for these.
    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "raw sockets of Linux")
    void theIpv4IdentificationIsZeroAndTheIcrcExact() throws Throwable {
        theIpv4IdentificationIsZeroOnTheWayTo(gidOf(b));
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "raw sockets of Linux")
    void soItIsWithMulticasts() throws Throwable {
        Gid group = anyGroup();
        b.join(group);
        theIpv4IdentificationIsZeroOnTheWayTo(group);
    }

    private void theIpv4IdentificationIsZeroOnTheWayTo(Gid destination) throws Throwable {
        try (RawUdpSocket witness = RawUdpSocket.open(destination)) {
            assumeTrue(witness != null, "no right to a raw socket (CAP_NET_RAW)");
            var roce = new RoceV2();
            // The kernel may skip copies for a witness now and then. The witness has to see three batches whole.
            int whole = 0;
            for (int batch = 0; whole < 3; batch++) {
                assertThat(batch)
                        .as("batches, of which the witness saw %d whole", whole)
                        .isLessThan(20);
                a.transmit(filled(64, gidOf(a), destination, SMALL), 0, 64);
                Frame[] received = frames(64);
                assertThat(receiveAll(b, received, 64)).isEqualTo(64);
                int seen = 0;
                for (Frame frame : received) {
                    byte[] header = witness.next();
                    if (header != null) {
                        seen++;
                        ByteBuffer ip = ByteBuffer.wrap(header);
                        assertThat(ip.getShort(4)).as("identification").isZero();
                        assertThat(ip.getShort(6)).as("flags, fragment").isEqualTo((short) RoceV2.DONT_FRAGMENT);
                    }
                    assertThat(roce.verify(frame, 0, RoceV2.DONT_FRAGMENT)).isTrue();
                }
                whole += seen == received.length ? 1 : 0;
            }
        }
    }

    // --- multicast

    @Test
    void everyMemberOfAGroupGetsACopyAlsoTheSender() {
        Gid group = anyGroup();
        a.join(group);
        b.join(group);

        assertThat(a.transmit(filled(5, gidOf(a), group, SMALL), 0, 5)).isEqualTo(5);

        for (UdpLink member : List.of(a, b)) {
            Frame[] received = frames(6);
            assertThat(receiveAll(member, received, 5)).isEqualTo(5);
            for (int i = 0; i < 5; i++) {
                assertThat(number(received[i])).isEqualTo(i);
                assertThat(received[i].icrcValid).isTrue();
                assertThat(destinationOf(received[i])).isEqualTo(group);
                assertThat(new Gid(received[i].sourceHigh, received[i].sourceLow))
                        .isEqualTo(gidOf(a));
            }
            assertThat(drain(member, received)).isZero();
        }
        assertThat(a.unsendable()).isZero();
    }

    @Test
    void aLinkThatIsNotAMemberGetsNothing() {
        Gid group = anyGroup();
        Frame[] received = frames(4);
        a.join(group);
        b.transmit(filled(1, gidOf(b), group, SMALL), 0, 1);
        assertThat(receiveAll(a, received, 1)).isEqualTo(1);
        assertThat(drain(b, received)).isZero();

        a.leave(group);
        a.leave(group);
        b.transmit(filled(1, gidOf(b), group, SMALL), 0, 1);
        b.transmit(filled(1, gidOf(b), gidOf(a), SMALL), 0, 1);
        assertThat(receiveAll(a, received, 1)).isEqualTo(1);
        assertThat(destinationOf(received[0])).isEqualTo(gidOf(a));
        assertThat(drain(a, received)).isZero();

        a.join(group);
        b.transmit(filled(1, gidOf(b), group, SMALL), 0, 1);
        assertThat(receiveAll(a, received, 1)).isEqualTo(1);
    }

    /// The system's list of memberships, which decides what the network is told.
    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "/proc/net/igmp")
    void theMembershipIsTheSystemsAsLongAsItIsOurs() throws IOException {
        Gid group = anyGroup();
        String inTable = "%08X".formatted(Integer.reverseBytes((int) group.low()));
        a.join(group);
        assertThat(Files.readString(Path.of("/proc/net/igmp"))).contains(inTable);
        a.leave(group);
        assertThat(Files.readString(Path.of("/proc/net/igmp"))).doesNotContain(inTable);
    }

    @Test
    void oneMemberLeavingOrClosingDoesNotConcernTheOthers() {
        Gid group = anyGroup();
        Gid other = anyGroup();
        Frame[] received = frames(2);
        a.join(group);
        a.join(other);
        b.join(group);
        a.leave(group);
        b.transmit(filled(1, gidOf(b), group, SMALL), 0, 1);
        assertThat(receiveAll(b, received, 1)).isEqualTo(1);
        b.transmit(filled(1, gidOf(b), other, SMALL), 0, 1);
        assertThat(receiveAll(a, received, 1)).isEqualTo(1);

        b.close();
        a.transmit(filled(1, gidOf(a), other, SMALL), 0, 1);
        assertThat(receiveAll(a, received, 1)).isEqualTo(1);
        assertThat(destinationOf(received[0])).isEqualTo(other);
    }

    @Test
    void twoAddressesOfOneInterfaceAreOneMember() {
        Gid group = anyGroup();
        InetAddress[] addresses = {LoopbackAddress.find(RoceV2.UDP_PORT), LoopbackAddress.find(RoceV2.UDP_PORT)};
        List<GidEntry> entries = List.of(LinkBench.entry(0, addresses[0]), LinkBench.entry(1, addresses[1]));
        try (UdpLink two = UdpLinks.open(entries, RoceV2.UDP_PORT, options)) {
            two.join(group);
            two.join(group);
            Frame[] received = frames(4);
            two.transmit(filled(1, entries.get(0).gid(), group, SMALL), 0, 1);
            two.transmit(filled(1, entries.get(1).gid(), group, SMALL), 0, 1);

            assertThat(receiveAll(two, received, 2)).isEqualTo(2);
            assertThat(received[1].sourceLow).isEqualTo(entries.get(1).gid().low());
            assertThat(drain(two, received)).isZero();
        }
    }

    /// The engine's thread may sleep like this while another thread drives.
    @Test
    void aSleeperReceivesFromAGroupThatIsJoinedMeanwhile() throws InterruptedException {
        Gid group = anyGroup();
        var woken = new java.util.concurrent.CountDownLatch(1);
        Thread sleeper = Thread.ofPlatform().start(() -> {
            a.await(-1);
            woken.countDown();
            a.await(-1);
        });
        a.join(group);
        woken.await();
        b.transmit(filled(1, gidOf(b), group, SMALL), 0, 1);
        sleeper.join(TIMEOUT_NANOS / 1_000_000);
        assertThat(sleeper.isAlive()).isFalse();
        assertThat(receiveAll(a, frames(1), 1)).isEqualTo(1);
    }

    @Test
    void whatCannotBeJoinedIsRefusedByName() throws IOException {
        assertThatThrownBy(() -> a.join(Gid.parse("10.0.0.1")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("10.0.0.1");
        assertThatThrownBy(() -> a.join(Gid.parse("ff15::77")))
                .isInstanceOfSatisfying(
                        LinkException.class, e -> assertThat(e.kind()).isEqualTo(LinkException.Kind.UNSUPPORTED))
                .hasMessageContaining("multicast group ff15::77")
                .hasMessageContaining("IPv6");
        Gid group = anyGroup();
        try (DatagramChannel selfish = DatagramChannel.open(java.net.StandardProtocolFamily.INET)) {
            selfish.bind(new InetSocketAddress(group.address(), RoceV2.UDP_PORT));
            assertThatThrownBy(() -> a.join(group))
                    .isInstanceOfSatisfying(
                            LinkException.class, e -> assertThat(e.kind()).isEqualTo(LinkException.Kind.PORT_IN_USE))
                    .hasMessageContaining("multicast group " + group + " on "
                            + a.gids().getFirst().networkInterface())
                    .hasMessageContaining("ddress already in use");
        }
        a.join(group); // a failure leaves nothing behind
    }

    @Test
    void theNumberOfGroupsIsLimited() {
        long first = Gid.parse("239.195.0.0").low();
        for (int i = 0; i < UdpLink.GROUPS_MAX; i++) {
            a.join(new Gid(0, first + i));
        }
        assertThatThrownBy(() -> a.join(anyGroup()))
                .isInstanceOf(LinkException.class)
                .hasMessageContaining("" + UdpLink.GROUPS_MAX);
        Gid last = new Gid(0, first + UdpLink.GROUPS_MAX - 1);
        a.join(last);
        b.transmit(filled(1, gidOf(b), last, SMALL), 0, 1);
        assertThat(receiveAll(a, frames(1), 1)).isEqualTo(1);
        a.leave(last);
        a.join(anyGroup());
    }

    @Test
    void aClosedLinkJoinsNothing() {
        a.close();
        assertThatThrownBy(() -> a.join(anyGroup())).isInstanceOf(LinkException.class);
        a.leave(anyGroup());
    }

    // --- sleeping

    @Test
    void awaitEndsWithItsTime() {
        long start = System.nanoTime();
        a.await(SECOND / 50);
        a.await(1);
        a.await(0);
        assertThat(System.nanoTime() - start).isBetween(SECOND / 100, TIMEOUT_NANOS);
    }

    @Test
    void anArrivalEndsTheSleep() throws InterruptedException {
        Thread sender = Thread.ofPlatform().start(() -> a.transmit(filled(1, gidOf(a), gidOf(b), SMALL), 0, 1));
        Frame[] received = frames(1);
        while (b.receive(received, 0, 1) == 0) {
            b.await(-1);
        }
        sender.join();
    }

    @Test
    void aWakeupBeforeTheSleepIsRemembered() {
        a.wakeup();
        a.wakeup();
        a.await(-1);
        // It is remembered only once.
        long start = System.nanoTime();
        a.await(SECOND / 50);
        assertThat(System.nanoTime() - start).isGreaterThan(SECOND / 100);
    }

    @Test
    void aWakeupFromAnotherThreadEndsTheSleep() throws InterruptedException {
        for (int i = 0; i < 100; i++) {
            Thread waker = Thread.ofPlatform().start(a::wakeup);
            a.await(-1);
            waker.join();
        }
    }

    /// Two threads hand a counter back and forth with only await and wakeup between them: a lost wake-up would be
    /// a sleep that does not end.
    @Test
    void noWakeupIsLost() throws InterruptedException {
        int rounds = 30_000;
        var posted = new AtomicInteger();
        var done = new AtomicInteger();
        var longest = new long[1];
        Thread engine = Thread.ofPlatform().start(() -> {
            int seen = 0;
            while (seen < rounds) {
                int now = posted.getPlain();
                if (now != seen) {
                    seen = now;
                    done.setRelease(now);
                } else {
                    long start = System.nanoTime();
                    a.await(TIMEOUT_NANOS);
                    longest[0] = Math.max(longest[0], System.nanoTime() - start);
                }
            }
        });
        ThreadLocalRandom random = ThreadLocalRandom.current();
        for (int i = 1; i <= rounds; i++) {
            posted.setPlain(i); // the weakest store: wakeup publishes it
            a.wakeup();
            while (done.getAcquire() < i && longest[0] < TIMEOUT_NANOS / 2) {
                Thread.onSpinWait();
            }
            // So that wake-ups hit every moment of falling asleep.
            for (int spin = random.nextInt(200); spin > 0; spin--) {
                Thread.onSpinWait();
            }
        }
        engine.join();
        assertThat(longest[0]).isLessThan(TIMEOUT_NANOS / 2);
    }

    @Test
    void manyWakersLoseNothingEither() throws InterruptedException {
        int each = 20_000;
        var posted = new AtomicInteger();
        Runnable waker = () -> {
            for (int i = 0; i < each; i++) {
                posted.incrementAndGet();
                a.wakeup();
            }
        };
        Thread one = Thread.ofPlatform().start(waker);
        Thread two = Thread.ofPlatform().start(waker);
        long deadline = System.nanoTime() + TIMEOUT_NANOS;
        while (posted.get() < 2 * each && System.nanoTime() < deadline) {
            a.await(TIMEOUT_NANOS);
        }
        one.join();
        two.join();
        assertThat(posted.get()).isEqualTo(2 * each);
    }

    // --- opening and closing

    @Test
    void closingWakesTheSleeper() throws InterruptedException {
        var asleep = new java.util.concurrent.CountDownLatch(1);
        Thread sleeper = Thread.ofPlatform().start(() -> {
            asleep.countDown();
            a.await(-1);
        });
        asleep.await();
        a.close();
        sleeper.join(TIMEOUT_NANOS / 1_000_000);
        assertThat(sleeper.isAlive()).isFalse();
    }

    @Test
    void afterCloseNothingHappens() {
        Frame[] frames = filled(1, gidOf(a), gidOf(b), SMALL);
        a.close();
        a.close();

        assertThat(a.receive(frames, 0, 1)).isZero();
        assertThat(a.transmit(frames, 0, 1)).isZero();
        a.await(-1);
        a.wakeup();
        assertThat(a.malformed() + a.unsendable()).isZero();
    }

    @Test
    void closingWhileOthersWakeIsSafe() throws InterruptedException {
        for (int i = 0; i < 50; i++) {
            UdpLink link = LinkBench.openAnywhere(options);
            Thread waker = Thread.ofPlatform().start(() -> {
                for (int k = 0; k < 1000; k++) {
                    link.wakeup();
                }
            });
            Thread sleeper = Thread.ofPlatform().start(() -> {
                for (int k = 0; k < 100; k++) {
                    link.await(1000);
                }
            });
            link.close();
            waker.join();
            sleeper.join();
        }
    }

    @Test
    void aClosedLinkGivesItsPortBack() {
        InetAddress address = addressOf(a);
        a.close();
        try (UdpLink again = LinkBench.open(address, RoceV2.UDP_PORT, options)) {
            assertThat(gidOf(again)).isEqualTo(Gid.of(address));
        }
    }

    @Test
    void aPortInUseNamesAddressAndPortAndSaysWhatToDo() {
        InetAddress address = addressOf(a);
        assertThatThrownBy(() -> LinkBench.open(address, RoceV2.UDP_PORT, options))
                .isInstanceOfSatisfying(LinkException.class, e -> {
                    assertThat(e.kind()).isEqualTo(LinkException.Kind.PORT_IN_USE);
                    assertThat(e).hasMessageContaining("UDP port 4791 at " + address.getHostAddress() + " is in use");
                    assertThat(e).hasMessageContaining("127.0.0.0/8");
                });
    }

    @Test
    void ofSeveralAddressesAllOrNoneAreHad() {
        InetAddress free = LoopbackAddress.find(RoceV2.UDP_PORT);
        List<GidEntry> entries = List.of(LinkBench.entry(0, free), LinkBench.entry(1, addressOf(a)));
        assertThatThrownBy(() -> UdpLinks.open(entries, RoceV2.UDP_PORT, options))
                .isInstanceOf(LinkException.class)
                .hasMessageContaining(addressOf(a).getHostAddress());
        LinkBench.open(free, RoceV2.UDP_PORT, options).close();
    }

    @Test
    void anAddressOfAnotherHostIsRefusedByName() throws IOException {
        InetAddress foreign = InetAddress.ofLiteral("198.51.100.7");
        assertThatThrownBy(() -> LinkBench.open(foreign, RoceV2.UDP_PORT, options))
                .isInstanceOfSatisfying(
                        LinkException.class, e -> assertThat(e.kind()).isEqualTo(LinkException.Kind.ADDRESS_NOT_LOCAL))
                .hasMessageContaining("198.51.100.7");
    }

    @Test
    void noAddressesAndImpossiblePortsAreTheCallersMistake() {
        assertThatThrownBy(() -> UdpLinks.open(List.of(), RoceV2.UDP_PORT, options))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> LinkBench.open(addressOf(a), 0x1_0000, options))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("65535");
    }

    @Test
    void buffersAndPathMtuAreReported() {
        assertThat(a.receiveBufferBytes()).isPositive();
        assertThat(a.sendBufferBytes()).isPositive();
        assertThat(a.pathMtu()).isEqualTo(Mtu.MTU_4096);
    }

    // --- helpers

    private static Gid destinationOf(Frame frame) {
        return new Gid(frame.destinationHigh, frame.destinationLow);
    }

    private UdpLink openIpv6() {
        GidEntry localhost = LinkBench.entry(0, InetAddress.ofLiteral("::1"));
        try {
            return openAtFreePort(localhost);
        } catch (LinkException e) {
            assumeTrue(
                    e.kind() != LinkException.Kind.UNSUPPORTED && e.kind() != LinkException.Kind.ADDRESS_NOT_LOCAL,
                    "no IPv6 here: " + e.getMessage());
            throw e;
        }
    }

    // A link with one address and another port; drawn below the ephemeral ports, which the system assigns to other
    // sockets.
    private UdpLink openAtFreePort(GidEntry entry) {
        for (int i = 0; ; i++) {
            try {
                int port = ThreadLocalRandom.current().nextInt(10_000, 30_000);
                return UdpLinks.open(List.of(entry), port, options);
            } catch (LinkException e) {
                if (e.kind() != LinkException.Kind.PORT_IN_USE || i == 20) {
                    throw e;
                }
            }
        }
    }

    // "Don't fragment" is off, so that a datagram that is too long for a frame still arrives.
    private static DatagramChannel rawSender() throws IOException {
        return DatagramChannel.open().bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0));
    }

    private void sendRaw(DatagramChannel raw, byte[] bytes) throws IOException {
        raw.send(ByteBuffer.wrap(bytes), new InetSocketAddress(addressOf(b), b.port()));
    }
}
