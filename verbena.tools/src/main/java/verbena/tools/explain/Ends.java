package verbena.tools.explain;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import verbena.nic.SoftContext;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Access;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.TransportType;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.cm.PrivateData;

/// The two ends that a scenario runs between. Everything is opened anew, recorded, and closed.
final class Ends implements AutoCloseable {
    /// The least number of bytes of A's memory for data to send, and of B's memory for its peers.
    static final int MEMORY_BYTES_MIN = 4_096;

    private static final Set<Access> REMOTE = Set.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC);
    private static final RemoteMemory NO_MEMORY = new RemoteMemory(0, 0, 0);

    final Recorder recorder = new Recorder();
    final int size;
    End a;
    End b;
    private final ExecutorService otherThread = Executors.newSingleThreadExecutor(
            Thread.ofPlatform().daemon().name("application B").factory());

    /// A connection: its two queue pairs, and what B has told of its memory.
    record Joined(QueuePair a, QueuePair b, RemoteMemory remote, ConnectionId idA, ConnectionId idB) {}

    /// @param size bytes that the scenario moves, where it can choose
    Ends(String deviceA, String deviceB, int size) {
        this.size = size;
        recorder.phase("Getting ready", "Each application opens its device. Nothing is sent.");
        boolean done = false;
        End first = null;
        try {
            first = new End(Place.APPLICATION_A, deviceA, recorder);
            a = first;
            b = new End(Place.APPLICATION_B, deviceB, recorder);
            done = true;
        } finally {
            if (!done) {
                if (first != null) {
                    first.close();
                }
                otherThread.shutdownNow();
            }
        }
    }

    boolean isIwarp() {
        return a.context.device().transportType() == TransportType.IWARP;
    }

    void phase(String title, String text) {
        recorder.phase(title, text);
    }

    /// Runs work of application B at the same time as that of A.
    <T> Future<T> meanwhile(Callable<T> work) {
        return otherThread.submit(work);
    }

    static <T> T get(Future<T> future) throws InterruptedException {
        try {
            return future.get(End.TIMEOUT.plusSeconds(1).toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(e.getCause());
        } catch (TimeoutException e) {
            throw new CommandFailed("application B did not get done in time", e);
        }
    }

    /// Returns bytes none of which is 0, so that their arrival shows.
    static byte[] pattern(int bytes) {
        var pattern = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            pattern[i] = (byte) (1 + i % 251);
        }
        return pattern;
    }

    /// Returns A's memory, filled with the bytes to be sent.
    Watched source() {
        return a.memory("a", Math.max(size, MEMORY_BYTES_MIN), Access.local(), pattern(size));
    }

    /// Returns B's memory, empty.
    Watched target(Set<Access> access) {
        return b.memory("b", Math.max(size, MEMORY_BYTES_MIN), access, new byte[0]);
    }

    // ---- a connection

    /// Connects, and tells A of B's memory when A may use it.
    Joined connect(Watched memory) throws InterruptedException {
        return connect("Connecting", memory, UnaryOperator.identity());
    }

    /// @param memory of B's, which A is told of when its rights are for peers
    /// @param options how B's queue pair differs from the usual
    Joined connect(String title, Watched memory, UnaryOperator<QueuePairOptions> options) throws InterruptedException {
        boolean isExposed = !Collections.disjoint(memory.region.access(), REMOTE);
        PrivateData told = isExposed ? PrivateData.ofText(memory.region.remote().format()) : PrivateData.NONE;
        phase(
                title,
                isIwarp()
                        ? "A finds B by address and port; their requests travel in the first bytes of a TCP stream."
                        : "A finds B by address and port; their connection managers exchange three messages.");
        ConnectionId listener = b.id(PortSpace.TCP);
        b.call("bind and listen", "Application B takes a port and waits for requests, as with a socket.", () -> {
            listener.bind(b.address(0));
            listener.listen(4);
        });
        Future<Object[]> accepted = meanwhile(() -> accept(told, options));
        ConnectionId id = a.id(PortSpace.TCP);
        a.call(
                "resolve address and route",
                "Finds the device and the own address that lead to the peer.",
                () -> id.resolveAddress(listener.localAddress().orElseThrow()));
        a.expect(ConnectionEvent.AddressResolved.class);
        id.resolveRoute();
        a.expect(ConnectionEvent.RouteResolved.class);
        QueuePair queuePair = a.call(
                "create a queue pair",
                "A send queue and a receive queue, in state INIT for now.",
                () -> id.createQueuePair(a.domain, QueuePairOptions.rc(a.cq)));
        a.call(
                "connect",
                "Asks the connection manager for a connection, and returns at once.",
                () -> id.connect(ConnectionParameters.defaults()));
        var established = a.expect(ConnectionEvent.Established.class);
        RemoteMemory remote =
                isExposed ? RemoteMemory.parse(established.peer().privateData().text()) : NO_MEMORY;
        recorder.told(
                Place.APPLICATION_A,
                isExposed
                        ? "connected; memory b is at 0x%x, key 0x%08x".formatted(remote.address(), remote.rkey())
                        : "connected",
                (isExposed
                                ? "The answer has come, and its private data tell what A has to know to use B's memory:"
                                        + " address, key, length."
                                : "The answer has come.")
                        + " The queue pair is in RTS: ready to send.");
        Object[] other = get(accepted);
        return new Joined(queuePair, (QueuePair) other[1], remote, id, (ConnectionId) other[0]);
    }

    private Object[] accept(PrivateData told, UnaryOperator<QueuePairOptions> options) throws InterruptedException {
        var request = b.expect(ConnectionEvent.ConnectRequest.class);
        ConnectionId id = b.closing(request.id());
        recorder.told(
                Place.APPLICATION_B,
                "a peer asks for a connection",
                "The request has arrived; the application may accept it or not.");
        QueuePair queuePair = b.call(
                "create a queue pair",
                "This connection's own.",
                () -> id.createQueuePair(b.domain, options.apply(QueuePairOptions.rc(b.cq))));
        b.call(
                told.length() == 0 ? "accept" : "accept, and tell address and key of b",
                told.length() == 0
                        ? "The connection manager answers."
                        : "A peer that knows these may use the memory; only this peer is told. 24 bits of the key are"
                                + " random.",
                () -> id.accept(ConnectionParameters.defaults().withPrivateData(told)));
        b.expect(ConnectionEvent.Established.class);
        recorder.told(Place.APPLICATION_B, "connected", "The peer has confirmed. The queue pair is in RTS.");
        return new Object[] {id, queuePair};
    }

    /// Waits until B's memory holds what A has sent: where nothing acknowledges a WRITE, its completion does
    /// not say so.
    void awaitEqual(Watched from, Watched to, int bytes) {
        long deadline = System.nanoTime() + End.TIMEOUT.toNanos();
        while (to.region
                        .segment()
                        .asSlice(0, bytes)
                        .mismatch(from.region.segment().asSlice(0, bytes))
                >= 0) {
            if (System.nanoTime() > deadline) {
                throw new CommandFailed("what was sent did not arrive in " + End.TIMEOUT.toSeconds() + " s");
            }
            Thread.onSpinWait();
        }
        recorder.looked();
        recorder.step(
                Place.APPLICATION_B,
                String.format(Locale.ROOT, "%,d bytes, all as sent", bytes),
                "Compared byte by byte by this program, which knows both sides.");
    }

    /// Returns the devices' counters that have changed, by name.
    List<String> counters() {
        var lines = new ArrayList<String>();
        for (End end : List.of(a, b)) {
            var text = new StringBuilder();
            end.context.counters().forEach((name, count) -> {
                if (count != 0 && !name.endsWith("bytes") && !name.startsWith("async") && !name.equals("faults.seed")) {
                    text.append(text.isEmpty() ? "" : ", ")
                            .append(name)
                            .append(' ')
                            .append(count);
                }
            });
            lines.add("Counters of " + end.application.device().title() + ": " + text);
        }
        return lines;
    }

    /// Waits until nothing is under way any more.
    void settle() throws InterruptedException {
        recorder.settle(() -> lost(a) + lost(b));
    }

    // How many packets a device was made to lose.
    private static long lost(End end) {
        return end.context.counters().getOrDefault("faults.sent.lost", 0L);
    }

    /// Gives back what a scenario has made, and forgets what was recorded.
    void reset() {
        a.reset();
        b.reset();
        recorder.clear();
    }

    boolean isSoftware() {
        return a.context instanceof SoftContext && b.context instanceof SoftContext;
    }

    @Override
    public void close() {
        a.close();
        b.close();
        otherThread.shutdownNow();
    }
}
