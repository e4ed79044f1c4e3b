package verbena.nic.link.sharing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static verbena.nic.link.LinkBench.TIMEOUT_NANOS;
import static verbena.nic.link.LinkBench.addressOf;
import static verbena.nic.link.LinkBench.fill;
import static verbena.nic.link.LinkBench.filled;
import static verbena.nic.link.LinkBench.frames;
import static verbena.nic.link.LinkBench.gidOf;
import static verbena.nic.link.LinkBench.number;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.foreign.linux.LinuxAbi;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.Link;
import verbena.nic.link.LinkBench;
import verbena.nic.link.LinkException;
import verbena.nic.link.LinkKind;
import verbena.nic.link.LoopbackAddress;
import verbena.nic.link.MessageBlock;
import verbena.nic.link.ServiceClaims;
import verbena.nic.link.udp.UdpLink;
import verbena.nic.link.udp.UdpLinks;
import verbena.nic.link.udp.UdpOptions;
import verbena.verbs.Gid;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.cm.CmMessage;
import verbena.wire.cm.Drep;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.Rej;
import verbena.wire.cm.SidrRep;
import verbena.wire.cm.SidrReq;
import verbena.wire.mad.Mad;
import verbena.wire.roce.RoceV2;

/// Several links of one process at one address, and a peer at another.
@EnabledOnOs(value = OS.LINUX, disabledReason = "Linux system calls")
@Timeout(120)
class SharedAddressTest {
    private static final UdpOptions ALONE = LinkBench.options(LinkKind.LINUX);
    private static final UdpOptions SHARED = ALONE.share();
    private static final int LENGTH = 64;
    private static final long SERVICE = 0x0106_1D4BL;

    private final UdpLink peer = LinkBench.openAnywhere(ALONE);
    private final InetAddress address = LoopbackAddress.find(RoceV2.UDP_PORT);
    private final List<UdpLink> links = new ArrayList<>();
    /// The numbers of the packets that arrived, by link.
    private final Map<UdpLink, List<Integer>> arrived = new HashMap<>();

    private final Frame[] buffer = frames(64);

    private UdpLink join() {
        return join(address);
    }

    private UdpLink join(InetAddress at) {
        UdpLink link = LinkBench.open(at, RoceV2.UDP_PORT, SHARED);
        links.add(link);
        long end = System.nanoTime() + TIMEOUT_NANOS;
        while (links.stream().anyMatch(each -> count(each, "neighbours.now") < links.size() - 1)) {
            turn();
            assertThat(System.nanoTime()).as("all links know each other").isLessThan(end);
        }
        return link;
    }

    @AfterEach
    void close() {
        links.forEach(UdpLink::close);
        peer.close();
    }

    private static ServiceClaims claims(UdpLink link) {
        return (ServiceClaims) link;
    }

    private void leave(UdpLink link) {
        links.remove(link);
        link.close();
    }

    private static void send(UdpLink from, UdpLink to, int slot, int count) {
        Frame[] sent = filled(count, gidOf(from), gidOf(to), LENGTH);
        for (Frame frame : sent) {
            BigEndian.put24(frame.slot, frame.start + 5, slot << 16 | 0x1234);
        }
        assertThat(from.transmit(sent, 0, count)).isEqualTo(count);
    }

    private static void send(UdpLink from, UdpLink to, CmMessage message) {
        Frame[] sent = frames(1);
        fill(sent[0], gidOf(from), gidOf(to), 0, 12 + 8 + Mad.BYTES + 4);
        BigEndian.put24(sent[0].slot, sent[0].start + 5, Mad.QPN);
        message.write(sent[0].slot.asSlice(sent[0].start + 20, Mad.BYTES));
        assertThat(from.transmit(sent, 0, 1)).isEqualTo(1);
    }

