package verbena.nic.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;
import verbena.transport.EngineCounters;
import verbena.transport.PacketHandler;
import verbena.transport.Protocol;
import verbena.transport.Scheduled;
import verbena.transport.Shortcut;
import verbena.wire.ib.Transport;

/// A queue pair as the engine sees it: its protocol and its places in the engine's lists. Engine-confined except for
/// the doorbell.
public final class EngineTask {
    private static final VarHandle RUNG;

    static {
        try {
            RUNG = MethodHandles.lookup().findVarHandle(EngineTask.class, "rung", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final Scheduled scheduled;
    /// The same, where requests may need neither packet nor time; else null.
    final @Nullable Shortcut shortcut;

    final PacketHandler arrivals;
    /// The transport of the packets that it takes; null when it takes none.
    final @Nullable Transport transport;
    final EngineCounters counters;
    /// The owner that gets reports of failures; null when the task serves the whole device.
    final @Nullable Owner owner;

    /// Whether the task is in the list of those that may have something to send.
    boolean isReady;
    /// Whether the task was removed from the engine: no list may bring it back.
    boolean isGone;
    /// Whether its code has failed once.
    boolean isBroken;
    /// Whether its code has failed more than once. The engine no longer calls it.
    boolean isLost;
    /// The place of the task in the heap of deadlines, or -1, and the deadline that it has there.
    int heapIndex = -1;

    long heapNanos;

    /// The next task in the list of doorbells that have rung; belongs to the thread that made [#rung] true.
    @Nullable
    EngineTask nextRung;

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private boolean rung;

    /// The owner of a queue pair.
    public interface Owner {
        /// Called once by the engine's owner when the code of the queue pair has failed. The queue pair has to
        /// go to ERR.
        ///
        /// @param cause the reason, in words
        void onBroken(String cause);
    }

    /// An arrival for a queue pair that is no packet.
    public interface Arrival {
        /// Hands it to the queue pair; false when the queue pair does not take it.
        ///
        /// @param to what the engine schedules for the queue pair
        boolean reach(Scheduled to);
    }

    /// Creates a task that serves the whole device. Its counters are not read, and a packet at which its code fails
    /// is dropped.
    public EngineTask(Protocol protocol, Transport transport) {
        this(protocol, protocol, transport, new EngineCounters(), null);
    }

    /// Creates a queue pair whose packets are of `transport`.
    ///
    /// @param counters its own
    public EngineTask(Protocol protocol, Transport transport, EngineCounters counters, Owner owner) {
        this(protocol, protocol, transport, counters, owner);
    }

    /// Creates a queue pair without packets.
    ///
    /// @param counters its own
    public EngineTask(Scheduled scheduled, EngineCounters counters, Owner owner) {
        this(scheduled, PacketHandler.NONE, null, counters, owner);
    }

    /// Creates a task without packets that serves the whole device.
    public EngineTask(Scheduled scheduled) {
        this(scheduled, PacketHandler.NONE, null, new EngineCounters(), null);
    }

    private EngineTask(
            Scheduled scheduled,
            PacketHandler arrivals,
            @Nullable Transport transport,
            EngineCounters counters,
            @Nullable Owner owner) {
        this.scheduled = scheduled;
        this.shortcut = scheduled instanceof Shortcut itself ? itself : null;
        this.arrivals = arrivals;
        this.transport = transport;
        this.counters = counters;
        this.owner = owner;
    }

    /// Returns true to the thread that has to link the task to the list.
    boolean ring() {
        return RUNG.compareAndSet(this, false, true);
    }

    /// Makes the next ring link the task to the list again; called by the engine. Uses a volatile write, so that
    /// the next poll sees what was published before an earlier ring.
    void answer() {
        assert (boolean) RUNG.getVolatile(this) : "a task on the list has rung";
        nextRung = null;
        RUNG.setVolatile(this, false);
    }
}
