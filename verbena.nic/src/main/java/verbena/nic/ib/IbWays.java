package verbena.nic.ib;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import verbena.cm.CmCall;
import verbena.nic.kind.DeviceHost;
import verbena.nic.link.ib.IbLink;
import verbena.nic.roce.RoceKind;
import verbena.nic.roce.Ways;
import verbena.verbs.AddressVector;
import verbena.verbs.Gid;
import verbena.verbs.Mtu;
import verbena.verbs.StaticRate;
import verbena.verbs.spi.ConnectionService.GroupJoin;
import verbena.verbs.spi.ConnectionService.GroupListener;
import verbena.verbs.spi.ConnectionService.Watch;
import verbena.wire.ib.NativePacket;
import verbena.wire.mad.Mad;
import verbena.wire.mad.PathRecord;
import verbena.wire.mad.Sa;

/// The paths to peers on InfiniBand: asks the subnet administration for path records (IBTA 15.2.5.16), and learns
/// from peers that ask for a connection, because ways are reversible. A port with several LIDs has a second way, by
/// the next LID of both ends: requests for connections name it as the alternate path. Engine-confined, but for
/// [#complete] and [#join].
final class IbWays implements Ways {
    /// The number of peers whose path is kept; when there are more, all are dropped.
    static final int KNOWN_MAX = 4_096;
    /// The largest number of datagrams that wait for an answer.
    static final int WAITING_MAX = 1_024;
    /// The time for which an answer is used.
    private static final long FRESH_NANOS = 60_000_000_000L;

    /// @param mtu the largest on the way, as a code
    /// @param rate `enum ibv_rate`; 0 when it is not known
    /// @param freshNanos until when it is believed
    /// @param datagramLid where management datagrams go: not to the LID of a path that has failed
    /// @param alternate the second way; null when there is none, or it is not known
    private record Way(
            int lid,
            int serviceLevel,
            int mtu,
            int rate,
            int hopLimit,
            @Nullable Way alternate,
            int datagramLid,
            long freshNanos) {
        static Way of(MemorySegment record, long freshNanos) {
            return new Way(
                    PathRecord.DLID.getInt(record),
                    PathRecord.SL.getInt(record),
                    PathRecord.MTU.getInt(record),
                    PathRecord.RATE.getInt(record),
                    PathRecord.HOP_LIMIT.getInt(record),
                    null,
                    PathRecord.DLID.getInt(record),
                    freshNanos);
        }

        /// Returns a path learned from a datagram, of which only the LID is known.
        static Way heard(int lid, long freshNanos) {
            return new Way(lid, 0, Mtu.MTU_4096.code(), 0, 0, null, lid, freshNanos);
        }

        Way with(Way second) {
            return new Way(lid, serviceLevel, mtu, rate, hopLimit, second, datagramLid, freshNanos);
        }

        Way withDatagramsTo(int other) {
            return new Way(lid, serviceLevel, mtu, rate, hopLimit, alternate, other, freshNanos);
        }

        /// Returns the path for the connection manager. A hop limit below 2 means that no router is on it.
        CmCall.Path from(int ownLid, int rateUnlessKnown) {
            return new CmCall.Path(
                    ownLid, lid, serviceLevel, hopLimit < 2, rate == 0 ? rateUnlessKnown : rate, hopLimit);
        }
    }

    private final DeviceHost host;
    private final IbLink link;
    private final SubnetQuestions questions;
    private final IbGroups groups;
    private final Map<Gid, Way> known = new ConcurrentHashMap<>();
    /// The callers, by peer, that wait for the answer to a question under way.
    private final Map<Gid, List<Found>> asked = new HashMap<>();

    private int waiting;

    /// @param roce sends the questions, on queue pair 1
    IbWays(DeviceHost host, IbLink link, RoceKind roce) {
        this.host = host;
        this.link = link;
        questions = new SubnetQuestions(link, roce, host.random().nextLong());
        groups = new IbGroups(host, link, questions);
        link.onPortChange(groups::onPortChange);
        link.onGroups((group, isWanted) -> {
            if (isWanted) {
                groups.join(group, IbGroups.Role.RECEIVER);
            } else {
                groups.leave(group, IbGroups.Role.RECEIVER);
            }
        });
    }

    // ---- ways

    @Override
    public void find(Gid local, Gid remote, Found then) {
        Way way = known.get(remote);
        if (isByLid(remote) || (way != null && way.freshNanos > host.engine().nowNanos())) {
            then.on(true);
            return;
        }
        if (waiting == WAITING_MAX) {
            then.on(false); // a lost datagram: its sender asks again
            return;
        }
        waiting++;
        List<Found> others = asked.get(remote);
        if (others == null) {
            others = new ArrayList<>();
            asked.put(remote, others);
            questions.ask(
                    question(local, remote, 0),
                    local,
                    (mad, now) -> onAnswer(local, remote, mad, now),
                    host.engine().nowNanos());
        }
        others.add(then);
    }

    private static boolean isByLid(Gid gid) {
        return NativePacket.isByLid(gid.high(), gid.low());
    }

