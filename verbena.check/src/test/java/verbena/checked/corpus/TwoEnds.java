package verbena.checked.corpus;

import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import verbena.check.Checker;
import verbena.check.Rule;
import verbena.check.Watcher.Event;
import verbena.check.device.CheckProvider;
import verbena.check.rules.Watchers;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.VerbsObject;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Two connected queue pairs, `here` and `there`, each with a completion queue and a region, for small programs.
/// Their device is checked.
public final class TwoEnds implements AutoCloseable {
    static final int BYTES = 1 << 16;
    private static final Duration LIMIT = Duration.ofSeconds(20);

    final Checker checker;
    final Context device;
    final ProtectionDomain domain;
    final CompletionQueue sent;
    final CompletionQueue arrived;
    final MemoryRegion local;
    final MemoryRegion remote;
    final QueuePair here;
    final QueuePair there;
    final WorkCompletion wc = new WorkCompletion();
    final Arena arena = Arena.ofShared();
    private final List<VerbsObject> more = new ArrayList<>();

    /// @param off the rule that is off; others are on
    TwoEnds(Set<Rule> off) {
        this(new Checker(allBut(off), Watchers::of));
    }

    private static Set<Rule> allBut(Set<Rule> off) {
        Set<Rule> on = EnumSet.allOf(Rule.class);
        on.removeAll(off);
        return on;
    }

    TwoEnds(Checker checker) {
        this.checker = checker;
        device = CheckProvider.over("checked", Device.named("rocev2"), checker).open();
        domain = device.allocateProtectionDomain();
        sent = device.createCompletionQueue(256);
        arrived = device.createCompletionQueue(256);
        local = domain.allocate(BYTES, Access.local());
        remote = domain.allocate(BYTES, Access.remoteAll());
        here = domain.createQueuePair(QueuePairOptions.rc(sent));
        there = domain.createQueuePair(QueuePairOptions.rc(arrived));
    }

    /// Connects the two.
    void connect() {
        here.connect(there.endpoint());
        there.connect(here.endpoint());
    }

    /// Opens another device, which is checked too.
    Context open(String name) {
        return CheckProvider.over("checked:" + name, Device.named(name), checker)
                .open();
    }

    /// A listener that takes one connection, and closes with it.
    static final class Server implements AutoCloseable {
        private final ConnectionListener listener;
        private final FutureTask<Connection> accepted;

        Server(Context device) {
            listener = ConnectionListener.bind(
                    new InetSocketAddress(device.gid(1, 0).gid().address(), 0),
                    ConnectionOptions.defaults().withDevice(device));
            accepted = new FutureTask<>(listener::accept);
            Thread.ofVirtual().start(accepted);
        }

        InetSocketAddress localAddress() {
            return listener.localAddress();
        }

        @Override
        public void close() {
            try {
                accepted.get().close();
            } catch (InterruptedException | ExecutionException e) {
                throw new AssertionError("no connection came", e);
            }
            listener.close();
        }
    }

    /// Closes objects that a program has made with this scene, in this order.
    void closeLater(VerbsObject... objects) {
        more.addAll(List.of(objects));
    }

    /// Takes one completion.
    void take(CompletionQueue from) throws InterruptedException {
        if (!from.await(wc, LIMIT)) {
            throw new IllegalStateException("no completion within " + LIMIT);
        }
    }

    /// Tells the rules that the process ends.
    void exit() {
        checker.hear(Event.EXIT, watcher -> watcher.onExit(checker.devices()));
    }

    @Override
    public void close() {
        more.forEach(VerbsObject::close);
        here.close();
        there.close();
        local.close();
        remote.close();
        sent.close();
        arrived.close();
        domain.close();
        device.close();
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
