package verbena.nic.engine;

import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.Link;
import verbena.transport.Counter;
import verbena.transport.EngineCounters;
import verbena.transport.PacketFate;
import verbena.transport.memory.KeyTable;
import verbena.verbs.Gid;
import verbena.verbs.ResourceLimitException;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;

/// The receiving part of an engine: it takes packets from the link and passes each to its queue pair. For the
/// engine's owner.
final class Inbound {
    /// The queue pair of management datagrams (IBTA 3.9.3); the table never has such a number.
    private static final int GENERAL_SERVICES_QPN = 1;

    private final KeyTable<EngineTask> tasks;
    private final Outbound outbound;
    private final EngineCounters counters;
    private final Containment containment;
    private final EngineListener listener;
    private final Frame[] arrivals;
    private final MulticastGroups groups = new MulticastGroups();
    private final SearchAlarm searchAlarm = new SearchAlarm();
    private @Nullable EngineTask generalServices;

    Inbound(
            KeyTable<EngineTask> tasks,
            Outbound outbound,
            EngineCounters counters,
            Containment containment,
            EngineListener listener,
            Arena arena) {
        this.tasks = tasks;
        this.outbound = outbound;
        this.counters = counters;
        this.containment = containment;
        this.listener = listener;
        this.arrivals = Frame.allocate(arena.allocate((long) Tuning.BATCH * Frame.SLOT_BYTES, 64));
    }

    /// Receives a batch; returns how many packets.
    int receive(Link link, long now) {
        int n = link.receive(arrivals, 0, Tuning.BATCH);
        for (int i = 0; i < n; i++) {
            if (i + 1 < n && Trailing.isBehind(arrivals[i], arrivals[i + 1])) {
                Trailing.exchange(arrivals, i);
            }
            Frame frame = arrivals[i];
            counters.count(Counter.RECEIVED_PACKETS);
            counters.add(Counter.RECEIVED_BYTES, frame.length);
            PacketFate fate = dispatch(frame, now);
            frame.marks.fate = fate.ordinal();
            counters.count(fate);
            if (fate.isGuess() && searchAlarm.isSearch(now)) {
                counters.count(Counter.SEARCHES);
                listener.onSearch(fate, frame.sourceHigh, frame.sourceLow);
            }
        }
        return n;
    }

    private PacketFate dispatch(Frame frame, long now) {
        if (Packet.check(frame) != Malformed.OK) {
            return PacketFate.DROPPED_MALFORMED;
        }
        if (!frame.icrcValid) {
            return PacketFate.DROPPED_ICRC;
        }
        Opcode opcode = Packet.opcode(frame);
        int qpn = Bth.destinationQp(frame.slot, frame.start);
        if (qpn == Bth.MULTICAST_QP) {
            return dispatchToGroup(frame, opcode, now);
        }
        EngineTask task = qpn == GENERAL_SERVICES_QPN ? generalServices : tasks.get(qpn);
        if (task == null) {
            return tasks.isResting(qpn) ? PacketFate.DROPPED_CLOSED_QP : PacketFate.DROPPED_UNKNOWN_QP;
        }
        return hand(task, frame, opcode, now);
    }

    /// Hands the datagram to every queue pair of the group; the packet is accepted when one of them accepts it.
    private PacketFate dispatchToGroup(Frame frame, Opcode opcode, long now) {
        MulticastGroups.Group group = groups.find(frame.destinationHigh, frame.destinationLow);
        if (group == null) {
            return PacketFate.DROPPED_UNKNOWN_QP;
        }
        PacketFate fate = hand(group.tasks.getFirst(), frame, opcode, now);
        for (int i = 1; i < group.tasks.size(); i++) {
            PacketFate another = hand(group.tasks.get(i), frame, opcode, now);
            fate = fate == PacketFate.ACCEPTED ? fate : another;
        }
        return fate;
    }

    private PacketFate hand(EngineTask task, Frame frame, Opcode opcode, long now) {
        if (opcode.transport() != task.transport && (task.transport == null || !task.transport.takes(opcode))) {
            return PacketFate.DROPPED_WRONG_SERVICE;
        }
        if (task.isLost) {
            return PacketFate.DROPPED_STATE;
        }
        PacketFate fate;
        try {
            fate = task.arrivals.onPacket(frame, opcode, now);
        } catch (RuntimeException | Error e) {
            containment.contain(task, e);
            fate = PacketFate.DROPPED_STATE;
        }
        task.counters.received(frame.length, fate);
        outbound.makeReady(task);
        return fate;
    }

    /// Implements [Engine#hand].
    boolean hand(int qpn, EngineTask.Arrival arrival) {
        EngineTask task = tasks.get(qpn);
        if (task == null || task.isLost) {
            return false;
        }
        boolean isTaken = false;
        try {
            isTaken = arrival.reach(task.scheduled);
        } catch (RuntimeException | Error e) {
            containment.contain(task, e);
        }
        outbound.makeReady(task);
        return isTaken;
    }

    // ---- which queue pair gets what

    /// Hands packets for queue pair 1 to `task` from now on. Null drops them, as an engine does at first.
    void generalServices(@Nullable EngineTask task) {
        generalServices = task;
    }

    /// Attaches a queue pair to a multicast group, whose packets it receives from now on. Does nothing when the
    /// queue pair is attached already.
    ///
    /// @throws ResourceLimitException when there are too many
    /// @throws verbena.nic.link.LinkException when the link cannot become a member
    void attach(Link link, EngineTask task, Gid gid) {
        MulticastGroups.Group group = groups.find(gid.high(), gid.low());
        if (group == null) {
            if (!groups.hasRoom()) {
                throw new ResourceLimitException(
                        "attachMulticast", "maxMulticastGroups", MulticastGroups.GROUPS_MAX, "leave some");
            }
            link.join(gid);
            group = groups.add(gid);
        }
        if (group.tasks.contains(task)) {
            return;
        }
        if (group.tasks.size() == MulticastGroups.ATTACHED_MAX) {
            throw new ResourceLimitException(
                    "attachMulticast",
                    "maxMulticastQpAttach",
                    MulticastGroups.ATTACHED_MAX,
                    "so many are attached to " + gid);
        }
        group.tasks.add(task);
    }

    /// Detaches a queue pair from a group; false when it was not attached.
    boolean detach(Link link, EngineTask task, Gid gid) {
        MulticastGroups.Group group = groups.find(gid.high(), gid.low());
        return group != null && detach(link, task, group);
    }

    /// Detaches this queue pair from all its groups.
    void detachFromAll(Link link, EngineTask task) {
        groups.of(task).forEach(group -> detach(link, task, group));
    }

    private boolean detach(Link link, EngineTask task, MulticastGroups.Group group) {
        boolean was = group.tasks.remove(task);
        if (group.tasks.isEmpty()) {
            groups.remove(group);
            link.leave(group.gid);
        }
        return was;
    }
}
