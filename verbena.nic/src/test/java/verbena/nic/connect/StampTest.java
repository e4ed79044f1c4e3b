package verbena.nic.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.nic.SoftContext;
import verbena.nic.device.DeviceContext;
import verbena.nic.kind.roce.LinkDevice;
import verbena.nic.link.Faults;
import verbena.nic.link.FaultyLink;
import verbena.nic.link.ForwardingLink;
import verbena.nic.link.Interfaces;
import verbena.nic.link.Link;
import verbena.nic.link.LoopbackAddress;
import verbena.nic.link.UdpLinks;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;
import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// Two ends on loopback that both say they can do without the ICRC (decision 0035).
@Timeout(60)
class StampTest {
    private static final int BYTES = 100_000;

    /// A link on loopback that counts what arrives with its stamp.
    private static final class Watched extends ForwardingLink {
        final AtomicInteger stamped = new AtomicInteger();
        final AtomicInteger packets = new AtomicInteger();
        private final int expected;

        private Watched(Link link, int expected) {
            super(link);
            this.expected = expected;
        }

        @Override
        public int receive(Frame[] frames, int from, int count) {
            int received = link.receive(frames, from, count);
            for (int i = from; i < from + received; i++) {
                packets.incrementAndGet();
                if (RoceV2.isStamped(frames[i], expected)) {
                    stamped.incrementAndGet();
                }
            }
            return received;
        }
    }

    private static Watched link(boolean optional, UdpLinks.Kind kind) {
        var options = UdpLinks.Options.DEFAULT.with(kind);
        Link link = LoopbackAddress.claim(address -> UdpLinks.open(
                Interfaces.loopback().withOnly(address).gids(), RoceV2.UDP_PORT, optional ? options.stamp() : options));
        assertThat(link.stamp() != 0).isEqualTo(optional);
        return new Watched(link, link.stamp() == 0 ? -1 : link.stamp());
    }

    private static Context context(Link link) {
        return (DeviceContext) LinkDevice.open("watched", link, System::nanoTime, SoftContext.secureRandom(), true);
    }

    private static void exchange(Context serverDevice, Context clientDevice) throws Exception {
        var at = new InetSocketAddress(serverDevice.gid(1, 0).gid().address(), 0);
        var options = ConnectionOptions.defaults();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor();
                var listener = ConnectionListener.bind(at, options.withDevice(serverDevice))) {
            var accepted = threads.submit((Callable<Connection>) listener::accept);
            try (var client = Connection.connect(listener.localAddress(), options.withDevice(clientDevice));
                    var server = accepted.get(30, TimeUnit.SECONDS)) {
                var out = client.allocate(BYTES);
                var in = server.allocate(BYTES, Access.remoteAll());
                for (int i = 0; i < BYTES; i++) {
                    out.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31));
                }
                client.write(out, 0, BYTES, in.remote(), 0);
                assertThat(in.segment().mismatch(out.segment())).isEqualTo(-1);
                in.segment().fill((byte) 7);
                client.read(out, 0, BYTES, in.remote(), 0);
                assertThat(in.segment().mismatch(out.segment())).isEqualTo(-1);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "true, true, LINUX",
        "true, true, PORTABLE",
        "true, false, AUTO",
        "false, true, AUTO",
        "false, false, AUTO"
    })
    void theIcrcIsLeftOutWhenBothSayTheyCan(boolean serverCan, boolean clientCan, UdpLinks.Kind kind) throws Exception {
        Watched atServer = link(serverCan, kind);
        Watched atClient = link(clientCan, kind);
        try (Context server = context(atServer);
                Context client = context(atClient)) {
            exchange(server, client);
        }
        for (Watched each : List.of(atServer, atClient)) {
            if (serverCan && clientCan) {
                assertThat(each.stamped.get()).isGreaterThanOrEqualTo(BYTES / 4096);
                // Management is not the connection's: it keeps its ICRC.
                assertThat(each.stamped.get()).isLessThan(each.packets.get());
            } else {
                assertThat(each.stamped.get()).isZero();
            }
        }
    }

    /// Where bits are turned over, they have to be noticed.
    @Test
    void aFaultyLinkKeepsTheIcrc() throws Exception {
        Watched atServer = link(true, UdpLinks.Kind.AUTO);
        Watched atClient = link(true, UdpLinks.Kind.AUTO);
        try (Context server = context(atServer);
                Context client =
                        context(new FaultyLink(atClient, Faults.parse("corrupt:2%,seed:3"), System::nanoTime))) {
            exchange(server, client);
        }
        assertThat(atServer.stamped.get()).isZero();
        assertThat(atClient.stamped.get()).isZero();
    }

    /// Whoever has not been told the stamp gets nothing in without an ICRC.
    @Test
    void aWrongStampIsAWrongIcrc() {
        Watched sender = link(true, UdpLinks.Kind.AUTO);
        Watched receiver = link(true, UdpLinks.Kind.AUTO);
        Frame[] frames = Frame.allocate(Arena.ofAuto().allocate(3L * Frame.SLOT_BYTES, 64));
        try (sender;
                receiver) {
            for (int i = 0; i < 3; i++) {
                Frame frame = frames[i];
                frame.length = 64;
                frame.sourceHigh = sender.gids().getFirst().gid().high();
                frame.sourceLow = sender.gids().getFirst().gid().low();
                frame.destinationHigh = receiver.gids().getFirst().gid().high();
                frame.destinationLow = receiver.gids().getFirst().gid().low();
            }
            frames[1].stamp = receiver.stamp();
            frames[2].stamp = sender.stamp();
            assertThat(sender.transmit(frames, 0, 3)).isEqualTo(3);
            boolean[] whole = new boolean[3];
            int arrived = 0;
            while (arrived < 3) {
                receiver.await(TimeUnit.SECONDS.toNanos(20));
                int more = receiver.receive(frames, 0, 3 - arrived);
                assertThat(more).isPositive();
                for (int i = 0; i < more; i++) {
                    whole[arrived++] = frames[i].icrcValid;
                }
            }
            assertThat(whole).containsExactly(true, true, false);
        }
    }

    @Test
    void theOptionHasTwoValues() throws Exception {
        Device.named("rocev2,icrc=always").open().close();
        try (Context context = Device.named("rocev2,icrc=optional").open();
                Context other = Device.named("rocev2,icrc=optional").open()) {
            exchange(context, other);
        }
        assertThatThrownBy(() -> Device.named("rocev2,icrc=never").open())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("always or optional, got \"never\"");
    }
}
