package verbena.nic.engine;

import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;
import verbena.nic.link.Link;
import verbena.transport.Counter;
import verbena.transport.Counters;
import verbena.transport.PacketFate;
import verbena.transport.memory.KeyTable;
import verbena.verbs.Gid;
import verbena.verbs.ResourceLimitException;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;

/// Takes packets from the link and hands each to its queue pair. For the engine's owner.
final class Inbound {
    /// Frames received in one piece of work at most.
    static final int BATCH = 64;
    /// The destination queue pair of every multicast (IBTA 9.2.4).
    private static final int MULTICAST_QPN = 0xFF_FFFF;
    /// The queue pair of management datagrams (IBTA 3.9.3); the table never has such a number.
    private static final int GENERAL_SERVICES_QPN = 1;

    private final KeyTable<EngineTask> stations;
    private final Outbound outbound;
    private final Counters counters;
    private final Containment containment;
    private final Engine.Listener listener;
    private final Frame[] arrivals;
    private final MulticastGroups groups = new MulticastGroups();
    private final SearchAlarm searchAlarm = new SearchAlarm();
    private @Nullable EngineTask generalServices;

    Inbound(
            KeyTable<EngineTask> stations,
            Outbound outbound,
            Counters counters,
            Containment containment,
            Engine.Listener listener,
            Arena arena) {
        this.stations = stations;
        this.outbound = outbound;
        this.counters = counters;
        this.containment = containment;
        this.listener = listener;
        this.arrivals = Frame.allocate(arena.allocate((long) BATCH * Frame.SLOT_BYTES, 64));
    }

    /// Receives a batch; returns how many packets.
    int receive(Link link, long now) {
        int n = link.receive(arrivals, 0, BATCH);
        for (int i = 0; i < n; i++) {
            if (i + 1 < n && Trailing.isBehind(arrivals[i], arrivals[i + 1])) {
                Trailing.exchange(arrivals, i);
            }
            Frame frame = arrivals[i];
            counters.count(Counter.RECEIVED_PACKETS);
            counters.add(Counter.RECEIVED_BYTES, frame.length);
            PacketFate fate = dispatch(frame, now);
            frame.fate = fate.ordinal();
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
        if (qpn == MULTICAST_QPN) {
            return dispatchToGroup(frame, opcode, now);
        }
        EngineTask station = qpn == GENERAL_SERVICES_QPN ? generalServices : stations.get(qpn);
        if (station == null) {
            return stations.isResting(qpn) ? PacketFate.DROPPED_CLOSED_QP : PacketFate.DROPPED_UNKNOWN_QP;
        }
        return hand(station, frame, opcode, now);
    }

    /// Every queue pair of the group gets the datagram; the packet is accepted when one of them accepts it.
    private PacketFate dispatchToGroup(Frame frame, Opcode opcode, long now) {
        MulticastGroups.Group group = groups.find(frame.destinationHigh, frame.destinationLow);
        if (group == null) {
            return PacketFate.DROPPED_UNKNOWN_QP;
        }
        PacketFate fate = hand(group.stations.getFirst(), frame, opcode, now);
        for (int i = 1; i < group.stations.size(); i++) {
            PacketFate another = hand(group.stations.get(i), frame, opcode, now);
            fate = fate == PacketFate.ACCEPTED ? fate : another;
        }
        return fate;
    }

    private PacketFate hand(EngineTask station, Frame frame, Opcode opcode, long now) {
        if (opcode.transport() != station.transport) {
            return PacketFate.DROPPED_WRONG_SERVICE;
        }
        if (station.isLost) {
            return PacketFate.DROPPED_STATE;
        }
        PacketFate fate;
        try {
            fate = station.arrivals.onPacket(frame, opcode, now);
        } catch (RuntimeException | Error e) {
            containment.contain(station, e);
            fate = PacketFate.DROPPED_STATE;
        }
        station.counters.received(frame.length, fate);
        outbound.makeReady(station);
        return fate;
    }

    // ---- which queue pair gets what

    /// Hands what comes to queue pair 1 to `station` from now on; null: drops it, which it does at first.
    void generalServices(@Nullable EngineTask station) {
        generalServices = station;
    }

    /// Hands what is sent to a multicast group to a queue pair too. Nothing changes when it is attached already.
    ///
    /// @throws ResourceLimitException when there are too many
    /// @throws verbena.nic.link.LinkException when the link cannot become a member
    void attach(Link link, EngineTask station, Gid gid) {
        MulticastGroups.Group group = groups.find(gid.high(), gid.low());
        if (group == null) {
            if (!groups.hasRoom()) {
                throw new ResourceLimitException(
                        "attachMulticast", "maxMulticastGroups", MulticastGroups.GROUPS_MAX, "leave some");
            }
            link.join(gid);
            group = groups.add(gid);
        }
        if (group.stations.contains(station)) {
            return;
        }
        if (group.stations.size() == MulticastGroups.ATTACHED_MAX) {
            throw new ResourceLimitException(
                    "attachMulticast",
                    "maxMulticastQpAttach",
                    MulticastGroups.ATTACHED_MAX,
                    "so many are attached to " + gid);
        }
        group.stations.add(station);
    }

    /// Ends that; false when it was not so.
    boolean detach(Link link, EngineTask station, Gid gid) {
        MulticastGroups.Group group = groups.find(gid.high(), gid.low());
        return group != null && detach(link, station, group);
    }

    /// No group has this queue pair any more.
    void detachFromAll(Link link, EngineTask station) {
        groups.of(station).forEach(group -> detach(link, station, group));
    }

    private boolean detach(Link link, EngineTask station, MulticastGroups.Group group) {
        boolean was = group.stations.remove(station);
        if (group.stations.isEmpty()) {
            groups.remove(group);
            link.leave(group.gid);
        }
        return was;
    }
}
