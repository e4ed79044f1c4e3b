package verbena.sim.script;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import verbena.transport.Counter;
import verbena.transport.DirectPackets;
import verbena.transport.PacketFate;
import verbena.transport.ProtocolParts;
import verbena.transport.QueuePairEvents;
import verbena.transport.QueuePairParameters;
import verbena.transport.QueuePairProtocol;
import verbena.transport.near.NearConnection;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.Path;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.SendQueue;
import verbena.transport.rc.ReliableConnection;
import verbena.transport.rc.XrcInitiator;
import verbena.transport.rc.XrcTarget;
import verbena.transport.unreliable.UnreliableConnection;
import verbena.transport.unreliable.UnreliableDatagram;
import verbena.verbs.AsyncEvent;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.WorkCompletion;
import verbena.wire.Frame;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Transport;
import verbena.wire.roce.RoceV2;

/// One end of a script: a real queue pair of a host, with queues and a completion queue of its own.
final class End implements QueuePairEvents, CompletionRing.Listener {
    static final int DOMAIN = 1;
    /// The XRC domain of all targets, and their first shared receive queue's number.
    static final int XRC_DOMAIN = 1;

    static final int SRQ = 77;
    static final int QUEUE_DEPTH = 512;
    static final int MAX_SGE = 4;
    private static final int MAX_INLINE = 256;

    final String name;
    final Host host;
    final QueuePairParameters parameters;
    final SendQueue sends;
    final ReceiveQueue receives;
    final CompletionRing completions = new CompletionRing(2 * QUEUE_DEPTH, this);
    QueuePairProtocol protocol;
    private final Transport transport;
    private final Deque<AsyncEvent.Type> events = new ArrayDeque<>();
    /// The ways that this end has prepared, by the names of their handles.
    final Map<String, Path> handles = new HashMap<>();
    /// Data of the messages posted here, by request and of the last one.
    final Map<Long, byte[]> sent = new HashMap<>();

    /// The other end of the connection; of a datagram's end, the one that most is heard of.
    End peer = this;

    byte @Nullable [] lastSent;
    int notifications;
    private @Nullable DirectWay direct;

    @Nullable
    MessageWay messages;
    /// What requests without packets would have sent and got, oldest first.
    final Deque<Frame> shown = new ArrayDeque<>();

    private final Frame spare;
    private boolean spareHolds;
    private final RoceV2 roce = new RoceV2();

    /// @param shared whether it takes receives from the shared receive queue of its host
    End(String name, QpType type, int qpn, Host host, boolean shared, boolean signalAll, Arena arena) {
        this.name = name;
        this.host = host;
        parameters = new QueuePairParameters(qpn);
        parameters.congestion = host.congestion;
        parameters.protectionDomain = type == QpType.XRC_TARGET ? -1 : DOMAIN;
        sends = new SendQueue(QUEUE_DEPTH, MAX_SGE, MAX_INLINE, arena);
        receives = type == QpType.XRC_TARGET
                ? host.xrcQueue(SRQ, XRC_DOMAIN, DOMAIN, completions).receives()
                : shared ? host.sharedReceives : new ReceiveQueue(QUEUE_DEPTH, MAX_SGE, () -> {});
        transport = type.isXrc() ? Transport.XRC : Transport.valueOf(type.name());
        var parts = new ProtocolParts(
                parameters,
                sends,
                type == QpType.XRC_TARGET ? new ReceiveQueue(0, MAX_SGE, () -> {}) : receives,
                shared || type == QpType.XRC_TARGET,
                signalAll,
                completions,
                completions,
                host.memory,
                host.counters,
                this);
        protocol = switch (type) {
            case RC -> new ReliableConnection(parts);
            case UC -> new UnreliableConnection(parts);
            case UD -> new UnreliableDatagram(parts);
            case XRC_INITIATOR -> new XrcInitiator(parts);
            case RAW_PACKET -> throw new IllegalArgumentException("scripts have no raw packets");
            case XRC_TARGET -> new XrcTarget(parts, host.xrcQueues::get, XRC_DOMAIN);
        };
        spare = Frame.allocate(arena.allocate(Frame.SLOT_BYTES, 64))[0];
        host.ends.add(this);
    }

