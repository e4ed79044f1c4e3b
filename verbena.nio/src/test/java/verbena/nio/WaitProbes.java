package verbena.nio;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import verbena.nio.Probes.Call;
import verbena.nio.Probes.Release;
import verbena.nio.Probes.State;

/// Calls that wait, and what ends that.
final class WaitProbes {
    /// More than sockets and rings take.
    private static final int MUCH = 20_000_000;

    private static final int MINUTE = 60_000;

    /// A call that waits in this state.
    record Waiting(State state, Call call) {}

    private WaitProbes() {}

    private static Map<String, Waiting> reads() {
        Map<String, Waiting> table = new LinkedHashMap<>();
        table.put("read", new Waiting(w -> w.connect(), w -> w.socket().read(ByteBuffer.allocate(9))));
        table.put(
                "read[]",
                new Waiting(w -> w.accept(), w -> w.socket().read(new ByteBuffer[] {ByteBuffer.allocate(9)})));
        table.put("in.read", new Waiting(w -> w.connect(), w -> w.in().read()));
        table.put(
                "in.read in a minute",
                new Waiting(w -> w.connect().socket().socket().setSoTimeout(MINUTE), w -> w.in().read(new byte[9])));
        return table;
    }

    private static Map<String, Waiting> writes() {
        Map<String, Waiting> table = new LinkedHashMap<>();
        table.put("write", new Waiting(w -> w.connect(), w -> w.socket().write(ByteBuffer.allocate(MUCH)) > 0));
        table.put(
                "write[]",
                new Waiting(w -> w.accept(), w -> w.socket().write(new ByteBuffer[] {ByteBuffer.allocate(MUCH)}) > 0));
        table.put("out.write", new Waiting(w -> w.connect(), w -> {
            w.out().write(new byte[MUCH]);
            return null;
        }));
        return table;
    }

    private static Map<String, Waiting> connects() {
        Map<String, Waiting> table = new LinkedHashMap<>();
        table.put("connect", new Waiting(w -> w.full().open(), w -> w.socket().connect(w.target())));
        table.put("socket.connect", new Waiting(w -> w.full().open(), w -> {
            w.socket().socket().connect(w.target(), MINUTE);
            return null;
        }));
        table.put(
                "finishConnect",
                new Waiting(
                        w -> {
                            w.full().open().unblocked().socket().connect(w.target());
                            w.socket().configureBlocking(true);
                        },
                        w -> w.socket().finishConnect()));
        return table;
    }

    private static Map<String, Waiting> accepts() {
        Map<String, Waiting> table = new LinkedHashMap<>();
        table.put("accept", new Waiting(w -> w.bindServer(), w -> w.server().accept()));
        table.put(
                "socket.accept",
                new Waiting(w -> w.bindServer(), w -> w.server().socket().accept()));
        table.put(
                "socket.accept in a minute",
                new Waiting(
                        w -> w.bindServer().server().socket().setSoTimeout(MINUTE),
                        w -> w.server().socket().accept()));
        return table;
    }

    private static Map<String, Waiting> selects() {
        Map<String, Waiting> table = new LinkedHashMap<>();
        table.put("select", new Waiting(WaitProbes::register, w -> w.selector().select()));
        table.put(
                "select in a minute",
                new Waiting(WaitProbes::register, w -> w.selector().select(MINUTE)));
        table.put(
                "select(action)",
                new Waiting(WaitProbes::register, w -> w.selector().select(key -> {})));
        return table;
    }

    private static void register(ProbeWorld w) throws IOException {
        w.connect().unblocked().openSelector();
        w.key = w.socket().register(w.selector(), SelectionKey.OP_READ);
    }

    private static void readAll(ProbeWorld w) {
        try {
            Providers.readFully(w.peer(), MUCH);
        } catch (IOException e) {
            // the probe is over
        }
    }

    private static Map<String, Release> ends() {
        Map<String, Release> table = new LinkedHashMap<>();
        table.put("closed", (w, _) -> w.closeTried());
        table.put("interrupted", (_, waiter) -> waiter.interrupt());
        return table;
    }

    private static Map<String, Release> ends(Map<String, Release> more) {
        Map<String, Release> table = ends();
        table.putAll(more);
        return table;
    }

    /// What waits, and what may end it.
    private record Group(Map<String, Waiting> calls, Map<String, Release> ends) {}

    private static List<Group> groups() {
        Release peerCloses = (w, _) -> w.peer().close();
        Release peerResets =
                (w, _) -> w.peer().setOption(StandardSocketOptions.SO_LINGER, 0).close();
        Release peerWrites = (w, _) -> w.peer().write(ByteBuffer.allocate(1));
        Map<String, Release> ofReads = new LinkedHashMap<>();
        ofReads.put("peer writes", peerWrites);
        ofReads.put("peer closes", peerCloses);
        ofReads.put("peer shuts its output", (w, _) -> w.peer().shutdownOutput());
        ofReads.put("peer resets", peerResets);
        ofReads.put("input shut", (w, _) -> w.socket().shutdownInput());
        Map<String, Release> ofWrites = new LinkedHashMap<>();
        ofWrites.put("peer reads", (w, _) -> Thread.startVirtualThread(() -> readAll(w)));
        ofWrites.put("socket closed", (w, _) -> w.socket().socket().close());
        Map<String, Release> ofSelects = new LinkedHashMap<>();
        ofSelects.put("woken", (w, _) -> w.selector().wakeup());
        ofSelects.put("peer writes", peerWrites);
        ofSelects.put("peer closes", peerCloses);
        ofSelects.put("peer resets", peerResets);
        ofSelects.put("interest grows", (w, _) -> w.key().interestOpsOr(SelectionKey.OP_WRITE));
        return List.of(
                new Group(reads(), ends(ofReads)),
                new Group(writes(), ends(ofWrites)),
                new Group(connects(), ends()),
                new Group(accepts(), ends(Map.of("a client comes", (w, _) -> w.withClient()))),
                new Group(selects(), ends(ofSelects)));
    }

    /// Tries each in a platform thread, and in a virtual one.
    static void tryAll(Probes probes) throws Exception {
        for (Group group : groups()) {
            for (var waiting : group.calls.entrySet()) {
                for (var end : group.ends.entrySet()) {
                    for (boolean isVirtual : new boolean[] {false, true}) {
                        Waiting it = waiting.getValue();
                        String name =
                                (isVirtual ? "virtual thread, " : "thread, ") + end.getKey() + ": " + waiting.getKey();
                        probes.tryOne(name, it.state, it.call, end.getValue(), isVirtual);
                    }
                }
            }
        }
    }
}
