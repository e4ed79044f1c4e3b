package verbena.nic.roce;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import verbena.nic.ManagementAgent;
import verbena.nic.engine.Engine;
import verbena.nic.engine.EngineTask;
import verbena.transport.Counter;
import verbena.transport.PacketFate;
import verbena.transport.Protocol;
import verbena.verbs.Gid;
import verbena.verbs.InvalidStateException;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Deth;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Psn;
import verbena.wire.ib.Transport;
import verbena.wire.mad.Mad;
import verbena.wire.roce.RoceV2;

/// Queue pair 1, the general service interface (IBTA 13.5.2): takes management datagrams for the agents of their
/// classes, and sends theirs. Nothing is taken as long as there is no agent. Engine-confined but for [#add] and
/// [#remove].
final class Gsi implements Protocol {
    /// The largest number of datagrams that wait to leave: 4 MB of them.
    private static final int OUTGOING_MAX = 16_384;
    /// The largest number of datagrams between one engine and another.
    private static final int RELAYED_MAX = 1_024;
    private static final int CLASSES = 256;
    private static final int HOP_LIMIT = 64;
    private static final Opcode OPCODE = Opcode.UD_SEND_ONLY;

    private record Outgoing(MemorySegment mad, Gid local, Gid remote) {}

    private final Engine engine;
    private final List<Engine> others;
    private final Ways ways;
    private final AtomicInteger relayed = new AtomicInteger();
    private final @Nullable ManagementAgent[] agents = new @Nullable ManagementAgent[CLASSES];
    private final ArrayDeque<Outgoing> outgoing = new ArrayDeque<>();
    private final EngineTask task = new EngineTask(this, Transport.UD);

    private int psn;

    /// @param engines the first is the one whose owner agents belong to; what comes to the others is relayed to
    ///     it
    /// @param ways to where datagrams go
    Gsi(List<Engine> engines, Ways ways) {
        this.ways = ways;
        this.engine = engines.getFirst();
        this.others = engines.subList(1, engines.size());
    }

    // ---- any thread

    /// Takes datagrams of a class for `agent` from now on.
    ///
    /// @throws InvalidStateException when another agent does already
    /// @throws verbena.verbs.DeviceException when another device has queue pair 1
    void add(int managementClass, ManagementAgent agent) {
        engine.claim("queue pair 1");
        engine.call(() -> {
            if (agents[managementClass] != null) {
                throw new InvalidStateException(
                        "management class 0x%02x has an agent already".formatted(managementClass));
            }
            agents[managementClass] = agent;
            engine.generalServices(task);
            return true;
        });
        for (Engine other : others) {
            var relay = new EngineTask(new Relay(), Transport.UD);
            other.call(() -> {
                other.generalServices(relay);
                return true;
            });
        }
    }

    /// Takes none any more; what waits to leave still does.
    void remove(int managementClass) {
        engine.call(() -> {
            agents[managementClass] = null;
            for (ManagementAgent agent : agents) {
                if (agent != null) {
                    return true;
                }
            }
            engine.generalServices(null);
            others.forEach(other -> other.later(() -> other.generalServices(null)));
            return true;
        });
    }

    // ---- the engine's owner

    /// Sends a datagram when its turn comes.
    ///
    /// @param mad [Mad#BYTES], which the caller does not touch any more
    void send(MemorySegment mad, Gid local, Gid remote) {
        ways.find(local, remote, isThere -> {
            if (isThere) {
                sendNow(mad, local, remote);
            }
        });
    }

    private void sendNow(MemorySegment mad, Gid local, Gid remote) {
        if (outgoing.size() == OUTGOING_MAX) {
            engine.counters().count(Counter.MANAGEMENT_OVERFLOWS);
            return;
        }
        outgoing.add(new Outgoing(mad, local, remote));
        look();
    }

    /// Makes the engine ask for datagrams to send, and for the deadline.
    void look() {
        engine.makeReady(task);
    }

    // ---- the four verbs

    @Override
    public PacketFate onPacket(Frame frame, Opcode opcode, long nowNanos) {
        PacketFate fate = judge(frame, opcode);
        if (fate != PacketFate.ACCEPTED) {
            return fate;
        }
        ways.onHeard(new Gid(frame.sourceHigh, frame.sourceLow), frame.local.sourceLid);
        return hand(
                        mad(frame, opcode),
                        new Gid(frame.destinationHigh, frame.destinationLow),
                        new Gid(frame.sourceHigh, frame.sourceLow),
                        nowNanos)
                ? PacketFate.ACCEPTED
                : PacketFate.DROPPED_MANAGEMENT;
    }

