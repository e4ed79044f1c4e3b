package verbena.messages;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.Pending;
import verbena.verbs.Transition;

/// Everything that two workers do with each other at once, while rails break at any moment, packets are lost, and
/// busy threads take the processors: nothing is lost, nothing comes twice, and nothing waits for ever.
@Timeout(300)
class RailStormTest {
    private static final int ROUNDS = Boolean.getBoolean("verbena.deep") ? 100 : 1;
    private static final int RAILS = 3;
    private static final int MESSAGES = 300;
    private static final int CALLS = 60;
    private static final int LONGEST = 400_000;
    private static final Duration LONG = Duration.ofMinutes(2);

    private final List<Context> devices = new ArrayList<>();
    private final AtomicInteger moves = new AtomicInteger();

    private List<Context> open(String names) {
        var opened = new ArrayList<Context>();
        for (String each : names.split(" ", -1)) {
            opened.add(Device.named(each).open());
        }
        devices.addAll(opened);
        return opened;
    }

    private static byte[] pattern(int bytes, int seed) {
        byte[] data = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            data[i] = (byte) (i * 7 + i / 1000 + seed);
        }
        return data;
    }

    private static int length(SplittableRandom random) {
        return switch (random.nextInt(10)) {
            case 0 -> random.nextInt(LONGEST);
            case 1, 2 -> 1024 + random.nextInt(10_000);
            default -> random.nextInt(900);
        };
    }

    private Void send(RemoteWorker to, long seed) throws InterruptedException {
        var random = new SplittableRandom(seed);
        var sent = new ArrayList<Pending<Void>>();
        for (int i = 0; i < MESSAGES; i++) {
            MemorySegment data = MemorySegment.ofArray(pattern(length(random), i));
            if (i % 2 == 0) {
                data = Arena.ofAuto().allocate(data.byteSize()).copyFrom(data);
            }
            sent.add(to.postSend(i, data));
            moves.incrementAndGet();
        }
        for (Pending<Void> each : sent) {
            assertThat(each.await(LONG)).as("sent").isTrue();
        }
        return null;
    }

    private Void receive(RemoteWorker from, long seed) throws InterruptedException {
        var random = new SplittableRandom(seed);
        for (int i = 0; i < MESSAGES; i++) {
            int length = length(random);
            byte[] into = new byte[length];
            Pending<Received> next = from.postReceive(TagFilter.any(), MemorySegment.ofArray(into));
            assertThat(next.await(LONG)).as("message %d", i).isTrue();
            assertThat(next.await().tag()).isEqualTo(i);
            assertThat(next.await().length()).isEqualTo(length);
            assertThat(into).isEqualTo(pattern(length, i));
            moves.incrementAndGet();
        }
        return null;
    }

    /// Each request is answered with itself. Those with little time may fail, and nothing else.
    private Void call(RemoteWorker to, long seed) throws InterruptedException {
        var random = new SplittableRandom(seed);
        for (int i = 0; i < CALLS; i++) {
            byte[] request = pattern(length(random), i);
            boolean isHasty = i % 4 == 0;
            try {
                assertThat(to.call(request, isHasty ? Duration.ofMillis(3) : LONG))
                        .isEqualTo(request);
            } catch (CallException e) {
                assertThat(e.reason()).as(e.getMessage()).isEqualTo(CallException.Reason.TIMEOUT);
                assertThat(isHasty).as(e.getMessage()).isTrue();
            }
            moves.incrementAndGet();
        }
        return null;
    }

    private Void put(RemoteWorker to, SharedMemory at, long seed) throws InterruptedException {
        var random = new SplittableRandom(seed);
        PeerMemory there = to.memory(at.token());
        for (int i = 0; i < CALLS; i++) {
            MemorySegment data = MemorySegment.ofArray(pattern(length(random), i));
            Pending<Void> put = there.postWrite(data, 0);
            there.fence();
            byte[] back = new byte[(int) data.byteSize()];
            assertThat(there.postRead(0, MemorySegment.ofArray(back)).await(LONG))
                    .isTrue();
            assertThat(put.await(LONG)).isTrue();
            assertThat(back).isEqualTo(data.toArray(ValueLayout.JAVA_BYTE));
            moves.incrementAndGet();
        }
        return null;
    }

    private Void postActive(RemoteWorker to) throws InterruptedException {
        for (int i = 0; i < MESSAGES; i++) {
            MemorySegment header = MemorySegment.ofArray(new int[] {i});
            assertThat(to.postActive(1, header, MemorySegment.ofArray(pattern(i, i)))
                            .await(LONG))
                    .isTrue();
            moves.incrementAndGet();
        }
        return null;
    }

    /// Ends all rails but one, each at some moment, in some way, at some end.
    private Void breakRails(List<Worker> workers, List<RemoteWorker> peers, long seed) throws InterruptedException {
        var random = new SplittableRandom(seed);
        var left = new ArrayList<>(List.of(0, 1, 2));
        int all = 2 * (2 * MESSAGES + 2 * CALLS + MESSAGES);
        int next = 0;
        while (left.size() > 1) {
            next += random.nextInt(all / 3);
            while (moves.get() < next) {
                if (Thread.interrupted()) {
                    throw new InterruptedException("the storm has ended");
                }
                Thread.onSpinWait();
            }
            int rail = left.get(random.nextInt(left.size()));
            boolean _ = left.removeIf(each -> each == rail);
            int end = random.nextInt(2);
            switch (random.nextInt(3)) {
                case 0 -> workers.get(end).leave(devices.get(end * RAILS + rail));
                case 1 -> // Way#disconnect submits a batch, which is for the thread that has the worker's lock
                    peers.get(end).remote.ways().way(rail).connection.id().disconnect();
                default -> peers.get(end).remote.ways().way(rail).queuePair().modify(new Transition.ToError());
            }
        }
        return null;
    }

    @ParameterizedTest
    @CsvSource({
        "rocev2@127.0.0.2 rocev2@127.0.0.3 rocev2@127.0.0.4",
        "shm rocev2@127.0.0.3 rocev2@127.0.0.4",
        "'rocev2@127.0.0.2,faults=loss:3%,seed:7 rocev2@127.0.0.3,faults=loss:3%,seed:8 rocev2@127.0.0.4,faults=loss:3%,seed:9'"
    })
    void nothingIsLostWhileRailsBreakBesideBusyThreads(String names) throws Exception {
        long first = Long.getLong("verbena.seed", 1);
        for (long seed = first; seed < first + ROUNDS; seed++) {
            try (BusyThreads _ = new BusyThreads(2)) {
                storm(names, seed);
            } catch (Throwable e) {
                throw new AssertionError("with -Dverbena.seed=" + seed, e);
            } finally {
                devices.forEach(Context::close); // nothing was left behind
                devices.clear();
            }
        }
    }

    private void storm(String names, long seed) throws Exception {
        List<Context> ofServer = open(names);
        List<Context> ofClient = open(names);
        moves.set(0);
        WorkerOptions options = WorkerOptions.defaults()
                .withMaxPeers(4)
                .withWindow(8)
                .withFrameBytes(1024)
                .withMaxCalls(8)
                .withMaxCallBytes(LONGEST);
        try (Worker server = Worker.open(ofServer, options);
                Worker client = Worker.open(ofClient, options);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            RemoteWorker toServer;
            RemoteWorker toClient;
            List<InetSocketAddress> at = ofServer.stream().map(TwoWorkers::at).toList();
            try (var listener = server.listen(at)) {
                var accepted = TwoWorkers.accept(listener);
                toServer = client.connect(listener.localAddresses());
                toClient = accepted.get(60, TimeUnit.SECONDS);
            }
            var handled = new ArrayList<AtomicInteger>();
            for (Worker each : List.of(server, client)) {
                each.answerCalls(Call::request);
                var next = new AtomicInteger();
                handled.add(next);
                each.onActive(1, message -> {
                    int number = message.header().get(ValueLayout.JAVA_INT_UNALIGNED, 0);
                    assertThat(number).isEqualTo(next.get());
                    assertThat(message.data().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(pattern(number, number));
                    next.incrementAndGet();
                });
            }
            SharedMemory ofTheServer = server.share(Arena.ofAuto().allocate(LONGEST, 8), Access.remoteAll());
            SharedMemory ofTheClient = client.share(Arena.ofAuto().allocate(LONGEST, 8), Access.remoteAll());
            var work = new ArrayList<Callable<Void>>();
            work.add(() -> send(toServer, seed));
            work.add(() -> receive(toClient, seed));
            work.add(() -> send(toClient, seed + 1));
            work.add(() -> receive(toServer, seed + 1));
            work.add(() -> call(toServer, seed + 2));
            work.add(() -> call(toClient, seed + 3));
            work.add(() -> put(toServer, ofTheServer, seed + 4));
            work.add(() -> put(toClient, ofTheClient, seed + 5));
            work.add(() -> postActive(toServer));
            work.add(() -> postActive(toClient));
            work.add(() -> breakRails(List.of(server, client), List.of(toClient, toServer), seed));
            var outcomes = new ArrayList<Future<Void>>();
            work.forEach(each -> outcomes.add(threads.submit(each)));
            for (Future<Void> each : outcomes) {
                each.get(150, TimeUnit.SECONDS);
            }
            assertThat(server.await(() -> handled.getFirst().get() == MESSAGES, LONG))
                    .isTrue();
            assertThat(client.await(() -> handled.getLast().get() == MESSAGES, LONG))
                    .isTrue();
            assertThat(toServer.isLost()).isFalse();
            assertThat(toClient.isLost()).isFalse();
        }
    }
}
