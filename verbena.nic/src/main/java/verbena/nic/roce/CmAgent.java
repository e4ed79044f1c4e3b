package verbena.nic.roce;

import java.lang.foreign.MemorySegment;
import java.util.SortedMap;
import java.util.function.Function;
import verbena.cm.CmRoute;
import verbena.cm.CommunicationManager;
import verbena.nic.ManagementAgent;
import verbena.nic.engine.Engine;
import verbena.verbs.Gid;
import verbena.wire.mad.Mad;

/// The device's communication manager, driven by the engine: the agent of management class 7.
public final class CmAgent implements ManagementAgent {
    private final Engine engine;
    private final Gsi gsi;
    private final CommunicationManager manager;

    CmAgent(Engine engine, Gsi gsi, CommunicationManager manager) {
        this.engine = engine;
        this.gsi = gsi;
        this.manager = manager;
    }

    /// Returns the time in the clock of the manager and its connections.
    public long nowNanos() {
        return engine.nowNanos();
    }

    /// Runs `command` as the engine's owner, to which the manager, its connections and requests belong; what
    /// they want to say then leaves. Any thread. A listener that the manager calls (events, answers) is the
    /// owner already, and may use them at once.
    public <T> T call(Function<CommunicationManager, T> command) {
        return engine.call(() -> {
            try {
                return command.apply(manager);
            } finally {
                depart();
            }
        });
    }

    /// Returns the manager's counters. Any thread.
    SortedMap<String, Long> counters() {
        return manager.counters();
    }

    @Override
    public void onMad(MemorySegment mad, Gid local, Gid remote, long nowNanos) {
        manager.onMad(mad, new CmRoute(local, remote), nowNanos);
        depart();
    }

    @Override
    public long deadlineNanos() {
        return manager.deadlineNanos();
    }

    @Override
    public void onDeadline(long nowNanos) {
        manager.onDeadline(nowNanos);
        depart();
    }

    /// Sends what the manager wants to say. The engine's owner.
    void look() {
        depart();
    }

    private void depart() {
        for (var departure = manager.poll(); departure != null; departure = manager.poll()) {
            MemorySegment mad = MemorySegment.ofArray(new byte[Mad.BYTES]);
            departure.message().write(mad);
            gsi.send(mad, departure.route().local(), departure.route().remote());
        }
        gsi.look();
    }
}
