package verbena.nic.link.udp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static verbena.nic.link.LinkBench.filled;
import static verbena.nic.link.LinkBench.frames;
import static verbena.nic.link.LinkBench.gidOf;
import static verbena.nic.link.LinkBench.receiveAll;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.foreign.linux.LinuxSockets;
import verbena.nic.link.LinkBench;
import verbena.nic.link.LinkKind;
import verbena.nic.link.LoopbackAddress;
import verbena.verbs.Gid;
import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// By which sockets packets to this host leave, and what their receivers see.
@EnabledOnOs(value = OS.LINUX, disabledReason = "Linux system calls")
class NearSocketsTest {
    private static final int SMALL = 64;

    private final UdpOptions options = LinkBench.options(LinkKind.LINUX);
    private final List<UdpLink> links = new ArrayList<>();

    private UdpLink open() {
        UdpLink link = LinkBench.openAnywhere(options);
        links.add(link);
        return link;
    }

    @AfterEach
    void close() {
        links.forEach(UdpLink::close);
    }

    /// Sends so many packets, each in a message of its own, and returns the ports that they came from.
    private static Set<Integer> send(UdpLink from, UdpLink to, int count) {
        Frame[] sent = filled(1, gidOf(from), gidOf(to), SMALL);
        Frame[] received = frames(1);
        var ports = new HashSet<Integer>();
        for (int i = 0; i < count; i++) {
            assertThat(from.transmit(sent, 0, 1)).isEqualTo(1);
            assertThat(receiveAll(to, received, 1)).isEqualTo(1);
            assertThat(received[0].icrcValid).isTrue();
            ports.add(received[0].sourcePort);
        }
        return ports;
    }

    @Test
    void allPacketsToThisHostLeaveFromTheSamePort() {
        UdpLink a = open();
        UdpLink b = open();
        UdpLink c = open();

        Set<Integer> ports = send(a, b, 2 * NearSockets.RUNS_UNTIL_CONNECTED);
        ports.addAll(send(a, c, 2 * NearSockets.RUNS_UNTIL_CONNECTED));
        ports.addAll(send(a, b, 1));

        assertThat(ports).containsExactly(a.sourcePort(gidOf(a), gidOf(b))).doesNotContain(RoceV2.UDP_PORT);
    }

    @Test
    void packetsToOtherHostsLeaveFromThePortOfTheLink() {
        UdpLink a = open();
        assertThat(a.sourcePort(gidOf(a), LinkBench.anyGroup())).isEqualTo(RoceV2.UDP_PORT);
        assertThat(a.sourcePort(gidOf(a), new Gid(0, 0xFFFF_C000_0201L))).isEqualTo(RoceV2.UDP_PORT);
    }

    /// A queue pair that migrates from one own address to another has promised one port.
    @Test
    void allOwnAddressesSendFromTheSamePort() {
        var entries = List.of(
                LinkBench.entry(0, LoopbackAddress.find(RoceV2.UDP_PORT)),
                LinkBench.entry(1, LoopbackAddress.find(RoceV2.UDP_PORT)));
        UdpLink two = UdpLinks.open(entries, RoceV2.UDP_PORT, options);
        links.add(two);
        Gid first = entries.get(0).gid();
        Gid second = entries.get(1).gid();
        assertThat(two.sourcePort(first, second))
                .isEqualTo(two.sourcePort(second, first))
                .isPositive();
        assertThat(two.sourcePort(first, first)).isEqualTo(two.sourcePort(first, second));
    }

    /// Where an administrator has forbidden it, or the system is not quite Linux, no IPv4 socket is connected.
    private static void assumePacketsAreGivenBack() throws IOException {
        Path allowed = Path.of("/proc/sys/net/core/tstamp_allow_data");
        assumeTrue(
                Files.isReadable(allowed) && Files.readString(allowed).strip().equals("1"),
                "packets are not given back to their senders (net.core.tstamp_allow_data)");
    }

    /// The basis of the ICRC: what a witness of the IP headers sees is what the sender has counted.
    @Test
    void aConnectedSocketCountsItsIdentificationsAndTheIcrcIsExact() throws Throwable {
        assumePacketsAreGivenBack();
        UdpLink a = open();
        UdpLink b = open();
        send(a, b, NearSockets.RUNS_UNTIL_CONNECTED);
        var roce = new RoceV2();
        try (RawUdpSocket witness = RawUdpSocket.open(gidOf(b))) {
            assumeTrue(witness != null, "no right to a raw socket (CAP_NET_RAW)");
            int next = -1;
            for (int message = 0; message < 100; message++) {
                // One packet, or five that leave as one message.
                int packets = message % 2 == 0 ? 1 : 5;
                Frame[] sent = frames(packets);
                for (Frame frame : sent) {
                    LinkBench.fill(frame, gidOf(a), gidOf(b), message, SMALL);
                }
                a.transmit(sent, 0, packets);
                Frame[] received = frames(packets);
                assertThat(receiveAll(b, received, packets)).isEqualTo(packets);
                byte[] header = witness.next();
                while (witness.next() != null) {
                    // the other packets of a message, where it is cut
                }
                if (header != null) { // the kernel may skip a copy for a witness
                    int seen = Short.toUnsignedInt(ByteBuffer.wrap(header).getShort(4));
                    assertThat(next == -1 || next == seen)
                            .as("%d is not %d", seen, next)
                            .isTrue();
                    next = seen;
                }
                assertThat(next).as("the witness has seen the first message").isNotNegative();
                for (int i = 0; i < packets; i++) {
                    assertThat(roce.verify(received[i], (next + i) & 0xFFFF, RoceV2.DONT_FRAGMENT))
                            .as("packet %d of a message with identification %d", i, next)
                            .isTrue();
                }
                next = (next + 1) & 0xFFFF;
            }
        }
    }