    private static MemorySegment mad(Frame frame, Opcode opcode) {
        return frame.slot
                .asSlice(Packet.payloadOffset(frame, opcode), Mad.BYTES)
                .asReadOnly();
    }

    /// Passes a datagram to its agent; returns false when there is none.
    private boolean hand(MemorySegment mad, Gid local, Gid remote, long nowNanos) {
        ManagementAgent agent = agents[Mad.managementClass(mad)];
        if (Mad.baseVersion(mad) != 1 || agent == null) {
            return false;
        }
        agent.onMad(mad, local, remote, nowNanos);
        return true;
    }

    /// Returns the fate of a packet: dropped when it is no management datagram at all.
    private PacketFate judge(Frame frame, Opcode opcode) {
        if (opcode != OPCODE
                || Packet.payloadBytes(frame, opcode) != Mad.BYTES
                || RoceV2.isMulticast(frame.destinationHigh, frame.destinationLow)) {
            return PacketFate.DROPPED_MANAGEMENT;
        }
        int pkey = Bth.pkey(frame.slot, frame.start);
        if ((pkey & 0x7FFF) != 0x7FFF || ((pkey | ways.pkey()) & 0x8000) == 0) {
            return PacketFate.DROPPED_PKEY;
        }
        int deth = frame.start + opcode.dethOffset();
        if (Deth.qkey(frame.slot, deth) != Mad.QKEY) {
            return PacketFate.DROPPED_QKEY;
        }
        if (Deth.sourceQp(frame.slot, deth) != Mad.QPN) {
            return PacketFate.DROPPED_SOURCE;
        }
        return PacketFate.ACCEPTED;
    }

    @Override
    public boolean poll(Frame frame, long nowNanos) {
        Outgoing next = outgoing.poll();
        if (next == null) {
            return false;
        }
        Bth.write(frame.slot, frame.start, OPCODE, false, 0, ways.pkey(), Mad.QPN, false, psn);
        psn = Psn.next(psn);
        Deth.write(frame.slot, frame.start + OPCODE.dethOffset(), Mad.QKEY, Mad.QPN);
        MemorySegment.copy(next.mad, 0, frame.slot, Packet.payloadOffset(frame, OPCODE), Mad.BYTES);
        frame.length = Packet.length(OPCODE, Mad.BYTES);
        frame.sourceHigh = next.local.high();
        frame.sourceLow = next.local.low();
        frame.destinationHigh = next.remote.high();
        frame.destinationLow = next.remote.low();
        frame.local.destinationLid = ways.lid(next.remote);
        frame.sourcePort = 0;
        frame.trafficClass = 0;
        frame.hopLimit = HOP_LIMIT;
        frame.serviceLevel = 0;
        frame.local.pathBits = 0;
        return true;
    }

    @Override
    public long deadlineNanos() {
        long earliest = NEVER;
        for (ManagementAgent agent : agents) {
            if (agent != null) {
                earliest = Math.min(earliest, agent.deadlineNanos());
            }
        }
        return earliest;
    }

    @Override
    public void onDeadline(long nowNanos) {
        for (ManagementAgent agent : agents) {
            if (agent != null && agent.deadlineNanos() <= nowNanos) {
                agent.onDeadline(nowNanos);
            }
        }
    }

    /// Queue pair 1 at the other engines: the kernel gives a request for a service that no process has claimed
    /// to any of them.
    private final class Relay implements Protocol {
        @Override
        public PacketFate onPacket(Frame frame, Opcode opcode, long nowNanos) {
            PacketFate fate = judge(frame, opcode);
            if (fate != PacketFate.ACCEPTED) {
                return fate;
            }
            if (relayed.incrementAndGet() > RELAYED_MAX) {
                relayed.decrementAndGet();
                return PacketFate.DROPPED_MANAGEMENT;
            }
            MemorySegment mad = MemorySegment.ofArray(new byte[Mad.BYTES]).copyFrom(mad(frame, opcode));
            var local = new Gid(frame.destinationHigh, frame.destinationLow);
            var remote = new Gid(frame.sourceHigh, frame.sourceLow);
            engine.later(() -> {
                relayed.decrementAndGet();
                boolean _ = hand(mad, local, remote, engine.nowNanos());
            });
            return PacketFate.ACCEPTED;
        }

        @Override
        public boolean poll(Frame frame, long nowNanos) {
            return false;
        }

        @Override
        public long deadlineNanos() {
            return NEVER;
        }

        @Override
        public void onDeadline(long nowNanos) {}
    }
}
