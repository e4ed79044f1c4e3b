package verbena.subnet.manager;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import verbena.subnet.Datagram;
import verbena.subnet.MadRoute;
import verbena.subnet.manager.SubnetNode.SubnetPort;
import verbena.subnet.rmpp.RmppSenders;
import verbena.wire.mad.ClassPortInfo;
import verbena.wire.mad.InformInfo;
import verbena.wire.mad.Mad;
import verbena.wire.mad.McMemberRecord;
import verbena.wire.mad.NodeRecord;
import verbena.wire.mad.PathRecord;
import verbena.wire.mad.PortInfoRecord;
import verbena.wire.mad.Rmpp;
import verbena.wire.mad.Sa;
import verbena.wire.mad.ServiceRecord;

/// The subnet administration: answers what ports want to know of the subnet, and keeps multicast groups,
/// services and subscriptions (IBTA 15). It works while its manager is the master; what it keeps ends with that.
public final class Administration {
    private static final int OK = 0;
    /// The most answers that are held; further answers leave early.
    private static final int HELD_MAX = 1_024;

    private final Records records;
    private final Groups groups;
    private final Services services = new Services();
    private final Subscriptions subscriptions;
    private final RmppSenders senders;
    private final Queue<Datagram> departures;
    /// Answers to members, until the switches forward the group's packets to them.
    private final Queue<Datagram> held = new ArrayDeque<>();

    private @Nullable Subnet subnet;

    Administration(Configuration configuration, Queue<Datagram> departures) {
        this.departures = departures;
        records = new Records(configuration);
        groups = new Groups(configuration);
        subscriptions = new Subscriptions(departures);
        senders = new RmppSenders(departures);
    }

    /// Returns the number of multicast groups.
    public int groups() {
        return groups.size();
    }

    /// Returns the number of registered services.
    public int services() {
        return services.size();
    }

    /// Returns the number of subscriptions to notices.
    public int subscriptions() {
        return subscriptions.size();
    }

    /// Returns the number of long answers under way.
    public int longAnswers() {
        return senders.size();
    }

    /// Handles the end of a sweep. Ports that have come or gone are announced when the subnet is up.
    void onSubnet(Subnet found) {
        subnet = found;
        records.onSubnet(found);
        groups.onSubnet(found);
        subscriptions.onSubnet(found);
    }

    void onUp(long nowNanos) {
        subscriptions.onUp(nowNanos);
        groups.tell(subscriptions, nowNanos);
    }

    void writeGroups() {
        groups.write();
    }

    /// Writes what has changed since.
    void flush(long nowNanos) {
        if (subnet != null) {
            groups.flush();
            groups.tell(subscriptions, nowNanos);
        }
    }

    /// Sends the held answers, now that all tables are written.
    void onWritten() {
        departures.addAll(held);
        held.clear();
    }

    void onTrap(MemorySegment notice, long nowNanos) {
        subscriptions.tell(notice, nowNanos);
    }

    long deadlineNanos() {
        return Math.min(senders.deadlineNanos(), Math.min(subscriptions.deadlineNanos(), services.deadlineNanos()));
    }

    void onDeadline(long nowNanos) {
        senders.onDeadline(nowNanos);
        subscriptions.onDeadline(nowNanos);
        services.onDeadline(nowNanos);
    }

