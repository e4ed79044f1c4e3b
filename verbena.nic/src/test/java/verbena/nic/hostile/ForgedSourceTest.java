package verbena.nic.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.nic.GoalRun;
import verbena.nic.SoftContext;
import verbena.nic.device.DeviceContext;
import verbena.nic.link.ForwardingLink;
import verbena.nic.link.Interfaces;
import verbena.nic.link.Link;
import verbena.nic.link.LinkKind;
import verbena.nic.link.LoopbackAddress;
import verbena.nic.link.psp.KeyLog;
import verbena.nic.link.psp.PspLink;
import verbena.nic.link.psp.PspPolicy;
import verbena.nic.link.udp.PacketInfoSocket;
import verbena.nic.link.udp.UdpLinks;
import verbena.nic.link.udp.UdpOptions;
import verbena.nic.roce.LinkDevice;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.Gid;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QpState;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;
import verbena.wire.Frame;
import verbena.wire.notation.Names;
import verbena.wire.notation.PacketPattern;
import verbena.wire.psp.PspVersion;
import verbena.wire.roce.RoceV2;

/// Another user of the peer's host, who knows all numbers of a connection and its key, sends WRITEs in the peer's
/// name from another socket (decision 48).
@Timeout(180)
class ForgedSourceTest {
    private static final int PACKETS = 1_000;
    private static final byte[] SECRET = new byte[32];
    private static final VarHandle WORDS = ValueLayout.JAVA_LONG.varHandle();
    private static final long MINE = 0x0101_0101_0101_0101L;

    /// A link that promises, or does not promise, that every packet leaves from one port.
    private static Link link(LinkKind kind, boolean promises) {
        Link made = LoopbackAddress.claim(address -> UdpLinks.open(
                Interfaces.loopback().withOnly(address).gids(), RoceV2.UDP_PORT, UdpOptions.DEFAULT.with(kind)));
        return promises
                ? made
                : new ForwardingLink(made) {
                    @Override
                    public int sourcePort(Gid from, Gid to) {
                        return 0;
                    }
                };
    }

    private static Context context(Link link) {
        return (DeviceContext) LinkDevice.open("forged", link, System::nanoTime, SoftContext.secureRandom(), true);
    }

    /// Sends the forger's packets.
    private interface Forger {
        void send(Frame frame) throws Exception;
    }

    /// Opens the forger's socket.
    private interface Opener {
        AutoCloseable open(InetAddress peer, int peerPort, InetAddress victim) throws Exception;
    }

    /// Bound to the peer's address at any free port: the ports that the peer sends from are the peer's.
    private record AnotherPort(DatagramChannel channel, InetAddress victim) implements Forger, AutoCloseable {
        static AnotherPort open(InetAddress peer, int peerPort, InetAddress victim) throws Exception {
            var channel = DatagramChannel.open(StandardProtocolFamily.INET);
            channel.bind(new InetSocketAddress(peer, 0));
            return new AnotherPort(channel, victim);
        }

        @Override
        public void send(Frame frame) throws Exception {
            frame.sourcePort = ((InetSocketAddress) channel.getLocalAddress()).getPort();
            new RoceV2().seal(frame, 0);
            int sent = channel.send(frame.packet().asByteBuffer(), new InetSocketAddress(victim, RoceV2.UDP_PORT));
            assertThat(sent).isEqualTo(frame.length);
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    /// Bound to the port that the peer sends from, at another address of the host; names the peer's address as the
    /// source of each packet.
    private record SamePort(PacketInfoSocket socket, Gid peer, int port, Gid victim) implements Forger, AutoCloseable {
        static SamePort open(InetAddress peer, int peerPort, InetAddress victim) throws Exception {
            InetAddress own = LoopbackAddress.find(peerPort);
            PacketInfoSocket socket = PacketInfoSocket.open(Gid.of(own), peerPort);
            return new SamePort(socket, Gid.of(peer), peerPort, Gid.of(victim));
        }

        @Override
        public void send(Frame frame) {
            frame.sourcePort = port;
            new RoceV2().seal(frame, 0);
            socket.send(frame.packet(), peer, victim, RoceV2.UDP_PORT);
        }

        @Override
        public void close() {
            socket.close();
        }
    }

    /// Attacks the passive side of a connection with WRITEs that carry each PSN from the expected one on. Returns
    /// how many were carried out and how many were dropped for their source.
    private static long[] attack(Link serverLink, Link clientLink, Opener opener) throws Exception {
        try (Context serverDevice = context(serverLink);
                Context clientDevice = context(clientLink);
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var at = new InetSocketAddress(serverDevice.gid(1, 0).gid().address(), 0);
            // What is forged takes PSNs away from the honest peer: its keep-alive would not be answered.
            var options = ConnectionOptions.defaults().withParameters(own -> own.withKeepAlive(Duration.ZERO));
            try (var listener = ConnectionListener.bind(at, options.withDevice(serverDevice))) {
                var accepted = threads.submit((Callable<Connection>) listener::accept);
                try (var client = Connection.connect(listener.localAddress(), options.withDevice(clientDevice));
                        var server = accepted.get(30, TimeUnit.SECONDS)) {
                    MemoryRegion target = server.allocate(PACKETS * 8, Access.remoteAll());
                    InetAddress peer = client.localAddress().getAddress();
                    int peerPort = clientLink.sourcePort(Gid.of(peer), Gid.of(at.getAddress()));
                    try (AutoCloseable forger = opener.open(peer, peerPort, at.getAddress())) {
                        long[] fates = bombard((Forger) forger, clientDevice, serverDevice, server, target);
                        // The honest peer has lost nothing if no forged WRITE was accepted.
                        if (fates[0] == 0) {
                            client.write(client.allocate(64).slice(0, 8), target.remote());
                        }
                        return fates;
                    }
                }
            }
        }
    }

    private static long[] bombard(
            Forger forger, Context clientDevice, Context serverDevice, Connection server, MemoryRegion target)
            throws Exception {
        Frame frame = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES, 64))[0];
        Gid from = clientDevice.gid(1, 0).gid();
        Gid to = serverDevice.gid(1, 0).gid();
        int psn = server.queuePair().query().receiving().rqPsn();
        int written = 0;
        for (int i = 0; i < PACKETS; i++) {
            PacketPattern.parse(
                            "WRITE_ONLY psn %d qp 0x%x va 0x%x rkey 0x%x len 8 | 8"
                                    .formatted(
                                            (psn + i) & 0xFF_FFFF,
                                            server.queuePair().qpn(),
                                            target.address() + 8L * i,
                                            target.rkey()),
                            Names.NUMBERS)
                    .build(frame, null);
            frame.slot.asSlice(frame.start + 28, 8).fill((byte) 1); // BTH and RETH are before it
            frame.sourceHigh = from.high();
            frame.sourceLow = from.low();
            frame.destinationHigh = to.high();
            frame.destinationLow = to.low();
            forger.send(frame);
            // One after the other, so that no socket's buffer overflows.
            while (written + dropped(serverDevice) <= i) {
                if ((long) WORDS.getVolatile(target.segment(), 8L * i) == MINE) {
                    written++;
                }
                assertThat(server.queuePair().state()).isEqualTo(QpState.RTS);
                Thread.onSpinWait();
            }
        }
        return new long[] {written, dropped(serverDevice)};
    }

