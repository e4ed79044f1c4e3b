package verbena.nic.goal;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import verbena.verbs.AckTimeout;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// A process with many connections to another one, which carry numbered messages both ways at random moments.
/// Threads that do nothing but take the processors run beside it. Ends with its parent.
final class StormProcess implements AutoCloseable {
    private static final int CONNECTIONS = 12;
    private static final int SLOT_BYTES = 512;
    private static final int RECEIVES = 64;
    /// More than there are receives, so that some find none.
    private static final int UNDER_WAY_MAX = 80;

    private final Process process;
    private final BufferedReader said;

    /// Starts a process.
    ///
    /// @param port where the other one listens; 0 for one that listens
    StormProcess(String kind, InetAddress at, int port, Duration ackTimeout) throws IOException {
        process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-ea",
                        "-cp",
                        ManagementFactory.getRuntimeMXBean().getClassPath(),
                        StormProcess.class.getName(),
                        kind,
                        at.getHostAddress(),
                        Integer.toString(port),
                        Long.toString(ackTimeout.toMillis())))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        said = process.inputReader(StandardCharsets.UTF_8);
    }

    Process process() {
        return process;
    }

    /// The next line that the process says: its port, `connected`, what it has sent, what it has received.
    String hear() throws IOException {
        String line = said.readLine();
        if (line == null) {
            throw new IOException("a process of the storm has ended");
        }
        return line;
    }

    /// Tells the process to send nothing more, and then to count what has come.
    void goOn() throws IOException {
        process.outputWriter(StandardCharsets.UTF_8).append("go on\n").flush();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    /// The main method of the process.
    public static void main(String[] args) throws Exception {
        Context device = Device.named(args[0] + "@" + args[1]).open();
        var options = ConnectionOptions.defaults()
                .withDevice(device)
                .withParameters(own -> own.withKeepAlive(Duration.ZERO)
                        .withRetries(AckTimeout.atLeast(Duration.ofMillis(Long.parseLong(args[3]))), 7, 7))
                .withSizes(new QueuePairOptions.Sizes(2 * UNDER_WAY_MAX, RECEIVES, 1, 1, 0));
        int port = Integer.parseInt(args[2]);
        var ends = new ArrayList<End>();
        if (port == 0) {
            var listener = ConnectionListener.bind(new InetSocketAddress(args[1], 0), options);
            say("" + listener.localAddress().getPort());
            while (ends.size() < CONNECTIONS) {
                ends.add(new End(listener.accept()));
            }
        } else {
            while (ends.size() < CONNECTIONS) {
                ends.add(new End(Connection.connect(new InetSocketAddress(args[1], port), options)));
            }
        }
        say("connected");
        for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
            Thread.ofPlatform().daemon().start(() -> {
                while (true) {
                    Thread.onSpinWait();
                }
            });
        }
        run(ends, new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)));
        System.exit(0);
    }

    private static void run(List<End> ends, BufferedReader in) throws IOException, InterruptedException {
        var random = new Random(ends.hashCode());
        while (!in.ready()) {
            End end = ends.get(random.nextInt(CONNECTIONS));
            for (int i = random.nextInt(4); i > 0 && end.underWay() < UNDER_WAY_MAX; i--) {
                end.send(8 + random.nextInt(SLOT_BYTES - 8));
            }
            end.take(random.nextInt(500) == 0 ? Duration.ofMillis(1) : Duration.ZERO);
        }
        String _ = in.readLine();
        while (ends.stream().anyMatch(end -> end.underWay() > 0 && !end.hasEnded)) {
            for (End end : ends) {
                end.take(Duration.ZERO);
            }
        }
        say("sent " + ends.stream().mapToLong(end -> end.sent).sum());
        while (!in.ready()) {
            for (End end : ends) {
                end.take(Duration.ZERO);
            }
        }
        long received = 0;
        long mistakes = 0;
        long ended = 0;
        for (End end : ends) {
            end.take(Duration.ZERO);
            received += end.received;
            mistakes += end.mistakes;
            ended += end.hasEnded ? 1 : 0;
        }
        say("received %d mistakes %d ended %d".formatted(received, mistakes, ended));
        while (in.read() >= 0) {
            // until the parent ends
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    /// This side of a connection.
    private static final class End {
        private final Connection connection;
        private final MemoryRegion out;
        private final MemoryRegion in;
        private final WorkCompletion wc = new WorkCompletion();
        private int sent;
        private int done;
        private int received;
        private int mistakes;
        private boolean hasEnded;

        End(Connection connection) {
            this.connection = connection;
            out = connection.allocate(2L * UNDER_WAY_MAX * SLOT_BYTES);
            in = connection.allocate((long) RECEIVES * SLOT_BYTES);
            for (int i = 0; i < RECEIVES; i++) {
                connection.queuePair().postReceive(i, in.slice((long) i * SLOT_BYTES, SLOT_BYTES));
            }
        }

        int underWay() {
            return sent - done;
        }

        void send(int bytes) {
            long at = sent % (2L * UNDER_WAY_MAX) * SLOT_BYTES;
            out.segment().set(ValueLayout.JAVA_LONG, at, content(sent));
            try (var batch = connection.queuePair().sendBatch()) {
                batch.sendWithImmediate(sent, sent)
                        .sge(out, at, bytes)
                        .signaled()
                        .submit();
            }
            sent++;
        }

        private static long content(int number) {
            return (number + 1) * 0x9E37_79B9_7F4A_7C15L;
        }

        /// Takes what has completed, and waits so long for what comes.
        void take(Duration wait) throws InterruptedException {
            while (!hasEnded && connection.queuePair().options().sendCq().poll(wc)) {
                if (!wc.ok()) {
                    end();
                } else if (wc.wrId() != done++) {
                    mistake("request " + wc.wrId() + " completed, not " + (done - 1));
                }
            }
            while (!hasEnded
                    && (wait.isZero()
                            ? connection.queuePair().options().receiveCq().poll(wc)
                            : connection.queuePair().options().receiveCq().await(wc, wait))) {
                if (!wc.ok()) {
                    end();
                    return;
                }
                long at = wc.wrId() * SLOT_BYTES;
                if (wc.immediate() != received) {
                    mistake("message " + wc.immediate() + " came, not " + received);
                }
                if (in.segment().get(ValueLayout.JAVA_LONG, at) != content(wc.immediate())) {
                    mistake("message " + wc.immediate() + " came with other bytes");
                }
                received = wc.immediate() + 1;
                connection.queuePair().postReceive(wc.wrId(), in.slice(at, SLOT_BYTES));
            }
        }

        private void end() {
            hasEnded = true;
            System.err.println("ended: " + wc.status() + " " + wc.cause());
        }

        private void mistake(String what) {
            mistakes++;
            System.err.println(what);
        }
    }
}