    // --- which destinations have a socket

    /// The sockets of one address, without a link.
    private static final class Bench implements AutoCloseable {
        private final Arena arena = Arena.ofConfined();
        private final UdpSocket own;
        private final NearSockets near;

        Bench(InetAddress at) {
            var sockets =
                    new UdpSockets(new LinuxSockets(arena), arena, RoceV2.UDP_PORT, LinkBench.options(LinkKind.LINUX));
            own = sockets.openOwn(LinkBench.entry(0, at), null);
            sockets.openNear(new UdpSocket[] {own});
            near = own.near;
        }

        Frame to(int destination) {
            return filled(1, own.gid(), new Gid(0, 0xFFFF_7F00_0000L | destination), SMALL)[0];
        }

        void use(int destination, int runs) {
            Frame frame = to(destination);
            for (int i = 0; i < runs; i++) {
                near.begin(near.of(frame), frame);
            }
        }

        boolean isConnected(int destination) {
            Frame frame = to(destination);
            return near.of(frame).isConnectedTo(frame);
        }

        @Override
        public void close() {
            own.close();
            arena.close();
        }
    }

    @Test
    void aDestinationThatGetsMuchGetsASocket() throws IOException {
        assumePacketsAreGivenBack();
        try (var bench = new Bench(LoopbackAddress.find(RoceV2.UDP_PORT))) {
            bench.use(1, NearSockets.RUNS_UNTIL_CONNECTED - 1);
            assertThat(bench.isConnected(1)).isFalse();
            bench.use(1, 1);
            assertThat(bench.isConnected(1)).isTrue();
            assertThat(bench.isConnected(2)).isFalse();
        }
    }

    @Test
    void aDestinationThatGetsNothingAnyMoreGivesItsSocketAway() throws IOException {
        assumePacketsAreGivenBack();
        try (var bench = new Bench(LoopbackAddress.find(RoceV2.UDP_PORT))) {
            for (int i = 1; i <= NearSockets.CONNECTED_MAX; i++) {
                bench.use(i, NearSockets.RUNS_UNTIL_CONNECTED);
            }
            bench.use(99, NearSockets.RUNS_UNTIL_CONNECTED);
            assertThat(bench.isConnected(99)).as("all others are in use").isFalse();
            for (int i = 0; i < 100; i++) {
                for (int used = 2; used <= NearSockets.CONNECTED_MAX; used++) {
                    bench.use(used, 10);
                }
            }
            bench.use(99, NearSockets.RUNS_UNTIL_CONNECTED);
            assertThat(bench.isConnected(99)).isTrue();
            assertThat(bench.isConnected(1)).isFalse();
            for (int used = 2; used <= NearSockets.CONNECTED_MAX; used++) {
                assertThat(bench.isConnected(used)).isTrue();
            }
            assertThat(bench.near.all()).hasSize(NearSockets.CONNECTED_MAX + 1);
        }
    }

    // --- identifications

    @Test
    void aRefusedMessageMakesTheSocketAskForItsIdentificationAgain() throws IOException {
        assumePacketsAreGivenBack();
        try (var bench = new Bench(LoopbackAddress.find(RoceV2.UDP_PORT))) {
            bench.use(1, NearSockets.RUNS_UNTIL_CONNECTED);
            UdpSocket socket = bench.near.of(bench.to(1));
            int before = socket.identificationAfter(0);
            assertThat(socket.identificationAfter(3)).isEqualTo((before + 3) & 0xFFFF);
            socket.sent(2); // although it has sent nothing
            assertThat(socket.identificationAfter(0)).isEqualTo((before + 2) & 0xFFFF);
            assertThat(socket.refused()).isTrue();
            // Asking takes one message itself.
            assertThat(socket.identificationAfter(0)).isEqualTo((before + 1) & 0xFFFF);
        }
    }

    @Test
    void aSocketThatIsNotConnectedGivesIdentificationZero() {
        try (var bench = new Bench(LoopbackAddress.find(RoceV2.UDP_PORT))) {
            UdpSocket any = bench.near.of(bench.to(1));
            assertThat(any.identificationAfter(5)).isZero();
            assertThat(any.refused()).isFalse();
        }
    }
}
