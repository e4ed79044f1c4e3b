package verbena.subnet.manager;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.subnet.Datagram;
import verbena.subnet.MadRoute;
import verbena.subnet.manager.SubnetNode.SubnetPort;
import verbena.wire.mad.InformInfo;
import verbena.wire.mad.Mad;
import verbena.wire.mad.Notice;
import verbena.wire.mad.PortInfo;
import verbena.wire.mad.Sa;

/// The subscriptions to notices (IBTA 13.4.11), and the reports that are under way. A report is sent again until it
/// is answered or was sent [#TIMES].
final class Subscriptions {
    static final int TIMES = 4;
    private static final int MOST = 1024;
    private static final int REPORTS_MAX = 4096;
    private static final long APART_NANOS = 500_000_000L;

    private record Subscription(MemorySegment info, MadRoute route) {}

    private static final class Report {
        final Datagram datagram;
        int told;
        long dueNanos;

        Report(Datagram datagram) {
            this.datagram = datagram;
        }
    }

    private final Queue<Datagram> departures;
    private final List<Subscription> subscriptions = new ArrayList<>();
    private final List<Report> reports = new ArrayList<>();
    private Set<Long> present = new HashSet<>();
    private final List<long[]> changes = new ArrayList<>();
    private @Nullable Subnet subnet;
    private long transactionId;

    Subscriptions(Queue<Datagram> departures) {
        this.departures = departures;
    }

    int size() {
        return subscriptions.size();
    }

    int change(MemorySegment query, MadRoute route, List<MemorySegment> found) {
        MemorySegment info = MemorySegment.ofArray(new byte[InformInfo.BYTES]);
        info.copyFrom(query.asSlice(0, InformInfo.BYTES));
        boolean begins = InformInfo.SUBSCRIBE.getInt(info) == 1;
        InformInfo.SUBSCRIBE.put(info, 0);
        var wanted = new Subscription(info, route);
        boolean known = subscriptions.removeIf(one -> isSame(one, wanted));
        if (begins && subscriptions.size() == MOST) {
            return Sa.STATUS_NO_RESOURCES;
        }
        if (!begins && !known) {
            return Sa.STATUS_REQUEST_INVALID;
        }
        if (begins) {
            subscriptions.add(wanted);
        }
        found.add(query.asSlice(0, InformInfo.BYTES));
        return 0;
    }

    private static boolean isSame(Subscription one, Subscription other) {
        return one.route.slid() == other.route.slid()
                && one.route.sourceQpn() == other.route.sourceQpn()
                && one.info.mismatch(other.info) < 0;
    }

    /// Notes which ports have come and gone.
    void onSubnet(Subnet found) {
        boolean first = subnet == null;
        subnet = found;
        var now = new HashSet<Long>();
        for (SubnetPort port : found.endPorts()) {
            now.add(port.guid());
            if (!first && !present.contains(port.guid())) {
                changes.add(new long[] {Notice.GID_IN_SERVICE, port.guid()});
            }
        }
        for (long guid : present) {
            if (!now.contains(guid)) {
                changes.add(new long[] {Notice.GID_OUT_OF_SERVICE, guid});
            }
        }
        present = now;
        subscriptions.removeIf(one -> found.byLid(one.route.slid()) == null);
    }

    /// Reports the ports that have come and gone, now that the subnet is up and they can be reached.
    void onUp(long nowNanos) {
        for (long[] change : changes) {
            tellOfGid((int) change[0], prefix(), change[1], nowNanos);
        }
        changes.clear();
    }

    private long prefix() {
        return subnet == null ? 0 : PortInfo.GID_PREFIX.get(subnet.own().info());
    }

    /// Reports an event that the manager itself has seen.
    void tellOfGid(int trap, long high, long low, long nowNanos) {
        MemorySegment notice = MemorySegment.ofArray(new byte[Notice.BYTES]);
        Notice.IS_GENERIC.put(notice, true);
        Notice.TYPE.put(notice, Notice.SUBNET_MANAGEMENT);
        Notice.PRODUCER_TYPE.put(notice, Notice.PRODUCER_CLASS_MANAGER);
        Notice.TRAP_NUMBER.put(notice, trap);
        Notice.ISSUER_LID.put(notice, subnet == null ? 0 : subnet.own().lid());
        Notice.GID_HIGH.put(notice, high);
        Notice.GID_LOW.put(notice, low);
        tell(notice, nowNanos);
    }

    /// Reports a notice to all subscribers that have asked for it.
    ///
    /// @param notice with or without room for the GID of its issuer
    void tell(MemorySegment notice, long nowNanos) {
        for (Subscription one : subscriptions) {
            if (wants(one, notice) && reports.size() < REPORTS_MAX) {
                MemorySegment mad = Mad.allocate();
                transactionId++;
                Sa.write(mad, Mad.METHOD_REPORT, transactionId, Notice.ATTRIBUTE, 0);
                MemorySegment data = Sa.data(mad);
                data.copyFrom(notice);
                issuer(data);
                int qpn = InformInfo.QPN.getInt(one.info);
                MadRoute back = one.route.back(one.route.port(), one.route.dlid());
                var route = new MadRoute(
                        back.port(), back.slid(), back.dlid(), 0, Mad.QPN, qpn == 0 ? Mad.QPN : qpn, back.pkey());
                var report = new Report(new Datagram(route, mad));
                report.dueNanos = nowNanos;
                reports.add(report);
            }
        }
        onDeadline(nowNanos);
    }

    private void issuer(MemorySegment notice) {
        SubnetPort port = subnet == null ? null : subnet.byLid(Notice.ISSUER_LID.getInt(notice));
        Notice.ISSUER_GID_HIGH.put(notice, prefix());
        Notice.ISSUER_GID_LOW.put(notice, port == null ? 0 : port.guid());
    }

    private static boolean wants(Subscription one, MemorySegment notice) {
        int trap = InformInfo.TRAP_NUMBER.getInt(one.info);
        int type = InformInfo.TYPE.getInt(one.info);
        int producer = InformInfo.PRODUCER_TYPE.getInt(one.info);
        int begin = InformInfo.LID_BEGIN.getInt(one.info);
        int issuer = Notice.ISSUER_LID.getInt(notice);
        boolean byLid = begin == 0
                || begin == InformInfo.ANY
                || (issuer >= begin && issuer <= Math.max(begin, InformInfo.LID_END.getInt(one.info)));
        return byLid
                && (trap == InformInfo.ANY || trap == Notice.TRAP_NUMBER.getInt(notice))
                && (type == InformInfo.ANY || type == Notice.TYPE.getInt(notice))
                && (producer == InformInfo.ANY_PRODUCER || producer == Notice.PRODUCER_TYPE.getInt(notice));
    }

    void onAnswer(MemorySegment mad) {
        reports.removeIf(one -> Mad.transactionId(one.datagram.mad()) == Mad.transactionId(mad));
    }

    long deadlineNanos() {
        return reports.stream().mapToLong(one -> one.dueNanos).min().orElse(Long.MAX_VALUE);
    }

    void onDeadline(long nowNanos) {
        for (Report one : List.copyOf(reports)) {
            if (one.dueNanos <= nowNanos) {
                if (one.told == TIMES) {
                    reports.remove(one);
                } else {
                    one.told++;
                    one.dueNanos = nowNanos + APART_NANOS;
                    departures.add(new Datagram(one.datagram.route(), Mad.copyOf(one.datagram.mad())));
                }
            }
        }
    }
}
