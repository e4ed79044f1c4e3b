package verbena.nic.link.tap;

import static org.assertj.core.api.Assertions.assertThat;
import static verbena.nic.link.LinkBench.filled;
import static verbena.nic.link.LinkBench.frames;
import static verbena.nic.link.LinkBench.gidOf;
import static verbena.nic.link.LinkBench.number;
import static verbena.nic.link.LinkBench.receiveAll;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.nic.link.Faults;
import verbena.nic.link.FaultyLink;
import verbena.nic.link.LinkBench;
import verbena.nic.link.udp.UdpLink;
import verbena.nic.link.udp.UdpOptions;
import verbena.transport.PacketFate;
import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// A tap around real sockets, without an engine.
@Timeout(180)
class TapLinkTest {
    private final UdpLink near = LinkBench.openAnywhere(UdpOptions.DEFAULT);
    private final UdpLink far = LinkBench.openAnywhere(UdpOptions.DEFAULT);
    private final List<String> seen = new ArrayList<>();
    private final Tap notes = new Tap() {
        @Override
        public void onSent(Frame packet, long nanos) {
            seen.add("sent " + number(packet) + (new RoceV2().verify(packet) ? "" : " damaged"));
        }

        @Override
        public void onReceived(Frame packet, @Nullable PacketFate fate, long nanos) {
            seen.add("received " + number(packet) + " " + fate);
        }

        @Override
        public void onMalformed(long arrivals, long nanos) {
            seen.add("malformed " + arrivals);
        }
    };

    @AfterEach
    void close() {
        near.close();
        far.close();
    }

    private static long noTime() {
        return 0;
    }

    @Test
    void whatHasArrivedIsShownWhenItHasBeenJudged() {
        var tapped = new TapLink(near, notes, TapLinkTest::noTime);
        far.transmit(filled(3, gidOf(far), gidOf(near), 64), 0, 3);
        Frame[] received = frames(3);
        near.await(LinkBench.TIMEOUT_NANOS);
        int n = tapped.receive(received, 0, 3);
        assertThat(n).isPositive();
        assertThat(seen).isEmpty();

        received[0].marks.fate = PacketFate.DUPLICATE.ordinal();
        tapped.transmit(filled(1, gidOf(near), gidOf(far), 64), 0, 1);

        assertThat(seen).startsWith("received 0 DUPLICATE").endsWith("sent 0");
        assertThat(seen.subList(1, n)).allMatch(line -> line.endsWith(" null"));
    }

    @Test
    void damageThatFaultsDoBelongsToTheWireWhenTheTapIsInside() {
        // With a seed: without one, some damaged bits are bits that the ICRC does not cover.
        var faulty = new FaultyLink(
                new TapLink(near, notes, TapLinkTest::noTime), Faults.parse("corrupt:100%,on:sent,seed:5"), () -> 0);
        faulty.transmit(filled(2, gidOf(near), gidOf(far), 64), 0, 2);
        Frame[] received = frames(2);
        assertThat(receiveAll(far, received, 2)).isEqualTo(2);

        assertThat(received).noneMatch(frame -> frame.icrcValid);
        assertThat(seen).hasSize(2).allMatch(line -> line.endsWith(" damaged"));
    }

    @Test
    void arrivalsThatAreNoPacketsAreCounted() throws IOException {
        var tapped = new TapLink(near, notes, TapLinkTest::noTime);
        try (var raw = DatagramChannel.open()) {
            raw.bind(new InetSocketAddress(LinkBench.addressOf(far), 0));
            var to = new InetSocketAddress(LinkBench.addressOf(near), RoceV2.UDP_PORT);
            raw.send(ByteBuffer.allocate(3), to);
            raw.send(ByteBuffer.allocate(15), to);
        }
        while (near.malformed() < 2) {
            near.await(LinkBench.TIMEOUT_NANOS);
            tapped.receive(frames(4), 0, 4);
        }
        assertThat(seen.stream()
                        .mapToInt(line -> Integer.parseInt(line.replace("malformed ", "")))
                        .sum())
                .isEqualTo(2);
    }

    @Test
    void aTapAllocatesNothingForAPacket() {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        var a = new TapLink(near, new Tap() {}, TapLinkTest::noTime);
        var b = new TapLink(far, new Tap() {}, TapLinkTest::noTime);
        Frame[] sent = filled(64, gidOf(near), gidOf(far), 256);
        Frame[] received = frames(64);
        long least = Long.MAX_VALUE;
        // Until the compiler has done its work; then a thousand packets must allocate nothing.
        for (int attempt = 0; attempt < 200 && least > 0; attempt++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 20; i++) {
                a.transmit(sent, 0, 64);
                b.await(LinkBench.TIMEOUT_NANOS);
                b.receive(received, 0, 64);
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertThat(least).isZero();
    }
}