    private static long dropped(Context device) {
        return device.counters().getOrDefault("dropped.source", 0L)
                + device.counters().getOrDefault("psp.dropped.plain", 0L);
    }

    @ParameterizedTest
    @CsvSource({"PORTABLE", "AUTO"})
    void betweenTwoThatSendFromOnePortAnotherPortIsDropped(LinkKind kind) throws Exception {
        long[] fates = attack(link(kind, true), link(kind, true), AnotherPort::open);
        assertThat(fates).containsExactly(0, PACKETS);
        GoalRun.print("S5", PACKETS + " forged WRITEs from the peer's address and another port: 0 accepted");
    }

    /// With PSP the forger's packets are not believed, whatever they say.
    @ParameterizedTest
    @CsvSource({"PORTABLE, false", "AUTO, false", "AUTO, true"})
    void withPspNothingForgedIsTaken(LinkKind kind, boolean fromThePeersPort) throws Exception {
        Opener opener = fromThePeersPort ? SamePort::open : AnotherPort::open;
        assertThat(attack(protectedLink(kind, SECRET), protectedLink(kind, SECRET), opener))
                .containsExactly(0, PACKETS);
    }

    /// A device with the secret knows all numbers of the connection between two others.
    @Test
    void withPspAPeerOfTheSameSecretWritesIntoItsOwnConnectionsOnly() throws Exception {
        long[] fates = attack(
                protectedLink(LinkKind.AUTO, SECRET), protectedLink(LinkKind.AUTO, SECRET), (_, _, _) -> new Insider());
        assertThat(fates).containsExactly(0, PACKETS);
    }

    private static Link protectedLink(LinkKind kind, byte[] secret) {
        Link made = LoopbackAddress.claim(address -> UdpLinks.open(
                Interfaces.loopback().withOnly(address).gids(),
                RoceV2.UDP_PORT,
                UdpOptions.DEFAULT.with(kind).wrap(0)));
        return new PspLink(
                made,
                secret,
                PspVersion.AES_GCM_128,
                PspPolicy.REQUIRED,
                KeyLog.NONE,
                System::nanoTime,
                SoftContext.secureRandom());
    }

    /// Has keys with the victim, and seals what it forges.
    private static final class Insider implements Forger, AutoCloseable {
        private final Link link = protectedLink(LinkKind.AUTO, SECRET);
        private final Frame[] one = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES, 64));

        @Override
        public void send(Frame frame) {
            Gid own = link.gids().getFirst().gid();
            frame.sourceHigh = own.high();
            frame.sourceLow = own.low();
            one[0].copyFrom(frame);
            assertThat(link.transmit(one, 0, 1)).isEqualTo(1);
            while (link.counters().get("psp.keys.begun") == 0) { // the first one waits for keys
                link.await(1_000_000);
                assertThat(link.receive(one, 0, 1)).isZero();
            }
        }

        @Override
        public void close() {
            link.close();
        }
    }

    /// The remainder: cards and soft-RoCE choose a port for each flow, and promise nothing.
    @Test
    void ofAPeerThatPromisesNothingAnyPortIsTaken() throws Exception {
        long[] fates = attack(link(LinkKind.AUTO, true), link(LinkKind.AUTO, false), AnotherPort::open);
        assertThat(fates).containsExactly(PACKETS, 0);
    }

    /// One side's promise does not depend on the other side's.
    @Test
    void aPeerIsHeldToItsPromiseByOneThatMakesNone() throws Exception {
        long[] fates = attack(link(LinkKind.AUTO, false), link(LinkKind.AUTO, true), AnotherPort::open);
        assertThat(fates).containsExactly(0, PACKETS);
    }

    /// The remainder: Linux lets every user name any address of the host as a packet's source (ip(7), IP_PKTINFO),
    /// and the peer's port is free at an unused address.
    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "IP_PKTINFO by Linux's numbers")
    void aForgerWithThePortAtAnotherAddressLooksLikeThePeer() throws Exception {
        long[] fates = attack(link(LinkKind.AUTO, true), link(LinkKind.AUTO, true), SamePort::open);
        assertThat(fates).containsExactly(PACKETS, 0);
    }
}
