package verbena.sim.script;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import verbena.transport.Counter;
import verbena.transport.Counters;
import verbena.transport.PacketFate;
import verbena.transport.QueuePairEvents;
import verbena.transport.QueuePairParameters;
import verbena.transport.memory.MemoryTable;
import verbena.transport.memory.Window;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.SendQueue;
import verbena.transport.rc.ReliableConnection;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;
import verbena.verbs.WorkCompletion;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Transport;
import verbena.wire.roce.RoceV2;

/// One end of the scripted connection: a real [ReliableConnection] with memory, queues and one completion queue. Stands
/// where an engine would stand and does nothing by itself.
final class End implements QueuePairEvents, CompletionRing.Listener {
    static final int DOMAIN = 1;
    private static final int QUEUE_DEPTH = 512;
    private static final int MAX_SGE = 4;
    private static final int MAX_INLINE = 256;
    private static final int KEYS_MAX = 1_000;
    private static final long FIRST_IOVA = 0x10_0000;
    private static final long IOVA_STEP = 0x10_0000;

    final String name;
    final QueuePairParameters parameters;
    final SendQueue sends;
    final ReceiveQueue receives;
    final CompletionRing completions;
    final MemoryTable memory;
    final Counters counters = new Counters();
    final ReliableConnection connection;
    final Deque<AsyncEvent.Type> events = new ArrayDeque<>();
    final Map<String, Area> areas = new LinkedHashMap<>();
    final Map<String, BoundWindow> windows = new LinkedHashMap<>();
    /// Data of the messages posted here, by request and of the last one.
    final Map<Long, byte[]> sent = new HashMap<>();

    byte @Nullable [] lastSent;
    int notifications;

    private final Frame spare;
    private boolean spareHolds;
    private final RoceV2 roce = new RoceV2();

    /// @param keys where memory keys come from
    End(String name, int qpn, RandomGenerator keys, boolean shared, boolean signalAll, Arena arena) {
        this.name = name;
        parameters = new QueuePairParameters(qpn);
        parameters.protectionDomain = DOMAIN;
        sends = new SendQueue(QUEUE_DEPTH, MAX_SGE, MAX_INLINE, arena);
        receives = new ReceiveQueue(QUEUE_DEPTH, MAX_SGE, () -> onAsyncEvent(AsyncEvent.Type.SRQ_LIMIT_REACHED));
        completions = new CompletionRing(2 * QUEUE_DEPTH, this);
        memory = new MemoryTable(keys, KEYS_MAX);
        connection = new ReliableConnection(
                parameters, sends, receives, shared, signalAll, completions, completions, memory, counters, this);
        spare = Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 64))[0];
    }

    // ---- objects

    Area addArea(String areaName, long bytes, long iova, int domain, int access) {
        var area = new Area(areaName, domain, bytes, iova, access);
        memory.add(area.region);
        areas.put(areaName, area);
        return area;
    }

    long nextIova() {
        return FIRST_IOVA + IOVA_STEP * areas.size();
    }

    BoundWindow addWindow(String windowName, int type, int domain) {
        var window = new Window(domain, type);
        memory.add(window);
        var bound = new BoundWindow(windowName, window);
        windows.put(windowName, bound);
        return bound;
    }

    /// The region `out`, from which this end sends.
    Area out() {
        return Objects.requireNonNull(areas.get(name + ".out"));
    }

    /// The region `in`, into which this end receives.
    Area in() {
        return Objects.requireNonNull(areas.get(name + ".in"));
    }

    /// The region that this end calls so.
    @Nullable
    Area area(String areaName) {
        Area own = areas.get(name + "." + areaName);
        return own == null ? areas.get(areaName) : own;
    }

    void modify(QpState to, long now) {
        QpState from = parameters.state;
        parameters.state = to;
        connection.onModified(from, to, now);
    }

    // ---- packets

    /// Moves the next departure into `frame`, sealed as a link would.
    boolean poll(Frame frame, long now) {
        if (spareHolds) {
            spareHolds = false;
            frame.copyFrom(spare);
            return true;
        }
        if (!connection.poll(frame, now)) {
            return false;
        }
        counters.count(Counter.SENT_PACKETS);
        roce.seal(frame, 0);
        frame.icrcValid = true;
        return true;
    }

    /// Lets the protocol run without letting anything out: what it wants to send waits for the next [#poll].
    void turn(long now) {
        if (!spareHolds) {
            spareHolds = poll(spare, now);
        }
    }

    /// What an engine does with an arriving packet.
    PacketFate receive(Frame frame, long now) {
        PacketFate fate = judge(frame, now);
        counters.count(Counter.RECEIVED_PACKETS);
        counters.count(fate);
        return fate;
    }

    private PacketFate judge(Frame frame, long now) {
        if (Packet.check(frame) != Malformed.OK) {
            return PacketFate.DROPPED_MALFORMED;
        }
        if (!roce.verify(frame)) {
            return PacketFate.DROPPED_ICRC;
        }
        if (Bth.destinationQp(frame.slot, Packet.BTH) != parameters.qpn) {
            return PacketFate.DROPPED_UNKNOWN_QP;
        }
        Opcode opcode = Packet.opcode(frame);
        if (opcode.transport() != Transport.RC) {
            return PacketFate.DROPPED_WRONG_SERVICE;
        }
        return connection.onPacket(frame, opcode, now);
    }

    // ---- what it says

    boolean takeCompletion(WorkCompletion wc, long now) {
        if (completions.poll(wc)) {
            return true;
        }
        turn(now); // requests that never leave this side complete when the engine gets to them
        return completions.poll(wc);
    }

    @Override
    public void onAsyncEvent(AsyncEvent.Type type) {
        events.add(type);
    }

    @Override
    public void onState(QpState state) {}

    @Override
    public void onNotification() {
        notifications++;
    }

    @Override
    public void onWake() {}

    @Override
    public void onOverflow() {
        events.add(AsyncEvent.Type.CQ_ERR);
    }

    /// Bytes of a scatter list's memory, for comparing what arrives with what was posted.
    static byte[] concat(byte[][] parts) {
        int length = 0;
        for (byte[] part : parts) {
            length += part.length;
        }
        byte[] all = new byte[length];
        int at = 0;
        for (byte[] part : parts) {
            MemorySegment.copy(MemorySegment.ofArray(part), 0, MemorySegment.ofArray(all), at, part.length);
            at += part.length;
        }
        return all;
    }
}
