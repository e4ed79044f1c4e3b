package verbena.bench;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import verbena.tools.report.Result;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QueuePair;
import verbena.verbs.SendBatch;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Verbena in a program that has no spare core: small messages to and fro, each awaited in one of the manners of
/// [Way].
final class AwaitEnd implements WorkerEnd {
    static final int PORT = 7_473;
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final int SAMPLES_MAX = 1_000_000;
    private static final int ROUND_TRIPS_FIRST = 100;
    /// The number of posted receives, and of sends from one signaled send to the next.
    private static final int DEPTH = 16;

    /// The manners of waiting for a message.
    enum Way {
        POLL,
        AWAIT,
        VIRTUAL
    }

    private @Nullable Context device;
    private @Nullable ConnectionListener listener;

    @Override
    public Object order(String[] words) throws Exception {
        return switch (words[0]) {
            case "listen" -> Map.of("address", listen(words[1]));
            case "serve" -> serve(words[1], Way.valueOf(words[2]));
            default ->
                pingPong(
                        words[1],
                        Way.valueOf(words[2]),
                        words[3],
                        Integer.parseInt(words[4]),
                        Double.parseDouble(words[5]));
        };
    }

    private Context device(String name) {
        if (device == null) {
            device = Device.named(name).open();
        }
        return device;
    }

    private ConnectionOptions options(String name) {
        return ConnectionOptions.defaults().withDevice(device(name));
    }

    private String listen(String name) {
        var at = new InetSocketAddress(device(name).gid(1, 0).gid().address(), PORT);
        listener = ConnectionListener.bind(at, options(name));
        return at.getAddress().getHostAddress();
    }

    /// Serves one client until it goes. Reports at once that it is ready.
    private Object serve(String name, Way way) throws Exception {
        ConnectionListener waiting = listener;
        if (waiting == null) {
            throw new IllegalStateException("listen first");
        }
        Thread thread = thread(way, () -> {
            try (var connection = waiting.accept(TIMEOUT).orElseThrow();
                    var exchange = new Exchange(connection, way, 4_096)) {
                while (exchange.receive()) {
                    exchange.send(exchange.received());
                }
            } catch (Exception e) {
                System.err.println(e);
            }
        });
        thread.start();
        return Map.of("ready", name);
    }

    private Object pingPong(String name, Way way, String to, int size, double seconds) throws Exception {
        var answer = new CompletableFuture<Result>();
        thread(way, () -> {
                    try (var connection = Connection.connect(new InetSocketAddress(to, PORT), options(name));
                            var exchange = new Exchange(connection, way, 4_096)) {
                        answer.complete(exchange.roundTrips(size, seconds));
                    } catch (Exception e) {
                        answer.completeExceptionally(e);
                    }
                })
                .start();
        return answer.get();
    }

    private static Thread thread(Way way, Runnable work) {
        return way == Way.VIRTUAL
                ? Thread.ofVirtual().unstarted(work)
                : Thread.ofPlatform().daemon().unstarted(work);
    }

    /// The messages between two ends of a queue pair.
    private static final class Exchange implements AutoCloseable {
        private final Connection connection;
        private final Way way;
        private final MemoryRegion region;
        private final int slot;
        private final QueuePair queuePair;
        private final CompletionQueue receives;
        private final CompletionQueue sends;
        private final WorkCompletion wc = new WorkCompletion();
        private int sent;

        Exchange(Connection connection, Way way, int slot) {
            this.connection = connection;
            this.way = way;
            this.slot = slot;
            region = connection.allocate((DEPTH + 1L) * slot);
            queuePair = connection.queuePair();
            receives = connection.queuePair().options().receiveCq();
            sends = connection.queuePair().options().sendCq();
            for (int i = 0; i < DEPTH; i++) {
                queuePair.postReceive(i, region.slice((long) i * slot, slot));
            }
        }

        int received() {
            return (int) wc.byteLength();
        }

        /// Receives a message. Returns false when the peer has gone.
        boolean receive() throws InterruptedException {
            if (way == Way.POLL) {
                while (!receives.poll(wc)) {
                    Thread.onSpinWait();
                }
            } else if (!receives.await(wc, TIMEOUT)) {
                throw new IllegalStateException("nothing came for " + TIMEOUT);
            }
            if (wc.status() != WcStatus.SUCCESS) {
                return false;
            }
            int at = (int) wc.wrId();
            queuePair.postReceive(at, region.slice((long) at * slot, slot));
            return true;
        }

        void send(int length) {
            try (SendBatch batch = queuePair.sendBatch()) {
                batch.send(sent).sge(region, (long) DEPTH * slot, length);
                if (++sent % DEPTH == 0) {
                    batch.signaled();
                }
                batch.submit();
            }
            if (sent % DEPTH == 0) {
                var done = new WorkCompletion();
                while (sends.poll(done)) {
                    // makes room
                }
            }
        }

        Result roundTrips(int size, double seconds) throws InterruptedException {
            var nanos = new long[SAMPLES_MAX];
            int count = 0;
            long now = System.nanoTime();
            long end = now + (long) (seconds * 1e9);
            for (int i = 0; count == 0 || (now < end && count < SAMPLES_MAX); i++) {
                send(size);
                if (!receive()) {
                    throw new IllegalStateException("the peer has gone: " + wc.status());
                }
                long after = System.nanoTime();
                if (i >= ROUND_TRIPS_FIRST) {
                    nanos[count++] = after - now;
                }
                now = after;
            }
            return Figures.roundTrips(size, nanos, count);
        }

        @Override
        public void close() {
            region.close();
        }
    }
}