    /// Lets every link receive once.
    private int turn() {
        int all = 0;
        for (UdpLink link : links) {
            int n = link.receive(buffer, 0, buffer.length);
            all += n;
            for (int i = 0; i < n; i++) {
                assertThat(buffer[i].icrcValid).isTrue();
                assertThat(new Gid(buffer[i].destinationHigh, buffer[i].destinationLow))
                        .isEqualTo(gidOf(link));
                arrived.computeIfAbsent(link, _ -> new ArrayList<>()).add(number(buffer[i]));
            }
        }
        return all;
    }

    private void receive(int count) {
        long end = System.nanoTime() + TIMEOUT_NANOS;
        for (int received = 0; received < count; ) {
            received += turn();
            assertThat(System.nanoTime())
                    .as("%d of %d have come", received, count)
                    .isLessThan(end);
        }
    }

    private static long count(UdpLink link, String counter) {
        return link.counters().get("shared." + counter);
    }

    private long forwarded() {
        return links.stream().mapToLong(link -> count(link, "forwarded")).sum();
    }

    /// Sends to all links until no packet has to be forwarded any more.
    private void awaitSteering(UdpLink sender) {
        long end = System.nanoTime() + TIMEOUT_NANOS;
        for (long before = -1; before != forwarded(); ) {
            before = forwarded();
            for (UdpLink link : links) {
                send(sender, link, link.slot(), 40);
            }
            receive(40 * links.size());
            for (int i = 0; i < 100; i++) {
                turn();
            }
            assertThat(System.nanoTime()).as("steered").isLessThan(end);
        }
        arrived.clear();
    }

    private static SidrReq question(long serviceId) {
        return new SidrReq(7, 0x0100_0001, 0xFFFF, serviceId, PrivateData.NONE);
    }

    @Test
    void eachHasASlotOfItsOwn() {
        IntStream.range(0, 20).forEach(_ -> join());
        assertThat(links)
                .extracting(UdpLink::slot)
                .doesNotHaveDuplicates()
                .allMatch(slot -> slot >= 0 && slot < Presence.SLOTS);
        assertThat(peer.slot()).isEqualTo(Link.NO_SLOT);
    }

    @Test
    void aPacketReachesItsSlotWhicheverLinkReceivesIt() {
        IntStream.range(0, 3).forEach(_ -> join());
        for (UdpLink link : links) {
            send(peer, link, link.slot(), 50);
            send(links.getFirst(), link, link.slot(), 50);
        }
        receive(300);
        assertThat(arrived.values()).hasSize(3).allMatch(numbers -> numbers.size() == 100);
        long neighbours =
                links.stream().mapToLong(link -> count(link, "neighbours.now")).sum();
        assertThat(neighbours).isEqualTo(6);
        assertThat(forwarded())
                .isEqualTo(
                        links.stream().mapToLong(link -> count(link, "arrived")).sum());
    }

    @Test
    void aForwardedFrameIsAsItWasOnTheWire() {
        // Again if 40 ms passed before the packets left: the kernel then steers, and no packet is forwarded.
        do {
            List.copyOf(links).forEach(this::leave);
            join();
            join();
            sendToBothAndCompare();
        } while (forwarded() == 0);
        assertThat(forwarded()).isEqualTo(1);
    }

