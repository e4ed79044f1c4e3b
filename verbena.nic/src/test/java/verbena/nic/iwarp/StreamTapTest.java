package verbena.nic.iwarp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.device.DeviceContext;
import verbena.nic.link.tap.Tap;
import verbena.nic.link.tap.TappedStream;
import verbena.verbs.Access;
import verbena.verbs.Device;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// What a tap is shown of the streams of an iWARP device.
@Timeout(180)
class StreamTapTest {
    /// The end of a payload that goes straight into a region, and of one that comes through a buffer.
    private static final int[] LENGTHS = {0, 1, 1_000, 100_000};

    private static final class Notes implements Tap {
        final ByteArrayOutputStream sent = new ByteArrayOutputStream();
        final ByteArrayOutputStream received = new ByteArrayOutputStream();
        final List<String> life = new ArrayList<>();
        InetSocketAddress local = new InetSocketAddress(0);
        InetSocketAddress remote = new InetSocketAddress(0);

        @Override
        public void onStreamOpened(TappedStream stream, long nanos) {
            life.add("opened");
            local = stream.localAddress();
            remote = new InetSocketAddress(stream.remote().address(), stream.remotePort());
        }

        @Override
        public void onStreamSent(TappedStream stream, MemorySegment bytes, long from, long count, long nanos) {
            sent.writeBytes(bytes.asSlice(from, count).toArray(ValueLayout.JAVA_BYTE));
        }

        @Override
        public void onStreamReceived(TappedStream stream, MemorySegment bytes, long from, long count, long nanos) {
            received.writeBytes(bytes.asSlice(from, count).toArray(ValueLayout.JAVA_BYTE));
        }

        @Override
        public void onStreamEnded(TappedStream stream, boolean byPeer, long nanos) {
            life.add(byPeer ? "ended by peer" : "ended");
        }

        @Override
        public void onStreamClosed(TappedStream stream, boolean reset, long nanos) {
            life.add(reset ? "reset" : "closed");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"iwarp", "iwarp,link=portable", "iwarp@::1"})
    void whatOneEndIsShownAsSentTheOtherIsShownAsReceived(String device) throws Exception {
        var atClient = new Notes();
        var atServer = new Notes();
        var late = new Notes();
        try (var serverDevice = (DeviceContext) Device.named(device).open();
                var clientDevice = (DeviceContext) Device.named(device).open()) {
            serverDevice.tap(atServer);
            clientDevice.tap(atClient);
            exchange(serverDevice, clientDevice, late);
        }

        assertThat(atServer.received.toByteArray()).isEqualTo(atClient.sent.toByteArray());
        assertThat(atClient.received.toByteArray()).isEqualTo(atServer.sent.toByteArray());
        assertThat(atClient.sent.toString(StandardCharsets.ISO_8859_1)).startsWith("MPA ID Req Frame");
        assertThat(atClient.sent.size()).isGreaterThan(101_000);
        assertThat(atClient.local).isEqualTo(atServer.remote);
        assertThat(atServer.local).isEqualTo(atClient.remote);
        // The server's side is closed first.
        assertThat(atServer.life).startsWith("opened", "ended");
        assertThat(atClient.life).startsWith("opened", "ended by peer");

        // One that came late is told that the stream is open, and one that has gone hears nothing of its end.
        assertThat(late.life).containsExactly("opened");
        assertThat(late.sent.size()).isPositive().isLessThan(atClient.sent.size());
    }

    private static void exchange(DeviceContext serverDevice, DeviceContext clientDevice, Notes late) throws Exception {
        var at = new InetSocketAddress(serverDevice.gid(1, 0).gid().address(), 0);
        var options = ConnectionOptions.defaults();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor();
                var listener = ConnectionListener.bind(at, options.withDevice(serverDevice))) {
            var accepted = threads.submit((Callable<Connection>) listener::accept);
            try (var client = Connection.connect(listener.localAddress(), options.withDevice(clientDevice));
                    var server = accepted.get(30, TimeUnit.SECONDS)) {
                var out = client.allocate(100_000);
                var in = server.allocate(100_000, Access.remoteAll());
                out.segment().fill((byte) 0x33);
                for (int bytes : LENGTHS) {
                    client.write(out.slice(0, bytes), in.remote());
                }
                clientDevice.tap(late);
                client.read(in.remote().slice(0, 100_000), out.slice(0, 100_000));
                clientDevice.untap(late);
                client.write(out.slice(0, 1), in.remote());
            }
        }
    }
}
