package verbena.tools;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import verbena.verbs.RemoteMemory;
import verbena.verbs.SendBatch;
import verbena.verbs.TransportType;
import verbena.verbs.WcOpcode;

/// The demo's figures: throughput and latency of this run, and those of a plain TCP socket between the same two
/// processes.
final class DemoFigures {
    private static final int BLOCK_BYTES = 64 << 10;
    private static final int WINDOW = 16;
    private static final double WARM_UP = 0.3;
    private static final int SAMPLES_MAX = 1_000_000;
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private final DemoStory story;
    private final DemoEnd we;
    private final DemoPeerProcess peer;
    private final RemoteMemory memory;
    private final double seconds;

    DemoFigures(DemoStory story, DemoEnd we, DemoPeerProcess peer, RemoteMemory memory, double seconds) {
        this.story = story;
        this.we = we;
        this.peer = peer;
        this.memory = memory;
        this.seconds = seconds;
    }

    /// What was measured.
    ///
    /// @param write bytes a second
    /// @param message nanoseconds, median
    /// @param stream of a TCP socket, bytes a second
    /// @param echo of a TCP socket, nanoseconds
    record Result(double write, double message, double stream, double echo) {}

    Result run() throws IOException, InterruptedException {
        story.table("How fast, in this run, on this host:", "Verbena", "TCP socket", "ratio");
        double write = writeThroughput();
        double[] message = messageLatency();
        String[] at = peer.order("tcp");
        var address = new InetSocketAddress(InetAddress.ofLiteral(at[0]), Integer.parseInt(at[1]));
        double stream = tcpThroughput(address);
        double[] echo = tcpLatency(address);
        peer.answer("the end of the TCP connections");
        story.row(
                "WRITE of 64 KiB, " + WINDOW + " under way",
                Map.of("verbena_bytes_per_second", write, "tcp_bytes_per_second", stream),
                gigabytes(write),
                gigabytes(stream),
                ratio(write / stream));
        latency("8-byte message, one way, median", message[0], echo[0]);
        latency("the same, 99th percentile", message[1], echo[1]);
        verdict(write / stream, echo[0] / message[0]);
        return new Result(write, message[0], stream, echo[0]);
    }

    private void latency(String name, double verbena, double tcp) {
        story.row(
                name,
                Map.of("verbena_seconds_1e6", verbena / 1e3, "tcp_seconds_1e6", tcp / 1e3),
                micros(verbena),
                micros(tcp),
                ratio(verbena / tcp));
    }

    private void verdict(double throughputGain, double latencyGain) {
        if (we.context.device().transportType() == TransportType.IWARP) {
            story.note("Throughput is " + word(throughputGain)
                    + " than TCP's: it is TCP, with a CRC (the device's option" + " crc=off leaves it out).");
        } else {
            story.note("Throughput is " + word(throughputGain) + " than TCP's: in software each packet of 4 KiB passes"
                    + " the kernel's UDP,");
            story.note("while TCP hands over 64 KiB at a time; a card does it without the kernel.");
        }
        story.note("Latency is " + word(latencyGain) + " than TCP's: Verbena's ends poll before they sleep, which pays"
                + " with a core");
        story.note("for each and costs when cores are scarce; those of the socket sleep at once.");
    }

    private static String word(double gain) {
        return gain >= 1 ? "better" : "worse";
    }

    // Keeps a window of WRITEs under way; counts what has been acknowledged.
    private double writeThroughput() throws InterruptedException {
        writesFor(WARM_UP);
        return writesFor(seconds);
    }

    private double writesFor(double howLong) throws InterruptedException {
        long start = System.nanoTime();
        long end = start + (long) (howLong * NANOS_PER_SECOND);
        long posted = 0;
        long completed = 0;
        while (posted < WINDOW) {
            postWrite(posted++);
        }
        while (completed < posted) {
            we.await("WRITE of 64 KiB", WcOpcode.RDMA_WRITE);
            completed++;
            if (System.nanoTime() < end) {
                postWrite(posted++);
            }
        }
        we.settle(memory);
        return (double) completed * BLOCK_BYTES * NANOS_PER_SECOND / (System.nanoTime() - start);
    }

    private void postWrite(long number) {
        long offset = number % WINDOW * BLOCK_BYTES;
        we.qp.postWrite(number, we.region, offset, BLOCK_BYTES, memory.address() + offset, memory.rkey());
    }

