package verbena.ibverbs.objects;

import static verbena.foreign.rdma.VerbsStructs.QP_ATTR;

import java.util.EnumSet;
import java.util.Set;
import verbena.foreign.Memory;
import verbena.ibverbs.lib.AddressVectors;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressVector;
import verbena.verbs.AlternatePath;
import verbena.verbs.Context;
import verbena.verbs.Endpoint;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.Mtu;
import verbena.verbs.PathMigration;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.RnrTimer;

/// A modification as a `struct ibv_qp_attr`, its values checked.
final class Modification {
    private static final Set<Access> REMOTE = EnumSet.of(
            Access.REMOTE_READ,
            Access.REMOTE_WRITE,
            Access.REMOTE_ATOMIC,
            Access.FLUSH_GLOBAL,
            Access.FLUSH_PERSISTENT);

    private final QpModification wanted;

    Modification(QpModification wanted) {
        this.wanted = wanted;
    }

    /// @param at zeroed
    /// @throws InvalidAttributesException when a value is out of range
    void write(long at, Context context) {
        var limits = context.attributes();
        int port = number(QpAttribute.PORT, 1, limits.physicalPorts(), 1);
        putState(at, "qp_state", QpAttribute.STATE);
        putState(at, "cur_qp_state", QpAttribute.CUR_STATE);
        Mtu mtu = wanted.get(QpAttribute.PATH_MTU, Mtu.MTU_256);
        if (wanted.has(QpAttribute.PATH_MTU)) {
            Mtu active = context.port(port).activeMtu();
            if (mtu.compareTo(active) > 0) {
                throw new InvalidAttributesException("modify: PATH_MTU " + mtu + " is more than " + active
                        + ", the port's active MTU; see the network interface's own MTU");
            }
        }
        Memory.putInt(at + QP_ATTR.at("path_mtu"), mtu.code());
        Memory.putInt(at + QP_ATTR.at("qkey"), wanted.get(QpAttribute.QKEY, 0));
        Memory.putInt(at + QP_ATTR.at("rq_psn"), number(QpAttribute.RQ_PSN, 0, Endpoint.PSN_MASK, 0));
        Memory.putInt(at + QP_ATTR.at("sq_psn"), number(QpAttribute.SQ_PSN, 0, Endpoint.PSN_MASK, 0));
        Memory.putInt(at + QP_ATTR.at("dest_qp_num"), number(QpAttribute.DEST_QPN, 0, Endpoint.QPN_MASK, 0));
        Memory.putInt(at + QP_ATTR.at("qp_access_flags"), accessBits(wanted));
        int pkeys = wanted.has(QpAttribute.PKEY_INDEX)
                ? Math.max(1, context.port(port).pkeyTableLength())
                : 1;
        Memory.putShort(at + QP_ATTR.at("pkey_index"), number(QpAttribute.PKEY_INDEX, 0, pkeys - 1, 0));
        Memory.putByte(at + QP_ATTR.at("port_num"), port);
        Memory.putByte(
                at + QP_ATTR.at("max_rd_atomic"),
                number(QpAttribute.MAX_QP_RD_ATOMIC, 0, limits.transport().maxQpInitiatorReadAtomic(), 0));
        Memory.putByte(
                at + QP_ATTR.at("max_dest_rd_atomic"),
                number(QpAttribute.MAX_DEST_RD_ATOMIC, 0, limits.transport().maxQpReadAtomic(), 0));
        Memory.putByte(at + QP_ATTR.at("retry_cnt"), number(QpAttribute.RETRY_CNT, 0, 7, 0));
        Memory.putByte(at + QP_ATTR.at("rnr_retry"), number(QpAttribute.RNR_RETRY, 0, 7, 0));
        Memory.putByte(
                at + QP_ATTR.at("min_rnr_timer"),
                wanted.get(QpAttribute.MIN_RNR_TIMER, new RnrTimer(0)).code());
        Memory.putByte(
                at + QP_ATTR.at("timeout"),
                wanted.get(QpAttribute.TIMEOUT, AckTimeout.NEVER).code());
        Memory.putByte(
                at + QP_ATTR.at("en_sqd_async_notify"), wanted.get(QpAttribute.EN_SQD_ASYNC_NOTIFY, false) ? 1 : 0);
        if (wanted.has(QpAttribute.AV)) {
            putPath(at + QP_ATTR.at("ah_attr"), QpAttribute.AV, wanted.get(QpAttribute.AV, NO_PATH), context);
        }
        if (wanted.has(QpAttribute.ALT_PATH)) {
            var to = wanted.get(QpAttribute.ALT_PATH, NO_ALTERNATE);
            putPath(at + QP_ATTR.at("alt_ah_attr"), QpAttribute.ALT_PATH, to.path(), context);
            Memory.putShort(at + QP_ATTR.at("alt_pkey_index"), to.pkeyIndex());
            Memory.putByte(at + QP_ATTR.at("alt_port_num"), to.path().port());
            Memory.putByte(at + QP_ATTR.at("alt_timeout"), to.timeout().code());
        }
        Memory.putInt(
                at + QP_ATTR.at("path_mig_state"),
                wanted.get(QpAttribute.PATH_MIG_STATE, PathMigration.MIGRATED).code());
    }

    private void putState(long at, String field, QpAttribute attribute) {
        Memory.putInt(
                at + QP_ATTR.at(field), wanted.get(attribute, QpState.RESET).code());
    }

    private static void putPath(long at, QpAttribute attribute, AddressVector to, Context context) {
        IbvAddressHandle.check("modify: " + attribute, context, to);
        AddressVectors.write(to, at);
    }

    private static final AddressVector NO_PATH = AddressVector.to(new verbena.verbs.Gid(0, 0), 0);
    private static final AlternatePath NO_ALTERNATE = new AlternatePath(NO_PATH, 0, AckTimeout.NEVER);

    private int number(QpAttribute attribute, int min, int max, int otherwise) {
        int value = wanted.get(attribute, otherwise);
        if (wanted.has(attribute) && (value < min || value > max)) {
            throw new InvalidAttributesException("modify: " + attribute + ": "
                    + (min == max ? min + " is the only one" : min + " to " + max) + ", got " + value);
        }
        return value;
    }

    /// Returns its rights as C's flags.
    static int accessBits(QpModification wanted) {
        int bits = 0;
        for (Access each : wanted.get(QpAttribute.ACCESS_FLAGS, Set.<Access>of())) {
            bits |= REMOTE.contains(each) ? each.bit() : 0;
        }
        return bits;
    }

    /// Returns the rights of a queue pair, from C's flags.
    static Set<Access> access(int flags) {
        var access = EnumSet.noneOf(Access.class);
        for (Access each : REMOTE) {
            if ((flags & each.bit()) != 0) {
                access.add(each);
            }
        }
        return access;
    }
}