    private void sendToBothAndCompare() {
        UdpLink first = links.getFirst();
        for (UdpLink to : links) { // one link gets both packets, and has to forward one
            Frame[] sent = filled(1, gidOf(peer), gidOf(first), LENGTH);
            BigEndian.put24(sent[0].slot, sent[0].start + 5, to.slot() << 16 | 1);
            sent[0].trafficClass = 0x6B;
            sent[0].hopLimit = 9;
            peer.transmit(sent, 0, 1);
            while (first.receive(buffer, 0, 1) == 0 && links.getLast().receive(buffer, 0, 1) == 0) {}

            assertThat(new Gid(buffer[0].sourceHigh, buffer[0].sourceLow)).isEqualTo(gidOf(peer));
            assertThat(new Gid(buffer[0].destinationHigh, buffer[0].destinationLow))
                    .isEqualTo(gidOf(first));
            assertThat(buffer[0].sourcePort).isEqualTo(peer.sourcePort(gidOf(peer), gidOf(first)));
            assertThat(buffer[0].trafficClass).isEqualTo(0x6B);
            assertThat(buffer[0].hopLimit).isEqualTo(9);
            assertThat(buffer[0].icrcValid).isTrue();
            assertThat(buffer[0].packet().mismatch(sent[0].packet())).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"IPv4", "IPv6"})
    void theKernelLearnsTheSlotsAndLearnsThemAgainWhenALinkLeaves(String family) {
        InetAddress at = family.equals("IPv6") ? Gid.parse("::1").address() : address;
        IntStream.range(0, 4).forEach(_ -> join(at));
        UdpLink sender = links.getLast();
        awaitSteering(sender);

        leave(links.get(1)); // the kernel moves the last one into the gap
        awaitSteering(sender);
        join(at);
        awaitSteering(sender);
        assertThat(links).allMatch(link -> count(link, "dropped.full") == 0);
    }

    @Test
    void anUnknownSlotIsForTheLinkThatReceivesThePacket() {
        IntStream.range(0, 2).forEach(_ -> join());
        int freeSlot = IntStream.range(0, Presence.SLOTS)
                .filter(slot -> links.stream().noneMatch(link -> link.slot() == slot))
                .findFirst()
                .orElseThrow();
        send(peer, links.getFirst(), freeSlot, 10);
        receive(10);
        assertThat(forwarded()).isZero();
    }

    @Test
    void aSlotIsFreeAgainWhenItsLinkIsClosed() {
        try (var arena = Arena.ofConfined()) {
            var linux = new LinuxSockets(arena);
            var taken = new ArrayList<Integer>();
            IntStream.range(0, Presence.SLOTS).forEach(slot -> taken.add(hold("slot-" + slot, linux, arena)));
            assertThatThrownBy(this::join)
                    .isInstanceOf(LinkException.class)
                    .hasMessageContaining("all 256 slots of the links that share it are taken");
            LinuxSockets.close(taken.remove(/* index */ 100));
            try (UdpLink last = LinkBench.open(address, RoceV2.UDP_PORT, SHARED)) {
                assertThat(last.slot()).isEqualTo(100);
            }
            taken.forEach(LinuxSockets::close);
        }
    }

    /// When a link leaves, the last one takes its index in the kernel's group. Until the next survey the kernel hands
    /// that one's packets to any link.
    @Test
    void aLinkThatClosesPassesOnWhatItHasNotRead() {
        IntStream.range(0, 3).forEach(_ -> join());
        awaitSteering(peer);
        UdpLink last = links.getLast();
        leave(links.getFirst());
        List<UdpLink> peers =
                Stream.generate(() -> LinkBench.openAnywhere(ALONE)).limit(20).toList();
        try {
            peers.forEach(each -> send(each, last, last.slot(), 1));
            leave(links.getFirst());
            receive(peers.size());
            assertThat(arrived.get(last)).hasSize(peers.size());
        } finally {
            peers.forEach(UdpLink::close);
        }
    }

