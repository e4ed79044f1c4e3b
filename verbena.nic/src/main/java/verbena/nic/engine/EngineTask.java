package verbena.nic.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;
import verbena.transport.Counters;
import verbena.transport.PacketHandler;
import verbena.transport.Protocol;
import verbena.transport.Scheduled;
import verbena.wire.ib.Transport;

/// A queue pair as the engine sees it: its protocol, and where it stands in the engine's lists. Engine-confined
/// but for the doorbell.
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
    final PacketHandler arrivals;
    /// Of the packets that it takes; null when it takes none.
    final @Nullable Transport transport;
    final Counters counters;
    /// Null: it serves the whole device.
    final @Nullable Owner owner;

    /// In the list of those that may have something to send.
    boolean isReady;
    /// Taken out of the engine: no list may bring it back.
    boolean isGone;
    /// Its code has failed once.
    boolean isBroken;
    /// Its code has failed more than once: it is not called any more.
    boolean isLost;
    /// Place in the heap of deadlines, -1 when not in it, and the time it stands there with.
    int heapIndex = -1;

    long heapNanos;

    /// The next in the list of doorbells that have rung; belongs to whoever made [#rung] true.
    @Nullable
    EngineTask nextRung;

    @SuppressWarnings("UnusedVariable") // by VarHandle
    private boolean rung;

    /// What its packets carry in place of the ICRC; 0 for the ICRC.
    int stamp;

    /// Whom a queue pair belongs to.
    public interface Owner {
        /// Its code has failed; called by the engine's owner, once. The queue pair has to go to ERR.
        ///
        /// @param cause in words
        void onBroken(String cause);
    }

    /// One that serves the whole device: nobody asks what it has counted, and a packet that its code fails at is
    /// dropped.
    public EngineTask(Protocol protocol, Transport transport) {
        this(protocol, protocol, transport, new Counters(), null);
    }

    /// A queue pair whose packets are of `transport`.
    ///
    /// @param counters its own
    public EngineTask(Protocol protocol, Transport transport, Counters counters, Owner owner) {
        this(protocol, protocol, transport, counters, owner);
    }

    /// A queue pair without packets.
    ///
    /// @param counters its own
    public EngineTask(Scheduled scheduled, Counters counters, Owner owner) {
        this(scheduled, PacketHandler.NONE, null, counters, owner);
    }

    /// One without packets that serves the whole device.
    public EngineTask(Scheduled scheduled) {
        this(scheduled, PacketHandler.NONE, null, new Counters(), null);
    }

    private EngineTask(
            Scheduled scheduled,
            PacketHandler arrivals,
            @Nullable Transport transport,
            Counters counters,
            @Nullable Owner owner) {
        this.scheduled = scheduled;
        this.arrivals = arrivals;
        this.transport = transport;
        this.counters = counters;
        this.owner = owner;
    }

    /// What the packets from here on carry in place of the ICRC ([verbena.wire.Frame#stamp]); 0 for the ICRC.
    /// Called by the engine's owner.
    public void stamp(int value) {
        stamp = value;
    }

    /// True for the one who has to put the station on the list.
    boolean ring() {
        return RUNG.compareAndSet(this, false, true);
    }

    /// Engine: from here on, ringing puts it on the list again. Volatile, so that what was published before an
    /// earlier ring is seen by the poll that follows.
    void answer() {
        nextRung = null;
        RUNG.setVolatile(this, false);
    }
}
