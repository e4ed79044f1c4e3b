package verbena.nic.ib;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.nic.kind.DeviceHost;
import verbena.nic.link.ib.IbLink;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Gid;
import verbena.wire.mad.Mad;
import verbena.wire.mad.McMemberRecord;
import verbena.wire.mad.Sa;

/// The multicast groups that the port of a device is a member of (IBTA 15.2.5.17): joins by the subnet
/// administration for the first that wants a group, leaves with the last, and joins again when a subnet manager asks
/// clients to register. Engine-confined.
final class IbGroups {
    /// The membership of the port: it gets the packets, or it only sends. Either keeps the group alive.
    enum Role {
        RECEIVER(McMemberRecord.FULL_MEMBER),
        SENDER(McMemberRecord.SEND_ONLY_FULL_MEMBER);

        private final int joinState;

        Role(int joinState) {
            this.joinState = joinState;
        }
    }

    /// A listener for the result of a membership, called once.
    interface Listener {
        /// Called when the port has joined and packets travel.
        void onJoined(Properties properties);

        /// Called when the subnet administration has refused it, or has not answered. The caller still has to
        /// leave.
        void onRefused(String why);
    }

    /// The properties that all packets of a group have.
    ///
    /// @param rate `enum ibv_rate`
    record Properties(int lid, int serviceLevel, int rate, int qkey) {}

    /// The Q_Key of a group that is made by joining: rdma_cm gives it to groups.
    static final int QKEY_DEFAULT = 0x0123_4567;

    private static final long MEMBER =
            McMemberRecord.HAS_MGID | McMemberRecord.HAS_PORT_GID | McMemberRecord.HAS_JOIN_STATE;
    private static final long CREATES = MEMBER
            | McMemberRecord.HAS_Q_KEY
            | McMemberRecord.HAS_TRAFFIC_CLASS
            | McMemberRecord.HAS_P_KEY
            | McMemberRecord.HAS_SL
            | McMemberRecord.HAS_FLOW_LABEL;

    private record Waiting(Role role, Listener listener) {}

    private static final class Membership {
        final Gid group;
        final int[] members = new int[Role.values().length];
        final List<Waiting> waiting = new ArrayList<>();
        /// The join states that the subnet administration knows of.
        int joined;

        boolean isJoining;
        /// The number of leaves without an answer yet. A join waits for them, so that it is not overtaken.
        int leaving;

        @Nullable
        Properties properties;

        Membership(Gid group) {
            this.group = group;
        }

        int wanted() {
            int states = 0;
            for (Role role : Role.values()) {
                states |= members[role.ordinal()] > 0 ? role.joinState : 0;
            }
            return states;
        }
    }

    private final DeviceHost host;
    private final IbLink link;
    private final SubnetQuestions questions;
    private final Map<Gid, Membership> memberships = new HashMap<>();

    IbGroups(DeviceHost host, IbLink link, SubnetQuestions questions) {
        this.host = host;
        this.link = link;
        this.questions = questions;
    }

    /// Adds a user of the membership; [#leave] removes it.
    void join(Gid group, Role role) {
        Membership membership = memberships.computeIfAbsent(group, Membership::new);
        membership.members[role.ordinal()]++;
        attend(membership);
    }

    void leave(Gid group, Role role) {
        Membership membership = memberships.get(group);
        if (membership != null && membership.members[role.ordinal()] > 0) {
            membership.members[role.ordinal()]--;
            attend(membership);
        }
    }

    /// Calls the listener when packets of a group travel; at once when they do already.
    void await(Gid group, Role role, Listener listener) {
        Membership membership = memberships.get(group);
        if (membership == null) {
            listener.onRefused("it was left meanwhile");
            return;
        }
        membership.waiting.add(new Waiting(role, listener));
        attend(membership);
    }

