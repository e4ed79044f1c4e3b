package verbena.nic.kind.ib;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import verbena.nic.ManagementAgent;
import verbena.nic.kind.DeviceHost;
import verbena.nic.kind.roce.RoceKind;
import verbena.nic.kind.roce.Ways;
import verbena.nic.link.IbLink;
import verbena.verbs.AddressVector;
import verbena.verbs.Gid;
import verbena.wire.ib.NativePacket;
import verbena.wire.mad.Mad;
import verbena.wire.mad.PathRecord;
import verbena.wire.mad.Sa;

/// The ways to peers on InfiniBand: asks the subnet administration for path records (IBTA 15.2.5.16), and learns from
/// peers that ask for a connection, because ways are reversible. Engine-confined, but for [#complete].
final class IbWays implements Ways, ManagementAgent {
    /// Peers whose way is remembered; when there are more, all are forgotten.
    static final int KNOWN_MAX = 4_096;
    /// Datagrams that wait for an answer, at most.
    static final int WAITING_MAX = 1_024;
    /// How often a question is sent.
    static final int TIMES = 4;

    private static final long TIMEOUT_NANOS = 500_000_000L;
    /// How long an answer is believed.
    private static final long FRESH_NANOS = 60_000_000_000L;

    /// @param freshNanos until when it is believed
    private record Way(int lid, int serviceLevel, long freshNanos) {}

    /// A question under way, and what waits for its answer.
    private static final class Query {
        final MemorySegment mad;
        final Gid local;
        final List<Runnable> waiting = new ArrayList<>();
        int sent;
        long dueNanos;

        Query(MemorySegment mad, Gid local) {
            this.mad = mad;
            this.local = local;
        }
    }

    private final DeviceHost host;
    private final IbLink link;
    private final RoceKind roce;
    private final Map<Gid, Way> known = new ConcurrentHashMap<>();
    private final Map<Gid, Query> asked = new HashMap<>();
    private long transactionId;
    private int waiting;
    private boolean isRegistered;

    /// @param roce sends the questions, on queue pair 1
    IbWays(DeviceHost host, IbLink link, RoceKind roce) {
        this.host = host;
        this.link = link;
        this.roce = roce;
        this.transactionId = host.random().nextLong();
    }

    // ---- ways

    @Override
    public void find(Gid local, Gid remote, Runnable then) {
        Way way = known.get(remote);
        if (isByLid(remote) || (way != null && way.freshNanos > host.engine().nowNanos())) {
            then.run();
            return;
        }
        if (waiting == WAITING_MAX) {
            return; // a lost datagram: its sender asks again
        }
        waiting++;
        Query query = asked.get(remote);
        if (query == null) {
            query = new Query(question(local, remote), local);
            asked.put(remote, query);
            send(query, host.engine().nowNanos());
        }
        query.waiting.add(then);
    }

    private static boolean isByLid(Gid gid) {
        return NativePacket.isByLid(gid.high(), gid.low());
    }

    private MemorySegment question(Gid local, Gid remote) {
        MemorySegment mad = Mad.allocate();
        transactionId++;
        long given = PathRecord.HAS_DGID | PathRecord.HAS_SGID | PathRecord.HAS_NUMB_PATH;
        Sa.write(mad, Mad.METHOD_GET, transactionId, PathRecord.ATTRIBUTE, given);
        MemorySegment record = Sa.data(mad);
        PathRecord.DGID_HIGH.put(record, remote.high());
        PathRecord.DGID_LOW.put(record, remote.low());
        PathRecord.SGID_HIGH.put(record, local.high());
        PathRecord.SGID_LOW.put(record, local.low());
        PathRecord.NUMB_PATH.put(record, 1);
        return mad;
    }

    private void send(Query query, long nowNanos) {
        if (!isRegistered) {
            isRegistered = true;
            roce.serve(Mad.CLASS_SUBNET_ADMINISTRATION, this);
        }
        query.sent++;
        query.dueNanos = nowNanos + TIMEOUT_NANOS;
        int manager = link.port().subnetManagerLid();
        if (manager != 0) {
            roce.send(Mad.copyOf(query.mad), query.local, new Gid(0, manager));
        }
    }

    @Override
    public int lid(Gid remote) {
        Way way = known.get(remote);
        return isByLid(remote) ? (int) remote.low() : way == null ? 0 : way.lid;
    }

    @Override
    public AddressVector complete(AddressVector to) {
        Way way = known.get(to.destination());
        return way == null
                ? to
                : new AddressVector(
                        to.destination(),
                        to.sourceGidIndex(),
                        to.port(),
                        to.trafficClass(),
                        to.hopLimit(),
                        to.flowLabel(),
                        way.serviceLevel,
                        way.lid);
    }

    /// A later answer of the subnet administration replaces what was learned so.
    @Override
    public void onHeard(Gid remote, int lid) {
        if (!isByLid(remote) && !known.containsKey(remote)) {
            learn(remote, new Way(lid, 0, host.engine().nowNanos() + FRESH_NANOS));
        }
    }

    private void learn(Gid remote, Way way) {
        if (known.size() == KNOWN_MAX) {
            known.clear();
        }
        known.put(remote, way);
    }

    // ---- answers

    @Override
    public void onMad(MemorySegment mad, Gid local, Gid remote, long nowNanos) {
        if (Mad.method(mad) != Mad.METHOD_GET_RESPONSE
                || Mad.attributeId(mad) != PathRecord.ATTRIBUTE
                || !remote.equals(new Gid(0, link.port().subnetManagerLid()))) {
            return;
        }
        MemorySegment record = Sa.data(mad);
        var peer = new Gid(PathRecord.DGID_HIGH.get(record), PathRecord.DGID_LOW.get(record));
        Gid of = Mad.status(mad) == 0 ? peer : asker(Mad.transactionId(mad));
        Query query = asked.get(of);
        if (query == null || Mad.transactionId(query.mad) != Mad.transactionId(mad)) {
            return;
        }
        end(of, query);
        if (Mad.status(mad) == 0) {
            learn(of, new Way(PathRecord.DLID.getInt(record), PathRecord.SL.getInt(record), nowNanos + FRESH_NANOS));
            query.waiting.forEach(Runnable::run);
        }
    }

    /// The peer that a question was about; `::` when there is none.
    private Gid asker(long transaction) {
        for (var entry : asked.entrySet()) {
            if (Mad.transactionId(entry.getValue().mad) == transaction) {
                return entry.getKey();
            }
        }
        return new Gid(0, 0);
    }

    private void end(Gid of, Query query) {
        asked.remove(of);
        waiting -= query.waiting.size();
    }

    @Override
    public long deadlineNanos() {
        long first = Long.MAX_VALUE;
        for (Query query : asked.values()) {
            first = Math.min(first, query.dueNanos);
        }
        return first;
    }

    @Override
    public void onDeadline(long nowNanos) {
        for (var entry : List.copyOf(asked.entrySet())) {
            Query query = entry.getValue();
            if (query.dueNanos > nowNanos) {
                continue;
            }
            if (query.sent < TIMES) {
                send(query, nowNanos);
            } else {
                end(entry.getKey(), query); // what waited is lost
            }
        }
    }
}
