package verbena.nic.link.udp;

import static verbena.nic.link.LinkBench.frames;
import static verbena.nic.link.LinkBench.gidOf;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import verbena.nic.link.LinkBench;
import verbena.nic.link.LinkKind;
import verbena.wire.Frame;
import verbena.wire.roce.RoceV2;

/// A program for [SegmentsTest]: sends over a loopback interface that does not take every packet that ordinary
/// ones take. Its exit code is 0 when everything arrived as expected.
final class CutOnTheWay {
    private static final int COUNT = 20;

    private CutOnTheWay() {}

    public static void main(String[] arguments) throws Throwable {
        try (UdpLink a = open("127.1.2.3");
                UdpLink b = open("127.1.2.4")) {
            if (arguments[0].equals("narrow")) {
                tooLong(a, b);
            } else {
                identifications(a, b);
            }
        }
    }

    private static UdpLink open(String address) {
        return LinkBench.open(InetAddress.ofLiteral(address), RoceV2.UDP_PORT, LinkBench.options(LinkKind.LINUX));
    }

    private static int[] lengths(int count, int length) {
        int[] lengths = new int[count];
        Arrays.fill(lengths, length);
        return lengths;
    }

    private static void identifications(UdpLink a, UdpLink b) throws Throwable {
        try (RawUdpSocket witness = RawUdpSocket.open(gidOf(b))) {
            if (witness == null) {
                return; // the link has checked the arrivals in any case
            }
            Frame[] sent = SegmentsTest.run(gidOf(a), gidOf(b), lengths(COUNT, 256));
            a.transmit(sent, 0, COUNT);
            var roce = new RoceV2();
            Frame seen = frames(1)[0];
            for (int i = 0; i < COUNT; i++) {
                byte[] datagram = witness.next();
                require(datagram != null, "packet " + i + " was not seen");
                ByteBuffer ip = ByteBuffer.wrap(datagram);
                int identification = Short.toUnsignedInt(ip.getShort(4));
                int fragment = ip.getShort(6);
                require(datagram.length == 28 + 256, "packet " + i + " was not cut: " + datagram.length + " bytes");
                require(identification == i, "packet " + i + " has identification " + identification);
                seen.copyFrom(sent[i]);
                MemorySegment.copy(MemorySegment.ofArray(datagram), 28, seen.slot, seen.start, 256);
                require(roce.verify(seen, identification, fragment), "packet " + i + ": ICRC");
            }
        }
        Frame[] received = frames(COUNT);
        int arrived = LinkBench.receiveAll(b, received, COUNT);
        require(arrived == COUNT, "arrived: " + arrived);
        for (int i = 0; i < COUNT; i++) {
            require(received[i].icrcValid && LinkBench.number(received[i]) == i, "packet " + i);
        }
    }

    // Two packets that fit, ten that do not, three that do.
    private static void tooLong(UdpLink a, UdpLink b) {
        int[] lengths = lengths(15, 2048);
        lengths[0] = lengths[1] = lengths[12] = lengths[13] = lengths[14] = 1024;
        Frame[] sent = SegmentsTest.run(gidOf(a), gidOf(b), lengths);
        int taken = 0;
        for (int call = 0; call < 3 && taken < 15; call++) {
            taken += a.transmit(sent, taken, 15 - taken);
        }
        require(taken == 15, "taken: " + taken);
        require(a.unsendable() == 10, "unsendable: " + a.unsendable());
        Frame[] received = frames(5);
        require(LinkBench.receiveAll(b, received, 5) == 5, "the others did not arrive");
        for (int i = 0; i < 5; i++) {
            require(received[i].icrcValid && LinkBench.number(received[i]) == (i < 2 ? i : i + 10), "packet " + i);
        }
    }

    private static void require(boolean condition, String otherwise) {
        if (!condition) {
            System.out.println(otherwise);
            System.exit(1);
        }
    }
}
