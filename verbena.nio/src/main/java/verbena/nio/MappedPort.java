package verbena.nio;

import java.io.Closeable;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/// The answerer for a device whose ports are TCP's (iWARP), which cannot listen at the port of the kernel's
/// listener. It listens at any other port, which this object answers with, at the UDP port of the listener's number
/// ([decision 29](../../../../../../docs/decisions/29-java-nio.md)).
///
/// Question and answer are 18 bytes: a mark, a number that the client has drawn, and the port, which is 0 in a
/// question. An answer is no longer than its question, so an attacker cannot aim more at a third party than was
/// sent.
final class MappedPort implements Closeable {
    private static final byte[] MARK = "verbena0".getBytes(StandardCharsets.US_ASCII);
    private static final int NUMBER = 8; // 64 bits
    private static final int PORT = 16; // 16 bits
    private static final int BYTES = 18;
    /// A datagram may be lost: the question is asked again after this time, and then after twice as long.
    private static final long FIRST_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final List<DatagramSocket> sockets = new ArrayList<>();
    private final int mapped;

    /// Answers at each of these addresses.
    ///
    /// @param port the number that peers know
    /// @param mapped where the device listens
    /// @throws IOException when another program has one of the UDP ports
    MappedPort(List<InetAddress> addresses, int port, int mapped) throws IOException {
        this.mapped = mapped;
        try {
            for (InetAddress address : addresses) {
                sockets.add(new DatagramSocket(new InetSocketAddress(address, port)));
            }
        } catch (IOException e) {
            close();
            throw e;
        }
        for (DatagramSocket socket : sockets) {
            Thread.ofVirtual().name("verbena-nio-port").start(() -> answerAll(socket));
        }
    }

    private void answerAll(DatagramSocket socket) {
        var packet = packet();
        while (!socket.isClosed()) {
            try {
                packet.setLength(BYTES + 1); // what is longer is no question
                socket.receive(packet);
                if (isOurs(packet)) {
                    ByteBuffer.wrap(packet.getData()).putShort(PORT, (short) mapped);
                    socket.send(packet);
                }
            } catch (IOException e) {
                // closed; or this peer cannot be reached, which is its own loss
            }
        }
    }

    /// Asks a peer at which port its device listens.
    ///
    /// @throws PortUnreachableException when no listener answers questions there
    /// @throws SocketTimeoutException when none came in the time
    static int ask(InetSocketAddress peer, Duration wait) throws IOException {
        long start = System.nanoTime();
        long number = ThreadLocalRandom.current().nextLong();
        try (var socket = new DatagramSocket()) {
            socket.connect(peer); // so that what others send is dropped, and a refusal is told
            for (long nanos = FIRST_NANOS; ; nanos *= 2) {
                var question = packet();
                ByteBuffer.wrap(question.getData()).put(MARK).putLong(number);
                question.setLength(BYTES);
                socket.send(question);
                long left = wait.toNanos() - (System.nanoTime() - start);
                int port = await(socket, number, System.nanoTime() + Math.min(nanos, left));
                if (port > 0) {
                    return port;
                }
                if (left <= nanos) {
                    throw new SocketTimeoutException("the peer does not say at which port a device listens");
                }
            }
        }
    }

    /// Returns the port in the answer to this question; 0 when none has come by then.
    private static int await(DatagramSocket socket, long number, long end) throws IOException {
        var answer = packet();
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            socket.setSoTimeout((int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(left)));
            try {
                answer.setLength(BYTES + 1);
                socket.receive(answer);
            } catch (SocketTimeoutException e) {
                return 0;
            } catch (PortUnreachableException e) {
                var refused = new PortUnreachableException("no listener there says that it has a device");
                refused.initCause(e);
                throw refused;
            }
            var said = ByteBuffer.wrap(answer.getData());
            if (isOurs(answer) && said.getLong(NUMBER) == number) {
                return Short.toUnsignedInt(said.getShort(PORT));
            }
        }
        return 0;
    }

    private static DatagramPacket packet() {
        return new DatagramPacket(new byte[BYTES + 1], BYTES + 1);
    }

    private static boolean isOurs(DatagramPacket packet) {
        return packet.getLength() == BYTES && Arrays.equals(packet.getData(), 0, MARK.length, MARK, 0, MARK.length);
    }

    @Override
    public void close() {
        sockets.forEach(DatagramSocket::close);
    }
}