    private MemorySegment question(Gid local, Gid remote, long more) {
        long given = PathRecord.HAS_DGID | PathRecord.HAS_SGID | PathRecord.HAS_NUMB_PATH | more;
        MemorySegment mad = questions.question(Mad.METHOD_GET, PathRecord.ATTRIBUTE, given);
        MemorySegment record = Sa.data(mad);
        PathRecord.DGID_HIGH.put(record, remote.high());
        PathRecord.DGID_LOW.put(record, remote.low());
        PathRecord.SGID_HIGH.put(record, local.high());
        PathRecord.SGID_LOW.put(record, local.low());
        PathRecord.NUMB_PATH.put(record, 1);
        return mad;
    }

    private void onAnswer(Gid local, Gid remote, @Nullable MemorySegment mad, long nowNanos) {
        Way way = way(mad, nowNanos);
        if (way == null || link.port().lmc() == 0) {
            found(remote, way);
            return;
        }
        questions.ask(
                secondQuestion(local, remote, way.lid),
                local,
                (second, now) -> {
                    Way next = way(second, now);
                    found(remote, next == null || next.mtu < way.mtu ? way : way.with(next));
                },
                nowNanos);
    }

    /// Returns the question for the path between the next LIDs of both ports. The administration knows none when
    /// the peer's port has one LID only.
    private MemorySegment secondQuestion(Gid local, Gid remote, int lid) {
        MemorySegment mad = question(local, remote, PathRecord.HAS_SLID | PathRecord.HAS_DLID);
        PathRecord.SLID.put(Sa.data(mad), link.port().lid() ^ 1);
        PathRecord.DLID.put(Sa.data(mad), lid ^ 1);
        return mad;
    }

    private static @Nullable Way way(@Nullable MemorySegment mad, long nowNanos) {
        return mad != null && Mad.status(mad) == 0 ? Way.of(Sa.data(mad), nowNanos + FRESH_NANOS) : null;
    }

    /// Ends a search: learns the path, if any, and calls all that have waited for it.
    private void found(Gid remote, @Nullable Way way) {
        List<Found> waited = Objects.requireNonNullElse(asked.remove(remote), List.of());
        waiting -= waited.size();
        if (way != null) {
            learn(remote, way);
        }
        waited.forEach(then -> then.on(way != null));
    }

    @Override
    public int lid(Gid remote) {
        Way way = known.get(remote);
        return isByLid(remote) ? (int) remote.low() : way == null ? 0 : way.datagramLid;
    }

    @Override
    public AddressVector complete(AddressVector to) {
        Way way = known.get(to.destination());
        return way == null
                ? to
                : to.withServiceLevel(way.serviceLevel)
                        .withDestinationLid(way.lid)
                        .withStaticRate(rate(way.rate));
    }

    /// Completes a call with the path records, from which both queue pairs are set (IBTA 12.7).
    @Override
    public CmCall complete(CmCall call, Gid remote) {
        Way way = known.get(remote);
        if (way == null) {
            return call;
        }
        int own = link.port().lid();
        int rate = call.primary().packetRate();
        Way second = way.alternate;
        CmCall.Path alternate = second == null ? null : second.from(own ^ 1, rate);
        return call.by(link.pkeys()[0], way.mtu, way.from(own, rate), alternate);
    }

    @Override
    public int pathBits(int lid) {
        int bits = lid - link.port().lid();
        return bits >= 0 && bits < 1 << link.port().lmc() ? bits : -1;
    }

    @Override
    public StaticRate rate(int code) {
        return StaticRate.ofCode(code).filter(link.port()::isFasterThan).orElse(StaticRate.PORT);
    }

    @Override
    public void onMigrated(Gid remote, int lid) {
        known.computeIfPresent(remote, (_, way) -> way.withDatagramsTo(lid));
    }

    @Override
    public boolean canMigrate() {
        return true;
    }

    /// Learns the LID of a peer. A later answer of the subnet administration replaces it.
    @Override
    public void onHeard(Gid remote, int lid) {
        if (!isByLid(remote) && !known.containsKey(remote)) {
            learn(remote, Way.heard(lid, host.engine().nowNanos() + FRESH_NANOS));
        }
    }

    private void learn(Gid remote, Way way) {
        if (known.size() == KNOWN_MAX) {
            known.clear();
        }
        known.put(remote, way);
    }

    // ---- partitions

    @Override
    public int pkey() {
        return link.defaultPkey();
    }

    // ---- multicast

    @Override
    public Watch join(GroupJoin join, GroupListener listener) {
        IbGroups.Role role = join.isSendOnly() ? IbGroups.Role.SENDER : IbGroups.Role.RECEIVER;
        host.engine().call(() -> {
            groups.join(join.group(), role);
            groups.await(join.group(), role, new IbGroups.Listener() {
                @Override
                public void onJoined(IbGroups.Properties it) {
                    var path = AddressVector.to(join.group(), join.gidIndex())
                            .withDestinationLid(it.lid())
                            .withServiceLevel(it.serviceLevel())
                            .withStaticRate(rate(it.rate()));
                    listener.onJoined(path, it.qkey());
                }

                @Override
                public void onRefused(String why) {
                    listener.onRefused("multicast group " + join.group() + ": " + why);
                }
            });
            return true;
        });
        return () -> host.engine().call(() -> {
            groups.leave(join.group(), role);
            return true;
        });
    }
}
