package verbena.nic.link.udp;

import static verbena.nic.link.LinkBench.filled;
import static verbena.nic.link.LinkBench.frames;
import static verbena.nic.link.LinkBench.gidOf;

import java.net.InetAddress;
import verbena.nic.link.LinkBench;
import verbena.nic.link.LinkKind;
import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// A program for [FullSendBufferTest]: sends more than the socket holds, over a loopback interface that was made
/// slow. Its exit code is 0 when everything arrived in the end and the socket was full in between.
final class FullSendBuffer {
    private static final int COUNT = 300;
    private static final int LENGTH = 4096 + 16;

    private FullSendBuffer() {}

    public static void main(String[] arguments) {
        var options = new UdpOptions(LinkKind.parse(arguments[0]), 16 << 20, 64 << 10, false, false, 0);
        try (UdpLink a = LinkBench.open(InetAddress.ofLiteral("127.1.2.3"), RoceV2.UDP_PORT, options);
                UdpLink b = LinkBench.open(InetAddress.ofLiteral("127.1.2.4"), RoceV2.UDP_PORT, options)) {
            Frame[] sent = filled(COUNT, gidOf(a), gidOf(b), LENGTH);
            int taken = a.transmit(sent, 0, COUNT);
            require(taken > 0 && taken < COUNT, "the way out should have been full, taken at once: " + taken);
            int waits = 0;
            while (taken < COUNT) {
                a.await(LinkBench.TIMEOUT_NANOS); // ends when there is room
                taken += a.transmit(sent, taken, COUNT - taken);
                waits++;
            }
            Frame[] received = frames(COUNT);
            int arrived = LinkBench.receiveAll(b, received, COUNT);
            require(arrived == COUNT, "arrived: " + arrived);
            for (int i = 0; i < COUNT; i++) {
                require(received[i].icrcValid && LinkBench.number(received[i]) == i, "packet " + i);
            }
            require(a.unsendable() == 0, "unsendable: " + a.unsendable());
            require(waits < 10 * COUNT, "waited " + waits + " times: await did not sleep");
        }
    }

    private static void require(boolean condition, String otherwise) {
        if (!condition) {
            System.out.println(otherwise);
            System.exit(1);
        }
    }
}