    @Test
    void aLinkWithSeveralAddressesHasOneSlotAndSharesEach() {
        InetAddress second = LoopbackAddress.find(RoceV2.UDP_PORT);
        UdpLink both = UdpLinks.open(
                List.of(LinkBench.entry(0, address), LinkBench.entry(1, second)), RoceV2.UDP_PORT, SHARED);
        links.add(both);
        UdpLink first = LinkBench.open(address, RoceV2.UDP_PORT, SHARED);
        links.add(first);
        UdpLink other = LinkBench.open(second, RoceV2.UDP_PORT, SHARED);
        links.add(other);
        assertThat(links).filteredOn(link -> link.slot() == both.slot()).containsExactly(both);
        long end = System.nanoTime() + TIMEOUT_NANOS;
        var got = new HashMap<UdpLink, Integer>();
        // Some packets may be lost until all links know each other.
        for (int round = 0; got.getOrDefault(both, 0) < 64 || got.size() < 3; round++) {
            for (UdpLink at : List.of(first, other)) {
                send(peer, at, at.slot(), 8);
                send(peer, at, both.slot(), 8);
            }
            for (UdpLink link : links) {
                int n = link.receive(buffer, 0, buffer.length);
                for (int i = 0; i < n; i++) {
                    if (BigEndian.u8(buffer[i].slot, buffer[i].start + 5) == link.slot()) {
                        got.merge(link, 1, Integer::sum);
                    }
                }
            }
            assertThat(System.nanoTime())
                    .as("after %d rounds %s", round, got.values())
                    .isLessThan(end);
        }
        assertThat(claims(first).claimService(SERVICE, gidOf(first))).isTrue();
        assertThat(claims(both).claimService(SERVICE, gidOf(first)))
                .as("another link has the service at this address")
                .isFalse();
        assertThat(claims(both).claimService(SERVICE, gidOf(other)))
                .as("each address has its own services")
                .isTrue();
        assertThat(claims(other).claimService(SERVICE, gidOf(other))).isFalse();
        claims(both).releaseService(SERVICE, gidOf(other));
        assertThat(claims(other).claimService(SERVICE, gidOf(other))).isTrue();
    }

    @Test
    void forwardingAllocatesNothing() {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        UdpLink wrong = join();
        UdpLink right = join();
        Frame[] sent = filled(32, gidOf(peer), gidOf(right), 256);
        for (Frame frame : sent) {
            BigEndian.put24(frame.slot, frame.start + 5, right.slot() << 16 | 1);
        }
        try (var arena = Arena.ofConfined()) {
            // With one more socket in the group, the kernel chooses the first, whatever a survey finds.
            var linux = new LinuxSockets(arena);
            int meddler = linux.socket(LinuxAbi.AF_INET);
            linux.setOption(meddler, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_REUSEPORT, 1);
            MemorySegment at = arena.allocate(LinuxAbi.SockaddrIn6.BYTES, 8);
            Gid gid = gidOf(right);
            int length = MessageBlock.putAddress(at, 0, gid.high(), gid.low(), RoceV2.UDP_PORT, 0);
            assertThat(linux.bind(meddler, at.asSlice(0, length))).isZero();
            MemorySegment first = Steering.layOut(
                    List.of(new Steering.Instruction(LinuxAbi.BPF_RET | LinuxAbi.BPF_K, 0, 0, 0)), arena);
            long least = Long.MAX_VALUE;
            for (int attempt = 0; attempt < 200 && least > 0; attempt++) {
                long spent = 0;
                for (int i = 0; i < 200; i++) {
                    linux.setOption(meddler, LinuxAbi.SOL_SOCKET, LinuxAbi.SO_ATTACH_REUSEPORT_CBPF, first);
                    long before = threads.getCurrentThreadAllocatedBytes();
                    peer.transmit(sent, 0, 32);
                    wrong.receive(buffer, 0, 64);
                    right.receive(buffer, 0, 64);
                    right.receive(buffer, 0, 64);
                    spent += threads.getCurrentThreadAllocatedBytes() - before;
                }
                least = Math.min(least, spent);
            }
            LinuxSockets.close(meddler);
            assertThat(least).isZero();
            assertThat(count(wrong, "forwarded")).isGreaterThan(6_000);
        }
    }

    private String doorName(String name) {
        return "verbena/" + Gid.of(address) + "/" + RoceV2.UDP_PORT + "/" + name;
    }

    // Takes the name, as another program might.
    private int hold(String name, LinuxSockets linux, Arena arena) {
        int fd = linux.localSocket();
        assertThat(linux.bind(fd, ForeignPeerSocket.name(doorName(name), arena)))
                .isZero();
        return fd;
    }