    // SEND of 8 bytes there and back: the peer's application answers each.
    private double[] messageLatency() throws InterruptedException {
        peer.order("pong");
        we.qp.postReceive(0, we.messages, 0, Long.BYTES);
        roundTripsFor(WARM_UP, this::messageRoundTrip);
        double[] result = roundTripsFor(seconds, this::messageRoundTrip);
        try (SendBatch batch = we.qp.send()) {
            batch.send(0).inline(we.messages.segment().asSlice(0, 1)).signaled().submit();
        }
        we.await("the last message", WcOpcode.SEND);
        peer.answer("the end of the ping-pong");
        return result;
    }

    private void messageRoundTrip(long number) throws InterruptedException {
        long offset = Long.BYTES;
        we.messages.segment().set(DemoEnd.LONG, offset, number);
        try (SendBatch batch = we.qp.send()) {
            batch.send(1).inline(we.messages.segment().asSlice(offset, Long.BYTES));
            batch.signaled().submit();
        }
        we.await("8-byte message", WcOpcode.RECV);
        checkEcho(we.messages.segment().get(DemoEnd.LONG, 0), number);
        we.qp.postReceive(0, we.messages, 0, Long.BYTES);
        we.await("8-byte message", WcOpcode.SEND);
    }

    private double tcpThroughput(InetSocketAddress address) throws IOException {
        try (SocketChannel channel = SocketChannel.open(address)) {
            ByteBuffer block = ByteBuffer.allocateDirect(BLOCK_BYTES);
            long warm = System.nanoTime() + (long) (WARM_UP * NANOS_PER_SECOND);
            long before = 0;
            while (System.nanoTime() < warm) {
                before += channel.write(block.clear());
            }
            long start = System.nanoTime();
            long end = start + (long) (seconds * NANOS_PER_SECOND);
            long bytes = before;
            while (System.nanoTime() < end) {
                bytes += channel.write(block.clear());
            }
            channel.shutdownOutput();
            ByteBuffer count = ByteBuffer.allocate(Long.BYTES);
            while (count.hasRemaining() && channel.read(count) >= 0) {
                // until the peer has told how much it got
            }
            long nanos = System.nanoTime() - start;
            if (count.hasRemaining() || count.flip().getLong() != bytes) {
                throw new CommandFailed("TCP: the peer did not get all that was sent");
            }
            return (double) (bytes - before) * NANOS_PER_SECOND / nanos;
        }
    }

    private double[] tcpLatency(InetSocketAddress address) throws IOException, InterruptedException {
        try (SocketChannel channel = SocketChannel.open(address)) {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            ByteBuffer buffer = ByteBuffer.allocateDirect(Long.BYTES);
            RoundTrip roundTrip = number -> {
                channel.write(buffer.clear().putLong(0, number));
                buffer.clear();
                while (buffer.hasRemaining() && channel.read(buffer) >= 0) {
                    // until all 8 bytes are back
                }
                checkEcho(buffer.getLong(0), number);
            };
            roundTripsFor(WARM_UP, roundTrip);
            return roundTripsFor(seconds, roundTrip);
        }
    }

    private static void checkEcho(long actual, long expected) {
        if (actual != expected) {
            throw new CommandFailed("8-byte message: " + expected + " came back as " + actual);
        }
    }

    private interface RoundTrip {
        void go(long number) throws IOException, InterruptedException;
    }

    // Half of the round trip in nanoseconds: median and 99th percentile.
    private static double[] roundTripsFor(double howLong, RoundTrip roundTrip) throws InterruptedException {
        var nanos = new long[SAMPLES_MAX];
        int count = 0;
        long now = System.nanoTime();
        long end = now + (long) (howLong * NANOS_PER_SECOND);
        while (now < end && count < SAMPLES_MAX) {
            try {
                roundTrip.go(count);
            } catch (IOException e) {
                throw new CommandFailed("TCP: " + e.getMessage(), e);
            }
            long after = System.nanoTime();
            nanos[count++] = after - now;
            now = after;
        }
        Arrays.sort(nanos, 0, count);
        return new double[] {nanos[count / 2] / 2.0, nanos[count * 99 / 100] / 2.0};
    }

    static String gigabytes(double bytesPerSecond) {
        return String.format(Locale.ROOT, "%.2f GB/s", bytesPerSecond / 1e9);
    }

    static String micros(double nanos) {
        return String.format(Locale.ROOT, "%.1f us", nanos / 1e3);
    }

    private static String ratio(double ratio) {
        return String.format(Locale.ROOT, "%.2f x", ratio);
    }
}