    /// Registers again: the manager's records may be lost, or the port was away.
    void onPortChange(AsyncEvent.Type type) {
        if (type == AsyncEvent.Type.CLIENT_REREGISTER || type == AsyncEvent.Type.PORT_ACTIVE) {
            for (Membership membership : List.copyOf(memberships.values())) {
                membership.joined = 0;
                attend(membership);
            }
        }
    }

    /// Joins a group that is wanted and not joined, or leaves a group that is joined and not wanted.
    private void attend(Membership membership) {
        int wanted = membership.wanted();
        tellThoseThatAre(membership);
        if (membership.isJoining) {
            return;
        }
        int missing = wanted & ~membership.joined;
        int surplus = membership.joined & ~wanted;
        if (surplus != 0) {
            membership.joined &= ~surplus;
            membership.leaving++;
            send(membership, Mad.METHOD_DELETE, surplus, MEMBER, (_, _) -> {
                membership.leaving--;
                attend(membership);
            });
        }
        if (missing != 0 && membership.leaving == 0) {
            membership.isJoining = true;
            ask(membership, missing, MEMBER);
        }
        if (wanted == 0) {
            link.forward(membership.group, 0);
            if (membership.leaving == 0) {
                memberships.remove(membership.group);
            }
        }
    }

    private static void tellThoseThatAre(Membership membership) {
        Properties properties = membership.properties;
        for (Waiting one : List.copyOf(membership.waiting)) {
            if (properties != null && (membership.joined & one.role.joinState) != 0) {
                membership.waiting.remove(one);
                one.listener.onJoined(properties);
            }
        }
    }

    /// Joins a group that there is; when there is none, makes it.
    private void ask(Membership membership, int states, long components) {
        send(membership, Mad.METHOD_SET, states, components, (mad, _) -> {
            if (mad != null && Mad.status(mad) != 0 && components == MEMBER) {
                ask(membership, states, CREATES);
                return;
            }
            membership.isJoining = false;
            if (mad != null && Mad.status(mad) == 0) {
                onJoined(membership, states, Sa.data(mad));
            } else {
                onRefused(
                        membership,
                        states,
                        mad == null
                                ? "the subnet administration has not answered"
                                : "the subnet administration has refused it, status 0x%04x".formatted(Mad.status(mad)));
            }
        });
    }

    private void onJoined(Membership membership, int states, MemorySegment record) {
        var properties = new Properties(
                McMemberRecord.MLID.getInt(record),
                McMemberRecord.SL.getInt(record),
                McMemberRecord.RATE.getInt(record),
                (int) McMemberRecord.Q_KEY.get(record));
        membership.properties = properties;
        membership.joined |= states;
        link.forward(membership.group, properties.lid);
        attend(membership);
    }

    private void onRefused(Membership membership, int states, String why) {
        for (Waiting one : List.copyOf(membership.waiting)) {
            if ((states & one.role.joinState) != 0) {
                membership.waiting.remove(one);
                one.listener.onRefused(why);
            }
        }
        if (membership.wanted() == 0) {
            attend(membership);
        }
    }

    private void send(
            Membership membership, int method, int states, long components, SubnetQuestions.Answered answered) {
        MemorySegment mad = questions.question(method, McMemberRecord.ATTRIBUTE, components);
        MemorySegment record = Sa.data(mad);
        Gid own = link.gids().getFirst().gid();
        McMemberRecord.MGID_HIGH.put(record, membership.group.high());
        McMemberRecord.MGID_LOW.put(record, membership.group.low());
        McMemberRecord.PORT_GID_HIGH.put(record, own.high());
        McMemberRecord.PORT_GID_LOW.put(record, own.low());
        McMemberRecord.JOIN_STATE.put(record, states);
        if (components == CREATES) {
            McMemberRecord.Q_KEY.put(record, QKEY_DEFAULT);
            McMemberRecord.P_KEY.put(record, link.defaultPkey());
        }
        questions.ask(mad, own, answered, host.engine().nowNanos());
    }
}