    /// Runs [ForeignPeerSocket] as another user; null without the right to.
    private @Nullable Process foreigner(String what, String... names) throws IOException {
        var command = new ArrayList<>(List.of(
                "setpriv",
                "--reuid=65534",
                "--clear-groups",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                ForeignPeerSocket.class.getName(),
                what));
        Stream.of(names).map(this::doorName).forEach(command::add);
        try {
            Process process = new ProcessBuilder(command).start();
            return "done".equals(process.inputReader().readLine()) ? process : null;
        } catch (IOException e) {
            return null;
        }
    }

    @Test
    void anotherUsersEnvelopeIsNotOpened() throws Exception {
        UdpLink link = join();
        claims(link).claimService(SERVICE, gidOf(link));
        Process atSlot = foreigner("forge", "slot-" + link.slot());
        assumeTrue(atSlot != null, "no right to be another user, or that one may not read the classes");
        Process atService = foreigner("forge", "service-%016x".formatted(SERVICE));
        long end = System.nanoTime() + TIMEOUT_NANOS;
        while (count(link, "refused") < 2) {
            assertThat(turn()).isZero();
            assertThat(System.nanoTime()).isLessThan(end);
        }
        assertThat(count(link, "neighbours.now")).isZero();
        atSlot.destroy();
        atService.destroy();
    }

    @Test
    void anotherUserThatHasTakenANameGetsNoPackets() throws Exception {
        Process atSlots = foreigner(
                "squat",
                IntStream.range(0, Presence.SLOTS - 2)
                        .mapToObj(slot -> "slot-" + slot)
                        .toArray(String[]::new));
        assumeTrue(atSlots != null, "no right to be another user, or that one may not read the classes");
        UdpLink link = join();
        assertThat(link.slot()).isGreaterThanOrEqualTo(Presence.SLOTS - 2);
        assertThat(count(link, "refused")).isEqualTo(Presence.SLOTS - 2);
        Process atService = foreigner("squat", "service-%016x".formatted(SERVICE));
        assertThatThrownBy(() -> claims(link).claimService(SERVICE, gidOf(link)))
                .isInstanceOf(LinkException.class)
                .hasMessageStartingWith("user 65534 of this host has the local socket @");
        join();
        send(peer, link, question(SERVICE));
        send(peer, link, 3, 1);
        receive(2); // by the test's own links
        assertThat(forwarded()).isZero();
        assertThatThrownBy(() -> LinkBench.open(address, RoceV2.UDP_PORT, SHARED))
                .isInstanceOf(LinkException.class)
                .hasMessageEndingWith("are taken, 254 of them by user 65534 of this host");
        atSlots.destroy();
        atService.destroy();
    }

    /// It accepts nothing, so a full backlog is all that a connection would find.
    @Test
    void theUserWhoHasTakenANameIsKnownWhereNoConnectionTellsIt() throws Exception {
        String name = "service-%016x".formatted(SERVICE);
        Process squatter = foreigner("squat", name);
        assumeTrue(squatter != null, "no right to be another user, or that one may not read the classes");
        UdpLink link = join();
        try (var arena = Arena.ofConfined()) {
            var linux = new LinuxSockets(arena);
            MemorySegment at = ForeignPeerSocket.name(doorName(name), arena);
            var opened = new ArrayList<Integer>();
            do {
                opened.add(linux.localSocket());
            } while (linux.connect(opened.getLast(), at) == 0);
            assertThatThrownBy(() -> claims(link).claimService(SERVICE, gidOf(link)))
                    .isInstanceOf(LinkException.class)
                    .hasMessage("user 65534 of this host has the local socket @" + doorName(name));
            opened.forEach(LinuxSockets::close);
        }
        squatter.destroy();
    }

