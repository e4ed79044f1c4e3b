package verbena.nio;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.channels.Channel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Does the same to channels of the JDK's own and to ours, and compares what comes of it: each call of a table in
/// each state of another. What comes of a call is its result or exception, what it leaves, and whether it waits.
final class Probes {
    /// How long a call may take before it is taken for one that waits. Where a difference was found it may take
    /// longer: a thread that had no processor is no difference.
    private static final long[] PATIENCE_MILLIS = {10, 100, 2_500};

    /// How long a call may take to end that has waited.
    private static final long RELEASED_MILLIS = 1_000;

    /// One probe of so many is tried; `-Dverbena.deep=true` tries all.
    private static final int SHARES = Boolean.getBoolean("verbena.deep") ? 1 : 3;

    /// Which of them: `-Dverbena.draw=N`.
    private static final int DRAW = Integer.getInteger("verbena.draw", 0);

    private final ProbeWorld.Ends ours;
    private final List<Deliberate> deliberate;
    private final Set<Deliberate> unseen;
    private final List<Difference> differences = new ArrayList<>();

    /// @param deliberate differences that are meant
    Probes(ProbeWorld.Ends ours, List<Deliberate> deliberate) {
        this.ours = ours;
        this.deliberate =
                deliberate.stream().filter(each -> each.where.contains(ours)).toList();
        this.unseen = new HashSet<>(this.deliberate);
    }

    /// Those that are not meant.
    List<Difference> differences() {
        return differences;
    }

    /// Those that are meant, and were not found.
    Set<Deliberate> unseen() {
        return unseen;
    }

    /// A difference that is meant.
    ///
    /// @param probes a pattern for their names
    record Deliberate(String probes, String reason, Set<ProbeWorld.Ends> where) {
        Deliberate(String probes, String reason, ProbeWorld.Ends... where) {
            this(probes, reason, Set.of(where));
        }
    }

    /// A call.
    @FunctionalInterface
    interface Call {
        @Nullable
        Object on(ProbeWorld world) throws Exception;
    }

    /// What brings a world into a state.
    @FunctionalInterface
    interface State {
        void of(ProbeWorld world) throws Exception;
    }

    /// What another thread does while a call waits.
    @FunctionalInterface
    interface Release {
        void of(ProbeWorld world, Thread waiter) throws Exception;
    }

    /// One difference: `state: call`, and what came of it.
    record Difference(String probe, String theirs, String ours) {
        @Override
        public String toString() {
            return probe + "\n      JDK: " + theirs + "\n     ours: " + ours;
        }
    }

    /// Tries each call in a share of the states, and in each state a share of the calls; where a difference is meant,
    /// all of them. A call that waits is ended by closing.
    void tryEach(Map<String, State> states, Map<String, Call> calls) throws Exception {
        int stateNumber = DRAW;
        for (var state : states.entrySet()) {
            int number = stateNumber++;
            for (var call : calls.entrySet()) {
                String name = state.getKey() + ": " + call.getKey();
                if (number++ % SHARES == 0 || deliberate.stream().anyMatch(each -> name.matches(each.probes))) {
                    tryOne(name, state.getValue(), call.getValue(), (world, _) -> world.closeTried(), false);
                }
            }
        }
    }

    /// Tries one call.
    ///
    /// @param isVirtual whether the thread is
    void tryOne(String name, State state, Call call, Release release, boolean isVirtual) throws Exception {
        Difference last = null;
        for (long patience : PATIENCE_MILLIS) {
            String expected = outcome(ProbeWorld.Ends.JDK, state, call, release, isVirtual, patience);
            String actual = outcome(ours, state, call, release, isVirtual, patience);
            if (actual.equals(expected)) {
                return;
            }
            for (Deliberate each : deliberate) {
                if (name.matches(each.probes)) {
                    unseen.remove(each);
                    return;
                }
            }
            last = new Difference(name, expected, actual);
        }
        differences.add(last);
    }

    private static String outcome(
            ProbeWorld.Ends ends, State state, Call call, Release release, boolean isVirtual, long patience)
            throws Exception {
        try (var world = new ProbeWorld(ends)) {
            try {
                state.of(world);
            } catch (IOException | RuntimeException e) {
                throw new IllegalStateException("this state cannot be had with " + ends, e);
            }
            var task = new FutureTask<>(() -> {
                if (world.isInterrupted) {
                    Thread.currentThread().interrupt();
                }
                String done = end(world, call);
                return done + (Thread.interrupted() ? ", interrupted" : "");
            });
            Thread thread =
                    (isVirtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon()).start(task);
            String waits = "";
            try {
                return task.get(patience, TimeUnit.MILLISECONDS) + world.state();
            } catch (TimeoutException e) {
                waits = "waits, then ";
            }
            release.of(world, thread);
            try {
                return waits + task.get(Math.max(RELEASED_MILLIS, patience), TimeUnit.MILLISECONDS) + world.state();
            } catch (TimeoutException e) {
                return waits + "waits on" + world.state();
            }
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String end(ProbeWorld world, Call call) {
        try {
            return describe(world, call.on(world));
        } catch (Exception e) {
            return describe(e);
        }
    }

    /// The class, and of exceptions of sockets the first words, which programs compare.
    static String describe(Exception e) {
        boolean isSockets = e instanceof SocketException || e instanceof SocketTimeoutException;
        String message = String.valueOf(e.getMessage()).replaceAll(":.*", "");
        return e.getClass().getSimpleName() + (isSockets ? " " + message : "");
    }

    private static String describe(ProbeWorld world, @Nullable Object value) throws IOException {
        return switch (value) {
            case null -> "null";
            case InetSocketAddress at -> world.describe(at);
            case Socket socket -> world.isOwn(socket) ? "its socket" : "a socket";
            case ServerSocket socket -> world.isOwn(socket) ? "its socket" : "a server socket";
            case Channel channel -> world.isOwn(channel) ? "itself" : "a channel";
            case Selector _ -> "a selector";
            case SelectionKey key -> "a key" + (key.isValid() ? " of " + key.interestOps() : "");
            case InputStream _ -> "a stream";
            case OutputStream _ -> "a stream";
            case Collection<?> many ->
                many.stream().map(String::valueOf).sorted().collect(Collectors.joining(" "));
            default -> value.toString();
        };
    }
}