    // ---- objects

    /// The way to the peer's memory without packets, which is used from now on.
    ///
    /// @param words for the message when this end cannot have one
    DirectWay direct(Words words) {
        DirectWay way = direct;
        if (way == null) {
            way = new DirectWay(this);
            direct = way;
            near(words).peerMemory(way);
        }
        return way;
    }

    /// The same protocol with what needs no packets, from now on.
    private NearConnection near(Words words) {
        return switch (protocol) {
            case NearConnection there -> there;
            case ReliableConnection connection -> {
                var made = new NearConnection(connection);
                protocol = made;
                yield made;
            }
            default -> throw words.wrong("only a reliable connection has ways without packets");
        };
    }

    /// The way of messages without packets, which is used from now on.
    ///
    /// @param words for the message when this end cannot have one
    MessageWay messages(Words words) {
        MessageWay way = messages;
        if (way == null) {
            way = new MessageWay(this);
            messages = way;
            if (protocol instanceof XrcInitiator initiator) {
                initiator.watch(way);
            } else {
                near(words).peerMessages(way);
            }
        }
        return way;
    }

    /// A message without packets that has not arrived; null when there is none.
    @Nullable
    String messageLeft() {
        MessageWay way = messages;
        return way == null ? null : way.left();
    }

    /// The region `out`, from which this end sends.
    Area out() {
        return Objects.requireNonNull(host.areas.get(name + ".out"));
    }

    /// The region `in`, into which this end receives.
    Area in() {
        return Objects.requireNonNull(host.areas.get(name + ".in"));
    }

    /// The region that this end calls so.
    @Nullable
    Area area(String areaName) {
        Area own = host.areas.get(name + "." + areaName);
        return own == null ? host.areas.get(areaName) : own;
    }

    void modify(QpState to, long now) {
        QpState from = parameters.state;
        parameters.state = to;
        protocol.onModified(from, to, now);
    }

    // ---- packets

    /// Moves the next departure into `frame`, sealed as a link would.
    boolean poll(Frame frame, long now) {
        if (spareHolds) {
            spareHolds = false;
            frame.copyFrom(spare);
            return true;
        }
        if (!protocol.poll(frame, now)) {
            return false;
        }
        host.counters.count(Counter.SENT_PACKETS);
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

    /// A packet for this queue pair has arrived at its host.
    PacketFate receive(Frame frame, Opcode opcode, long now) {
        return transport.takes(opcode) ? protocol.onPacket(frame, opcode, now) : PacketFate.DROPPED_WRONG_SERVICE;
    }

    // ---- what it says

    boolean takeCompletion(WorkCompletion wc, long now) {
        if (completions.poll(wc)) {
            return true;
        }
        turn(now); // requests that never leave this side complete when the engine gets to them
        return completions.poll(wc);
    }

    /// The oldest event of this queue pair, else of its host's shared receive queue; null when there is none.
    AsyncEvent.@Nullable Type takeEvent() {
        return events.isEmpty() ? host.events.poll() : events.poll();
    }

    @Override
    public void onAsyncEvent(AsyncEvent.Type type) {
        events.add(type);
    }

    @Override
    public void onState(QpState state) {}

    @Override
    public void onDirect(DirectPackets packets) {
        while (true) {
            Frame frame = Frame.allocate(Arena.ofAuto().allocate(Frame.SLOT_BYTES, 64))[0];
            if (!packets.poll(frame)) {
                return;
            }
            roce.seal(frame, 0);
            frame.icrcValid = true;
            shown.add(frame);
        }
    }

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
