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
import java.util.List;
import java.util.concurrent.Semaphore;
import verbena.verbs.AckTimeout;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QueuePair;
import verbena.verbs.RemoteMemory;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.cm.ConnectionParameters;

/// A process that connects to a [PeerProcess], WRITEs and READs its memory and adds to words in it, and checks
/// every byte, every value and every completion. Its parent tells it how much to do; it ends with its parent.
final class LoadProcess implements AutoCloseable {
    private static final int PLACES = 16;
    private static final int BLOCK_BYTES = 128;
    /// Behind the blocks of all places there is a word for each.
    private static final int WORDS = PLACES * BLOCK_BYTES;

    private static final int PIECE = 50;
    private static final int HEAP_OBJECTS = 100_000;

    private final Process process;
    private final BufferedReader said;

    /// Starts a process, which connects.
    ///
    /// @param kind of its device
    /// @param ackTimeout of both connections; the one without load has a keep-alive besides
    /// @param collects whether it collects garbage while it works
    LoadProcess(String kind, InetAddress to, Duration keepAlive, Duration ackTimeout, int retries, boolean collects)
            throws IOException {
        process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-ea",
                        "-cp",
                        ManagementFactory.getRuntimeMXBean().getClassPath(),
                        LoadProcess.class.getName(),
                        kind,
                        to.getHostAddress(),
                        Long.toString(keepAlive.toMillis()),
                        Long.toString(ackTimeout.toMillis()),
                        Integer.toString(retries),
                        Boolean.toString(collects)))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        said = process.inputReader(StandardCharsets.UTF_8);
        expect("connected");
    }

    Process process() {
        return process;
    }

    /// Begins this many requests; returns when half of them are done.
    void begin(int requests) throws IOException {
        process.outputWriter(StandardCharsets.UTF_8).append(requests + "\n").flush();
        expect("half");
    }

    /// Returns when all requests that were begun are done.
    void awaitDone() throws IOException {
        expect("done");
    }

    /// Waits until all outstanding requests have completed, and tries the connection without load.
    ///
    /// @return how many requests have been done in total
    long finish() throws IOException {
        process.outputWriter(StandardCharsets.UTF_8).append("finish\n").flush();
        return Long.parseLong(said.readLine());
    }

    private void expect(String word) throws IOException {
        String line = said.readLine();
        if (!word.equals(line)) {
            throw new IOException("the process with the load said " + line + ", not " + word);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    /// The main method of the process.
    public static void main(String[] args) throws Exception {
        var to = new InetSocketAddress(args[1], PeerProcess.PORT);
        ConnectionParameters steadfast = ConnectionParameters.defaults()
                .withRetries(
                        AckTimeout.atLeast(Duration.ofMillis(Long.parseLong(args[3]))), Integer.parseInt(args[4]), 7);
        Context device = Device.named(args[0] + "@" + args[1]).open();
        var options = ConnectionOptions.defaults()
                .withDevice(device)
                .withParameters(_ -> steadfast)
                .withDepth(128, 128);
        Connection quiet = Connection.connect(
                to, options.withParameters(own -> own.withKeepAlive(Duration.ofMillis(Long.parseLong(args[2])))));
        RemoteMemory quietMemory = PeerProcess.greeted(quiet);
        Connection busy = Connection.connect(to, options);
        var load = new Load(busy, PeerProcess.greeted(busy));
        if (Boolean.parseBoolean(args[5])) {
            Thread.ofPlatform().daemon().start(() -> collect(load.pieces));
        }
        say("connected");
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("finish")) {
                load.finish();
                MemoryRegion memory = quiet.allocate(8);
                memory.segment().set(ValueLayout.JAVA_LONG, 0, 0x600D);
                quiet.write(memory.slice(0, 8), quietMemory);
                say(Long.toString(load.done));
            } else {
                int requests = Integer.parseInt(line);
                load.run(requests / 2);
                say("half");
                load.run(requests - requests / 2);
                say("done");
            }
        }
        System.exit(0);
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    /// Collects garbage, of which there is some, once for each piece of the load, while the load goes on.
    private static void collect(Semaphore pieces) {
        var live = new Object[HEAP_OBJECTS];
        for (int i = 0; ; i++) {
            pieces.acquireUninterruptibly();
            for (int j = 0; j < HEAP_OBJECTS; j += 7) {
                live[(i + j) % HEAP_OBJECTS] = new long[4];
            }
            System.gc();
        }
    }

    /// At each place, in turn: writes a block, reads it back, and adds to a word.
    private static final class Load {
        private final Connection connection;
        private final QueuePair queuePair;
        private final RemoteMemory remote;
        private final MemoryRegion out;
        private final MemoryRegion in;
        private final WorkCompletion wc = new WorkCompletion();
        private final boolean[] outstanding = new boolean[PLACES];
        /// How many requests were posted at each place; the number determines the next request.
        private final long[] posted = new long[PLACES];

        /// A permit for each 50 requests that are done.
        private final Semaphore pieces = new Semaphore(0);

        private int inFlight;
        private long done;

        Load(Connection connection, RemoteMemory remote) {
            this.connection = connection;
            this.queuePair = connection.queuePair();
            this.remote = remote;
            this.out = connection.allocate(WORDS);
            this.in = connection.allocate(WORDS);
        }

        /// Keeps all places busy until this many more requests are done.
        void run(int count) throws InterruptedException {
            for (int i = 0; i < count; i++) {
                for (int place = 0; place < PLACES && inFlight < PLACES; place++) {
                    if (!outstanding[place]) {
                        post(place);
                    }
                }
                take();
            }
        }

        void finish() throws InterruptedException {
            while (inFlight > 0) {
                take();
            }
            check(!connection.queuePair().options().sendCq().poll(wc), "more completions than requests");
        }

        private void post(int place) {
            outstanding[place] = true;
            inFlight++;
            long round = posted[place]++;
            long at = (long) place * BLOCK_BYTES;
            switch ((int) (round % 3)) {
                case 0 -> {
                    for (int i = 0; i < BLOCK_BYTES; i += 8) {
                        out.segment().set(ValueLayout.JAVA_LONG, at + i, pattern(place, round, i));
                    }
                    queuePair.postWrite(place, out.slice(at, BLOCK_BYTES), remote.slice(at, BLOCK_BYTES));
                }
                case 1 -> queuePair.postRead(place, remote.slice(at, BLOCK_BYTES), in.slice(at, BLOCK_BYTES));
                default -> queuePair.postFetchAdd(place, remote.slice(WORDS + 8L * place), 1, in.slice(at, 8));
            }
        }

        private static long pattern(int place, long round, int offset) {
            return (round * PLACES + place) * 0x9E37_79B9_7F4A_7C15L + offset;
        }

        private void take() throws InterruptedException {
            check(connection.queuePair().options().sendCq().await(wc, Duration.ofSeconds(60)), "a hang");
            check(wc.ok(), wc.toString());
            int place = (int) wc.wrId();
            check(outstanding[place], "completed twice: " + wc);
            outstanding[place] = false;
            inFlight--;
            done++;
            if (done % PIECE == 0) {
                pieces.release();
            }
            long round = posted[place] - 1;
            long at = (long) place * BLOCK_BYTES;
            switch ((int) (round % 3)) {
                case 0 -> {}
                case 1 -> {
                    for (int i = 0; i < BLOCK_BYTES; i += 8) {
                        check(
                                in.segment().get(ValueLayout.JAVA_LONG, at + i) == pattern(place, round - 1, i),
                                "byte " + i + " of place " + place + " is not what was written");
                    }
                }
                default ->
                    check(
                            in.segment().get(ValueLayout.JAVA_LONG, at) == round / 3,
                            "place " + place + " was added to another number of times than " + round / 3);
            }
        }

        private static void check(boolean right, String otherwise) {
            if (!right) {
                throw new AssertionError(otherwise);
            }
        }
    }
}