    @Test
    void aRequestGoesToTheLinkThatHasClaimedItsService() {
        IntStream.range(0, 3).forEach(_ -> join());
        for (UdpLink claimant : List.copyOf(links)) {
            assertThat(claims(claimant).claimService(SERVICE, gidOf(claimant))).isTrue();
            assertThat(claims(claimant).claimService(SERVICE, gidOf(claimant)))
                    .as("again")
                    .isTrue();
            assertThat(links)
                    .filteredOn(link -> link != claimant)
                    .noneMatch(link -> claims(link).claimService(SERVICE, gidOf(link)));
            claims(claimant).openService(SERVICE, gidOf(claimant));
            for (int i = 0; i < 20; i++) {
                send(peer, claimant, question(SERVICE));
            }
            receive(20);
            assertThat(arrived).containsOnlyKeys(claimant);
            arrived.clear();
            claims(claimant).releaseService(SERVICE, gidOf(claimant));
        }
    }

    @Test
    void aRequestThatNoLinkServesWaitsBeforeALinkRefusesIt() {
        IntStream.range(0, 3).forEach(_ -> join());
        long sent = System.nanoTime();
        send(peer, links.getFirst(), question(SERVICE));
        receive(1); // by one of the links, which refuses it
        assertThat(System.nanoTime() - sent).isGreaterThan(EarlyRequests.WAIT_NANOS);
    }

    @Test
    void aRequestThatComesTooEarlyWaitsForItsServer() {
        UdpLink server = join();
        join();
        join();
        do { // again if it took so long that the wait was over
            arrived.clear();
            claims(server).releaseService(SERVICE, gidOf(server));
            send(peer, server, question(SERVICE));
            while (links.stream().allMatch(link -> count(link, "early.now") == 0) && turn() == 0) {
                // it is on its way
            }
            if (claims(server).claimService(SERVICE, gidOf(server)) && turn() == 0) {
                claims(server).openService(SERVICE, gidOf(server));
                receive(1);
            }
        } while (!arrived.containsKey(server));
        assertThat(arrived).containsOnlyKeys(server);
    }

    @Test
    void anAnswerGoesToTheSlotOfWhatItAnswers() {
        IntStream.range(0, 3).forEach(_ -> join());
        for (UdpLink link : links) {
            int id = link.slot() << 24 | 0x1234;
            send(peer, link, new Drep(1, 77, id, PrivateData.NONE));
            send(peer, link, new SidrRep(1, id, 0, 0, 5, SERVICE, 0, PrivateData.NONE, PrivateData.NONE));
            receive(2);
            assertThat(arrived).containsOnlyKeys(link);
            arrived.clear();
        }
    }

    @Test
    void aRejectThatNamesNoConnectionGoesToAll() {
        IntStream.range(0, 3).forEach(_ -> join());
        awaitSteering(peer);
        send(peer, links.getFirst(), new Rej(1, 77, 0, 0, 0, 4, PrivateData.NONE, PrivateData.NONE));
        receive(3);
        assertThat(arrived).hasSize(3);
    }

    @Test
    void onlySharingLinksCanHaveAnAddressTogether() {
        join();
        assertThatThrownBy(() -> LinkBench.open(address, RoceV2.UDP_PORT, ALONE))
                .isInstanceOfSatisfying(
                        LinkException.class, e -> assertThat(e.kind()).isEqualTo(LinkException.Kind.PORT_IN_USE));
        assertThatThrownBy(() -> join(addressOf(peer)))
                .isInstanceOfSatisfying(
                        LinkException.class, e -> assertThat(e.kind()).isEqualTo(LinkException.Kind.PORT_IN_USE))
                .hasMessageContaining("Devices of one user share an address");
    }

    @Test
    void noAddressIsHeldWhenOneOfSeveralCannotBeHad() {
        var entries = List.of(LinkBench.entry(0, address), LinkBench.entry(1, addressOf(peer)));
        assertThatThrownBy(() -> UdpLinks.open(entries, RoceV2.UDP_PORT, SHARED))
                .isInstanceOf(LinkException.class);
        LinkBench.open(address, RoceV2.UDP_PORT, ALONE).close();
    }
}
