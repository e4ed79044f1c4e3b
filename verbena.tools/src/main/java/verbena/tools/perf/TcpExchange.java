package verbena.tools.perf;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.IntConsumer;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.OutOfBand;
import verbena.verbs.Context;

/// The exchange over TCP, as the C programs have it by default.
final class TcpExchange implements Exchange {
    /// The time to wait for the peer to end as well.
    private static final Duration LINGER = Duration.ofSeconds(1);

    private final OutOfBand stream;
    private final boolean isClient;

    private TcpExchange(OutOfBand stream, boolean isClient) {
        this.stream = stream;
        this.isClient = isClient;
    }

    static TcpExchange connect(String host, int port, Duration timeout) throws InterruptedException {
        return new TcpExchange(OutOfBand.connect(host, port, timeout), true);
    }

    /// @param listening told the port once clients can connect; 0 was any
    static TcpExchange accept(InetAddress at, int port, Duration timeout, IntConsumer listening)
            throws IOException, InterruptedException {
        return new TcpExchange(OutOfBand.accept(List.of(at), port, timeout, "--source_ip", listening), false);
    }

    @Override
    public byte[] swap(byte[] mine) throws InterruptedException {
        if (isClient) {
            stream.write(mine);
            return stream.read(mine.length);
        }
        byte[] theirs = stream.read(mine.length);
        stream.write(mine);
        return theirs;
    }

    @Override
    public PerfPeer swap(PerfPeer mine) throws InterruptedException {
        try {
            return PerfPeer.ofText(swap(mine.text()));
        } catch (IllegalArgumentException e) {
            throw new CommandFailed("the program at " + stream.peer() + " is no perftest: " + e.getMessage(), e);
        }
    }

    @Override
    public void waitWithoutLimit() {
        try {
            stream.waitFor(Duration.ZERO);
        } catch (IOException e) {
            throw new CommandFailed("the TCP connection to " + stream.peer() + " broke: " + e.getMessage(), e);
        }
    }

    @Override
    public boolean hasEnded() {
        return stream.hasEnded();
    }

    @Override
    public void part(boolean done) throws InterruptedException {
        if (done) {
            stream.write("done\0".getBytes(StandardCharsets.US_ASCII));
        }
        stream.part(LINGER);
    }

    @Override
    public InetAddress localAddress() {
        try {
            return stream.localAddress();
        } catch (IOException e) {
            throw new CommandFailed("the TCP connection to " + stream.peer() + " broke: " + e.getMessage(), e);
        }
    }

    @Override
    public InetAddress remoteAddress() {
        try {
            return stream.remoteAddress();
        } catch (IOException e) {
            throw new CommandFailed("the TCP connection to " + stream.peer() + " broke: " + e.getMessage(), e);
        }
    }

    @Override
    public Optional<Context> context() {
        return Optional.empty();
    }

    @Override
    public String peer() {
        return stream.peer();
    }

    @Override
    public void close() {
        stream.close();
    }
}