    void onMad(Datagram request, int ownLid, long nowNanos) {
        MemorySegment mad = request.mad();
        MadRoute back = request.route().back(request.route().port(), ownLid);
        int method = Mad.method(mad);
        if (Rmpp.ACTIVE.getBoolean(mad) && Rmpp.TYPE.getInt(mad) >= Rmpp.ACK) {
            senders.onAnswer(request, nowNanos);
            return;
        }
        if (method == (Mad.METHOD_REPORT | Mad.RESPONSE)) {
            subscriptions.onAnswer(mad);
            return;
        }
        if ((method & Mad.RESPONSE) != 0) {
            return;
        }
        var found = new ArrayList<MemorySegment>();
        int status = Mad.classVersion(mad) == Mad.SUBNET_ADMINISTRATION_VERSION
                ? answer(request, method, found, nowNanos)
                : Mad.STATUS_BAD_VERSION;
        boolean table = method == Mad.METHOD_GET_TABLE;
        if (status == OK && !table && found.size() != 1) {
            status = found.isEmpty() ? Sa.STATUS_NO_RECORDS : Sa.STATUS_TOO_MANY_RECORDS;
        }
        Mad.answer(mad, method | Mad.RESPONSE, status);
        if (method == Mad.METHOD_SET) {
            Mad.answer(mad, Mad.METHOD_GET_RESPONSE, status);
        }
        int bytes = found.isEmpty() ? 0 : (int) (found.getFirst().byteSize() + 7) / 8;
        Sa.ATTRIBUTE_OFFSET.put(mad, table ? bytes : 0);
        if (table && status == OK) {
            senders.send(new Datagram(back, mad), found, nowNanos);
        } else {
            if (status == OK) {
                Sa.data(mad).fill((byte) 0).copyFrom(found.getFirst());
            }
            boolean isJoin = status == OK
                    && method == Mad.METHOD_SET
                    && Mad.attributeId(mad) == McMemberRecord.ATTRIBUTE
                    && held.size() < HELD_MAX;
            (isJoin ? held : departures).add(new Datagram(back, mad));
        }
    }

    /// Returns the status; the records of the answer are in `found`.
    private int answer(Datagram request, int method, List<MemorySegment> found, long nowNanos) {
        MemorySegment mad = request.mad();
        MemorySegment query = Sa.data(mad);
        long mask = Sa.COMPONENT_MASK.get(mad);
        Subnet current = subnet;
        SubnetPort asker =
                current == null ? null : current.byLid(request.route().slid());
        if (current == null || asker == null) {
            return Sa.STATUS_DENIED;
        }
        boolean reads = method == Mad.METHOD_GET || method == Mad.METHOD_GET_TABLE;
        boolean writes = method == Mad.METHOD_SET || method == Mad.METHOD_DELETE;
        if (!reads && !writes) {
            return Mad.STATUS_BAD_METHOD;
        }
        return switch (Mad.attributeId(mad)) {
            case ClassPortInfo.ATTRIBUTE ->
                method == Mad.METHOD_GET ? Records.classPortInfo(found) : Mad.STATUS_BAD_ATTRIBUTE;
            case NodeRecord.ATTRIBUTE -> reads ? records.nodes(mask, query, found) : Mad.STATUS_BAD_ATTRIBUTE;
            case PortInfoRecord.ATTRIBUTE ->
                reads ? records.ports(mask, query, Mad.attributeModifier(mad) < 0, found) : Mad.STATUS_BAD_ATTRIBUTE;
            case PathRecord.ATTRIBUTE ->
                reads ? records.paths(mask, query, method == Mad.METHOD_GET, found) : Mad.STATUS_BAD_ATTRIBUTE;
            case McMemberRecord.ATTRIBUTE ->
                switch (method) {
                    case Mad.METHOD_SET -> groups.join(mask, query, found);
                    case Mad.METHOD_DELETE -> groups.leave(mask, query, found);
                    default -> groups.find(mask, query, asker, found);
                };
            case ServiceRecord.ATTRIBUTE ->
                switch (method) {
                    case Mad.METHOD_SET -> services.register(query, found, nowNanos);
                    case Mad.METHOD_DELETE -> services.remove(mask, query, found);
                    default -> services.find(mask, query, found);
                };
            case InformInfo.ATTRIBUTE ->
                method == Mad.METHOD_SET
                        ? subscriptions.change(query, request.route(), found)
                        : Mad.STATUS_BAD_ATTRIBUTE;
            default -> Mad.STATUS_BAD_ATTRIBUTE;
        };
    }
}
