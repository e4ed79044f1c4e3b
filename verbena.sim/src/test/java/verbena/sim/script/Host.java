package verbena.sim.script;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import verbena.transport.Counter;
import verbena.transport.EngineCounters;
import verbena.transport.PacketFate;
import verbena.transport.congestion.CongestionRule;
import verbena.transport.congestion.PeerWindows;
import verbena.transport.memory.MemoryTable;
import verbena.transport.memory.Window;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.rc.XrcQueue;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Gid;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Packet;
import verbena.wire.roce.RoceV2;

/// What the ends at one address share: memory, counters, and a shared receive queue. Stands where an engine would
/// stand, between the link and the queue pairs, and does nothing by itself.
final class Host {
    private static final int KEYS_MAX = 1_000;
    private static final long FIRST_IOVA = 0x10_0000;
    private static final long IOVA_STEP = 0x10_0000;

    final Gid address;
    /// What alternate paths begin and end at.
    @Nullable
    Gid other;

    final MemoryTable memory;
    /// Connections from here to one peer share a window.
    final PeerWindows peerWindows;
    /// What its connections do about congestion.
    CongestionRule congestion = CongestionRule.NONE;
    /// The static rate of paths from here; 0 for none.
    long bitsPerSecond;

    final EngineCounters counters = new EngineCounters();
    final ReceiveQueue sharedReceives =
            new ReceiveQueue(End.QUEUE_DEPTH, End.MAX_SGE, () -> this.events.add(AsyncEvent.Type.SRQ_LIMIT_REACHED));
    /// Of the shared receive queue.
    final Deque<AsyncEvent.Type> events = new ArrayDeque<>();

    /// The shared receive queues that peers name, by their numbers.
    final Map<Integer, XrcQueue> xrcQueues = new HashMap<>();

    final Map<String, Area> areas = new LinkedHashMap<>();
    final Map<String, BoundWindow> windows = new LinkedHashMap<>();
    final List<End> ends = new ArrayList<>();
    /// The ends that are attached to each multicast group.
    final Map<Gid, Set<End>> groups = new HashMap<>();
    /// The last packet that got as far as its queue pair.
    final Frame arrived;

    private final RoceV2 roce = new RoceV2();

    /// @param keys where memory keys come from
    Host(Gid address, PeerWindows peerWindows, RandomGenerator keys, Arena arena) {
        this.address = address;
        this.peerWindows = peerWindows;
        this.arrived = Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 64))[0];
        this.memory = new MemoryTable(keys, KEYS_MAX, () -> 0);
    }

    // ---- objects

    Area addArea(String name, long bytes, long iova, int domain, int access) {
        var area = new Area(name, domain, bytes, iova, access);
        memory.add(area.region);
        areas.put(name, area);
        return area;
    }

    /// The shared receive queue of this number; made when there is none.
    XrcQueue xrcQueue(int number, int xrcDomain, int domain, CompletionRing completions) {
        return xrcQueues.computeIfAbsent(
                number,
                _ -> new XrcQueue(
                        number,
                        xrcDomain,
                        domain,
                        new ReceiveQueue(
                                End.QUEUE_DEPTH, End.MAX_SGE, () -> this.events.add(AsyncEvent.Type.SRQ_LIMIT_REACHED)),
                        completions));
    }

    long nextIova() {
        return FIRST_IOVA + IOVA_STEP * areas.size();
    }

    BoundWindow addWindow(String name, int type, int domain) {
        var window = new Window(domain, type);
        memory.add(window);
        var bound = new BoundWindow(name, window);
        windows.put(name, bound);
        return bound;
    }

    // ---- packets

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
        int qpn = Bth.destinationQp(frame.slot, frame.start);
        arrived.copyFrom(frame);
        PacketFate fate = PacketFate.DROPPED_UNKNOWN_QP;
        for (End end : qpn == Bth.MULTICAST_QP ? attached(frame) : end(qpn)) {
            PacketFate another = end.receive(frame, Packet.opcode(frame), now);
            fate = fate == PacketFate.ACCEPTED ? fate : another;
        }
        return fate;
    }

    private Collection<End> attached(Frame frame) {
        return groups.getOrDefault(new Gid(frame.destinationHigh, frame.destinationLow), Set.of());
    }

    private Collection<End> end(int qpn) {
        return ends.stream().filter(end -> end.parameters.qpn == qpn).toList();
    }
}
