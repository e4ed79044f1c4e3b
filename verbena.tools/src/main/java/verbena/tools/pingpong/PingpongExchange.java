package verbena.tools.pingpong;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.OutOfBand;

/// The messages that the ends of a ping-pong exchange over TCP, as the C programs do: the client sends first, the
/// server answers, the client sends "done".
final class PingpongExchange implements AutoCloseable {
    private static final String DONE = "done\0";

    private final OutOfBand stream;

    private PingpongExchange(OutOfBand stream) {
        this.stream = stream;
    }

    /// Connects to a server, trying each address of `host`.
    static PingpongExchange connect(String host, int port, Duration timeout) throws InterruptedException {
        return new PingpongExchange(OutOfBand.connect(host, port, timeout));
    }

    /// Waits for one client, without limit.
    ///
    /// @param listening told the port once clients can connect; 0 was any
    static PingpongExchange accept(List<InetAddress> addresses, int port, Duration timeout, IntConsumer listening)
            throws IOException, InterruptedException {
        return new PingpongExchange(OutOfBand.accept(addresses, port, timeout, "--bind", listening));
    }

    /// Returns this end's address on the connection.
    InetAddress localAddress() throws IOException {
        return stream.localAddress();
    }

    /// Returns the other end's address on the connection.
    InetAddress remoteAddress() throws IOException {
        return stream.remoteAddress();
    }

    /// Sends the descriptions of the queue pairs here, in `count` messages of which the last are empty.
    void send(List<PingpongPeer> local, int count) throws InterruptedException {
        for (int i = 0; i < count; i++) {
            write((i < local.size() ? local.get(i) : PingpongPeer.NONE).message());
        }
    }

    /// Receives the descriptions of the queue pairs there.
    List<PingpongPeer> receive(int count) throws InterruptedException {
        var peers = new ArrayList<PingpongPeer>();
        while (peers.size() < count) {
            String message = read(PingpongPeer.MESSAGE_BYTES);
            try {
                peers.add(PingpongPeer.parse(message));
            } catch (IllegalArgumentException e) {
                throw new CommandFailed("the program at " + stream.peer() + " is no pingpong: " + e.getMessage(), e);
            }
        }
        return peers;
    }

    void sendDone() throws InterruptedException {
        write(DONE);
    }

    void receiveDone() throws InterruptedException {
        read(DONE.length());
    }

    @Override
    public void close() {
        hangUp();
    }

    /// Ends the TCP connection; what follows needs it no more.
    void hangUp() {
        stream.close();
    }

    private void write(String text) throws InterruptedException {
        stream.write(text.getBytes(StandardCharsets.US_ASCII));
    }

    private String read(int bytes) throws InterruptedException {
        return new String(stream.read(bytes), StandardCharsets.ISO_8859_1);
    }
}
