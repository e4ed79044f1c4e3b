package verbena.bench;

import io.aeron.Aeron;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.FragmentHandler;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.AgentInvoker;
import org.agrona.concurrent.UnsafeBuffer;
import org.jspecify.annotations.Nullable;
import verbena.tools.report.Result;

/// Aeron, over UDP or between processes by memory (IPC), in its best form for two cores: the thread that sends and
/// polls does its media driver's work, too. A driver lives for one measurement, so that it takes no time from
/// other contenders.
final class AeronEnd implements WorkerEnd {
    private static final int THERE = 10;
    private static final int BACK = 11;
    /// The packet size of Aeron over UDP; larger packets were not faster.
    private static final int MTU = 65_504;

    private static final int BUFFER_BYTES = 2 << 20;
    private static final int TERM_BYTES = 16 << 20;
    /// The silence after which a peer counts as gone.
    private static final long LIVENESS_NANOS = 500_000_000;
    private static final long WAIT_NANOS = 20_000_000_000L;
    private static final int SAMPLES_MAX = 1_000_000;
    private static final int ROUND_TRIPS_FIRST = 100;
    private static final int FRAGMENTS = 10;

    private @Nullable CountDownLatch served;

    /// Takes the orders `serve WAY KIND FOLDER PORT`, `pingpong` or `stream WAY FOLDER PORT SIZE SECONDS`, `end`.
    @Override
    public Object order(String[] words) throws InterruptedException {
        return switch (words[0]) {
            case "serve" -> {
                serve(words[1], words[2], words[3], Integer.parseInt(words[4]));
                yield Map.of();
            }
            case "end" -> {
                CountDownLatch last = served;
                yield Map.of("ended", last == null || last.await(WAIT_NANOS, TimeUnit.NANOSECONDS));
            }
            default -> {
                int size = Integer.parseInt(words[4]);
                double seconds = Double.parseDouble(words[5]);
                try (var end = new End(words[1], false, words[2], Integer.parseInt(words[3]))) {
                    yield words[0].equals("stream") ? end.stream(size, seconds) : end.pingPong(size, seconds);
                }
            }
        };
    }

    private void serve(String way, String kind, String folder, int port) throws InterruptedException {
        var ready = new CountDownLatch(1);
        var done = new CountDownLatch(1);
        served = done;
        Thread.ofPlatform().daemon().start(() -> {
            try (var end = new End(way, true, folder, port)) {
                ready.countDown();
                end.answer(kind.equals("echo"));
            } catch (RuntimeException e) {
                System.err.println(e);
            } finally {
                ready.countDown();
                done.countDown();
            }
        });
        ready.await();
    }

    /// A driver, a client of it, and a stream in each direction.
    private static final class End implements AutoCloseable {
        private final @Nullable MediaDriver driver;
        private final @Nullable AgentInvoker driving;
        private final Aeron aeron;
        private final AgentInvoker conducting;
        private final Publication out;
        private final Subscription in;
        private final UnsafeBuffer message = new UnsafeBuffer(new byte[Sizes.HUGE]);
        private long received;
        private int turns;

        End(String way, boolean isServer, String folder, int port) {
            boolean udp = way.equals("udp");
            String directory = System.getenv("TMPDIR") + "/" + folder + (udp && !isServer ? "-client" : "");
            if (udp || isServer) {
                driver = MediaDriver.launch(new MediaDriver.Context()
                        .aeronDirectoryName(directory)
                        .threadingMode(ThreadingMode.INVOKER)
                        .dirDeleteOnStart(true)
                        .dirDeleteOnShutdown(true)
                        .ipcTermBufferLength(TERM_BYTES)
                        .publicationTermBufferLength(TERM_BYTES)
                        .socketRcvbufLength(BUFFER_BYTES)
                        .socketSndbufLength(BUFFER_BYTES)
                        .initialWindowLength(BUFFER_BYTES)
                        .imageLivenessTimeoutNs(LIVENESS_NANOS)
                        .mtuLength(MTU));
                driving = driver.sharedAgentInvoker();
            } else {
                driver = null;
                driving = null;
            }
            var context = new Aeron.Context().aeronDirectoryName(directory).useConductorAgentInvoker(true);
            if (driving != null) {
                context.driverAgentInvoker(driving);
            }
            aeron = Aeron.connect(context);
            conducting = aeron.conductorAgentInvoker();
            String there = udp ? "aeron:udp?endpoint=127.0.0.1:" + port : "aeron:ipc";
            String back = udp ? "aeron:udp?endpoint=127.0.0.1:" + (port + 1) : "aeron:ipc";
            in = aeron.addSubscription(isServer ? there : back, isServer ? THERE : BACK);
            out = aeron.addPublication(isServer ? back : there, isServer ? BACK : THERE);
        }

        private void turn() {
            if (driving != null) {
                driving.invoke();
            }
            if ((++turns & 0xFF) == 0) { // the client handles timeouts and new images
                conducting.invoke();
            }
        }

        private void awaitPeer() {
            long end = System.nanoTime() + WAIT_NANOS;
            while (!in.isConnected() || !out.isConnected()) {
                turn();
                if (System.nanoTime() - end > 0) {
                    throw new Child.Failed("Aeron: the other end did not come");
                }
            }
        }

        private void offer(int length) {
            while (out.offer(message, 0, length) < 0) {
                if (!out.isConnected()) {
                    throw new Child.Failed("Aeron: the other end has gone");
                }
                turn();
            }
            if (driving != null) {
                driving.invoke(); // the message leaves now
            }
        }

        private final FragmentHandler counts = (_, _, length, _) -> received += length;

        private void receive(long until) {
            while (received < until) {
                turn();
                if (in.poll(counts, FRAGMENTS) == 0 && !in.isConnected()) {
                    throw new Child.Failed("Aeron: the other end has gone");
                }
            }
        }

        /// Sends back all messages, or none, until the client goes. At the end it sends a message to report
        /// that all have come.
        void answer(boolean echoes) {
            awaitPeer();
            while (in.isConnected()) {
                turn();
                long before = received;
                in.poll(counts, FRAGMENTS);
                if (echoes && received > before) {
                    offer((int) (received - before));
                } else if (!echoes && received >= Sizes.HUGE) {
                    received -= Sizes.HUGE; // one token for each MiB tells the client how much has come
                    offer(Long.BYTES);
                }
            }
        }

        Result pingPong(int size, double seconds) {
            awaitPeer();
            var nanos = new long[SAMPLES_MAX];
            int count = 0;
            long now = System.nanoTime();
            long end = now + (long) (seconds * 1e9);
            for (int i = 0; count == 0 || (now < end && count < SAMPLES_MAX); i++) {
                offer(size);
                receive(size);
                received -= size;
                long after = System.nanoTime();
                if (i >= ROUND_TRIPS_FIRST) {
                    nanos[count++] = after - now;
                }
                now = after;
            }
            return Figures.roundTrips(size, nanos, count);
        }

        Result stream(int size, double seconds) {
            awaitPeer();
            long start = System.nanoTime();
            long end = start + (long) (seconds * 1e9);
            long sent = 0;
            do {
                offer(size);
                sent += size;
                in.poll(counts, FRAGMENTS);
            } while (System.nanoTime() < end || sent % Sizes.HUGE != 0);
            receive(sent / Sizes.HUGE * Long.BYTES);
            return Figures.stream(size, sent / size, (System.nanoTime() - start) / 1e9);
        }

        @Override
        public void close() {
            aeron.close();
            if (driver != null) {
                driver.close();
            }
        }
    }
}
