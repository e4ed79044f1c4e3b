package verbena.abi.verbs;

import static verbena.foreign.rdma.VerbsStructs.QP;
import static verbena.foreign.rdma.VerbsStructs.QP_ATTR;
import static verbena.foreign.rdma.VerbsStructs.QP_CAP;
import static verbena.foreign.rdma.VerbsStructs.QP_INIT_ATTR;
import static verbena.foreign.rdma.VerbsStructs.QP_INIT_ATTR_EX;
import static verbena.foreign.rdma.VerbsStructs.QP_OPEN_ATTR;
import static verbena.foreign.rdma.VerbsStructs.SRQ_ATTR;
import static verbena.foreign.rdma.VerbsStructs.SRQ_INIT_ATTR;
import static verbena.foreign.rdma.VerbsStructs.SRQ_INIT_ATTR_EX;
import static verbena.foreign.rdma.VerbsStructs.XRCD_INIT_ATTR;

import java.util.EnumSet;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import verbena.abi.Errno;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.foreign.Memory;
import verbena.foreign.rdma.VerbsConstants;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressVector;
import verbena.verbs.AlternatePath;
import verbena.verbs.Capability;
import verbena.verbs.Endpoint;
import verbena.verbs.Mtu;
import verbena.verbs.PathMigration;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairAttributes;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RnrTimer;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.UnsupportedException;

/// Queue pairs and shared receive queues: made, changed, asked.
public final class QueueCalls {
    private static final int ALL_ATTRIBUTES = (1 << 21) - 1;

    /// Programs send inline without having asked for room, because every provider gives some.
    private static final int INLINE_AT_LEAST = 64;

    // Of open(2).
    private static final int O_CREAT = 0x40;
    private static final int O_EXCL = 0x80;

    private QueueCalls() {}

    // ---- shared receive queues

    public static long createSrq(long pd, long attributes) {
        var domain = DomainHandle.get(pd);
        long attr = Native.some(attributes) + SRQ_INIT_ATTR.at("attr");
        SharedReceiveQueue made = domain.domain.createSharedReceiveQueue(Memory.getInt(attr), Memory.getInt(attr + 4));
        Memory.putInt(attr, made.maxWr());
        Memory.putInt(attr + 4, made.maxSge());
        return SharedReceivesHandle.of(made, domain, Memory.getLong(attributes)).pointer;
    }

    public static long createSrqEx(long context, long attributes) {
        Handles.get(context, ContextHandle.class);
        int mask = Memory.getInt(Native.some(attributes) + SRQ_INIT_ATTR_EX.at("comp_mask"));
        if ((mask & VerbsConstants.IBV_SRQ_INIT_ATTR_PD) == 0) {
            return Errno.EINVAL;
        }
        int type = (mask & VerbsConstants.IBV_SRQ_INIT_ATTR_TYPE) == 0
                ? VerbsConstants.IBV_SRQT_BASIC
                : Memory.getInt(attributes + SRQ_INIT_ATTR_EX.at("srq_type"));
        long pd = Memory.getLong(attributes + SRQ_INIT_ATTR_EX.at("pd"));
        return switch (type) {
            case VerbsConstants.IBV_SRQT_BASIC -> createSrq(pd, attributes);
            case VerbsConstants.IBV_SRQT_XRC -> createXrcSrq(DomainHandle.get(pd), attributes, mask);
            default -> Errno.EOPNOTSUPP;
        };
    }

    private static long createXrcSrq(DomainHandle domain, long attributes, int mask) {
        int needed = VerbsConstants.IBV_SRQ_INIT_ATTR_XRCD | VerbsConstants.IBV_SRQ_INIT_ATTR_CQ;
        if ((mask & needed) != needed) {
            return Errno.EINVAL;
        }
        var xrcd = XrcDomainHandle.get(Memory.getLong(attributes + SRQ_INIT_ATTR_EX.at("xrcd")));
        var cq = CompletionQueueHandle.byNumber(Memory.getLong(attributes + SRQ_INIT_ATTR_EX.at("cq"))).cq;
        long attr = attributes + SRQ_INIT_ATTR_EX.at("attr");
        SharedReceiveQueue made =
                xrcd.object().createSharedReceiveQueue(domain.domain, cq, Memory.getInt(attr), Memory.getInt(attr + 4));
        Memory.putInt(attr, made.maxWr());
        Memory.putInt(attr + 4, made.maxSge());
        return SharedReceivesHandle.of(made, domain, Memory.getLong(attributes)).pointer;
    }

    /// Writes the number of a shared receive queue: queues that peers name have one.
    static long getSrqNum(long srq, long into) {
        OptionalInt number = SharedReceivesHandle.byNumber(srq).srq.number();
        if (number.isEmpty()) {
            return Errno.EOPNOTSUPP;
        }
        Memory.putInt(Native.some(into), number.getAsInt());
        return 0;
    }

    // ---- XRC domains

    static long openXrcd(long context, long attributes) {
        int mask = Memory.getInt(Native.some(attributes) + XRCD_INIT_ATTR.at("comp_mask"));
        if (mask != (VerbsConstants.IBV_XRCD_INIT_ATTR_FD | VerbsConstants.IBV_XRCD_INIT_ATTR_OFLAGS)) {
            return Errno.EINVAL;
        }
        int flags = Memory.getInt(attributes + XRCD_INIT_ATTR.at("oflags"));
        return XrcDomainHandle.open(
                Handles.get(context, ContextHandle.class),
                Memory.getInt(attributes + XRCD_INIT_ATTR.at("fd")),
                (flags & O_CREAT) != 0,
                (flags & O_EXCL) != 0);
    }

    static long closeXrcd(long xrcd) {
        XrcDomainHandle.get(xrcd).destroy();
        return 0;
    }

    static long modifySrq(long srq, long attributes, long mask) {
        var handle = SharedReceivesHandle.byNumber(srq);
        if ((mask & VerbsConstants.IBV_SRQ_MAX_WR) != 0) {
            return Errno.EOPNOTSUPP;
        }
        if (mask != VerbsConstants.IBV_SRQ_LIMIT) {
            return Errno.EINVAL;
        }
        int limit = Memory.getInt(Native.some(attributes) + SRQ_ATTR.at("srq_limit"));
        if (limit < 0 || limit > handle.srq.maxWr()) {
            return Errno.EINVAL;
        }
        handle.srq.armLimit(limit);
        return 0;
    }

    static long querySrq(long srq, long into) {
        var handle = SharedReceivesHandle.byNumber(srq);
        Memory.putInt(Native.some(into) + SRQ_ATTR.at("max_wr"), handle.srq.maxWr());
        Memory.putInt(into + SRQ_ATTR.at("max_sge"), handle.srq.maxSge());
        Memory.putInt(into + SRQ_ATTR.at("srq_limit"), handle.srq.limit());
        return 0;
    }

    public static long destroySrq(long srq) {
        SharedReceivesHandle.byNumber(srq).destroy();
        return 0;
    }

    // ---- queue pairs are made

    static long createQp(long pd, long attributes) {
        return create(DomainHandle.get(pd), Native.some(attributes), 0);
    }

    static long createQpEx(long context, long attributes) {
        Handles.get(context, ContextHandle.class);
        int mask = Memory.getInt(Native.some(attributes) + QP_INIT_ATTR_EX.at("comp_mask"));
        int known = VerbsConstants.IBV_QP_INIT_ATTR_PD
                | VerbsConstants.IBV_QP_INIT_ATTR_CREATE_FLAGS
                | VerbsConstants.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
        boolean hasFlags = (mask & VerbsConstants.IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0
                && Memory.getInt(attributes + QP_INIT_ATTR_EX.at("create_flags")) != 0;
        if ((mask & VerbsConstants.IBV_QP_INIT_ATTR_XRCD) != 0) {
            return createTarget(attributes, mask);
        }
        if ((mask & ~known) != 0 || hasFlags) {
            return Errno.EOPNOTSUPP;
        }
        if ((mask & VerbsConstants.IBV_QP_INIT_ATTR_PD) == 0) {
            return Errno.EINVAL;
        }
        var domain = DomainHandle.get(Memory.getLong(attributes + QP_INIT_ATTR_EX.at("pd")));
        if ((mask & VerbsConstants.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) == 0) {
            return create(domain, attributes, 0);
        }
        long operations = Memory.getLong(attributes + QP_INIT_ATTR_EX.at("send_ops_flags"));
        if ((operations & (VerbsConstants.IBV_QP_EX_WITH_TSO | ~0x1FFFL)) != 0) {
            return Errno.EOPNOTSUPP;
        }
        long qp = create(domain, attributes, operations);
        QueuePairHandle.get(qp).extend();
        return qp;
    }

    private static long createTarget(long attributes, int mask) {
        int type = Memory.getInt(attributes + QP_INIT_ATTR.at("qp_type"));
        if (mask != VerbsConstants.IBV_QP_INIT_ATTR_XRCD || type != QpType.XRC_TARGET.code()) {
            return Errno.EINVAL;
        }
        var xrcd = XrcDomainHandle.get(Memory.getLong(attributes + QP_INIT_ATTR_EX.at("xrcd")));
        var handle = QueuePairHandle.ofTarget(xrcd.object().createTarget(), xrcd);
        Memory.putLong(
                handle.pointer + QP.at("qp_context"), Memory.getLong(attributes + QP_INIT_ATTR.at("qp_context")));
        return Handles.put(handle).pointer;
    }

    /// Opens another reference to a target of this process.
    static long openQp(long context, long attributes) {
        var device = Handles.get(context, ContextHandle.class);
        int mask = Memory.getInt(Native.some(attributes) + QP_OPEN_ATTR.at("comp_mask"));
        int needed = VerbsConstants.IBV_QP_OPEN_ATTR_NUM
                | VerbsConstants.IBV_QP_OPEN_ATTR_XRCD
                | VerbsConstants.IBV_QP_OPEN_ATTR_TYPE;
        if ((mask & needed) != needed
                || Memory.getInt(attributes + QP_OPEN_ATTR.at("qp_type")) != QpType.XRC_TARGET.code()) {
            return Errno.EINVAL;
        }
        var xrcd = XrcDomainHandle.get(Memory.getLong(attributes + QP_OPEN_ATTR.at("xrcd")));
        int number = Memory.getInt(attributes + QP_OPEN_ATTR.at("qp_num"));
        QueuePairHandle handle = xrcd.device == device.pointer ? QueuePairHandle.openTarget(xrcd, number) : null;
        if (handle == null) {
            return Errno.EINVAL;
        }
        if ((mask & VerbsConstants.IBV_QP_OPEN_ATTR_CONTEXT) != 0) {
            Memory.putLong(
                    handle.pointer + QP.at("qp_context"), Memory.getLong(attributes + QP_OPEN_ATTR.at("qp_context")));
        }
        return handle.pointer;
    }

    private static long create(DomainHandle domain, long attributes, long operations) {
        QueuePair made = domain.domain.createQueuePair(options(attributes, operations));
        return publish(made, domain, attributes).pointer;
    }

    /// Reads the options in `struct ibv_qp_init_attr`, and `send_ops_flags`.
    public static QueuePairOptions options(long attributes, long operations) {
        var sendCq = CompletionQueueHandle.byNumber(Memory.getLong(attributes + QP_INIT_ATTR.at("send_cq"))).cq;
        QpType type = type(Memory.getInt(attributes + QP_INIT_ATTR.at("qp_type")));
        boolean receives = type != QpType.XRC_INITIATOR;
        var receiveCq = receives
                ? CompletionQueueHandle.byNumber(Memory.getLong(attributes + QP_INIT_ATTR.at("recv_cq"))).cq
                : sendCq;
        long srq = receives ? Memory.getLong(attributes + QP_INIT_ATTR.at("srq")) : 0;
        long cap = attributes + QP_INIT_ATTR.at("cap");
        boolean hasReceives = receives && srq == 0; // else what is said of them means nothing
        return new QueuePairOptions(
                type,
                sendCq,
                receiveCq,
                srq == 0 ? Optional.empty() : Optional.of(SharedReceivesHandle.byNumber(srq).srq),
                new QueuePairOptions.Sizes(
                        Memory.getInt(cap + QP_CAP.at("max_send_wr")),
                        hasReceives ? Memory.getInt(cap + QP_CAP.at("max_recv_wr")) : 0,
                        Memory.getInt(cap + QP_CAP.at("max_send_sge")),
                        hasReceives ? Memory.getInt(cap + QP_CAP.at("max_recv_sge")) : 0,
                        inlineBytes(Memory.getInt(cap + QP_CAP.at("max_inline_data")))),
                Memory.getInt(attributes + QP_INIT_ATTR.at("sq_sig_all")) != 0,
                extensions(operations));
    }

    private static int inlineBytes(int asked) {
        return asked < 0 ? asked : Math.max(INLINE_AT_LEAST, asked); // 2^31 and more are refused
    }

    private static Set<Capability> extensions(long operations) {
        var extensions = EnumSet.noneOf(Capability.class);
        if ((operations & VerbsConstants.IBV_QP_EX_WITH_FLUSH) != 0) {
            extensions.add(Capability.FLUSH);
        }
        if ((operations & VerbsConstants.IBV_QP_EX_WITH_ATOMIC_WRITE) != 0) {
            extensions.add(Capability.ATOMIC_WRITE);
        }
        return extensions;
    }

    private static QpType type(int code) {
        for (QpType type : QpType.values()) {
            if (type.code() == code) {
                return type;
            }
        }
        throw new UnsupportedException("create_qp: qp_type " + code, Capability.RC, "the device");
    }

    /// Gives the program its pointer, and writes the capacities that it really got.
    public static QueuePairHandle publish(QueuePair made, DomainHandle domain, long attributes) {
        int datagramBytes = domain.domain.context().port(1).activeMtu().bytes();
        var handle = new QueuePairHandle(made, domain, datagramBytes);
        for (String field : new String[] {"qp_context", "send_cq", "recv_cq", "srq"}) {
            Memory.putLong(handle.pointer + QP.at(field), Memory.getLong(attributes + QP_INIT_ATTR.at(field)));
        }
        putSizes(made.query().options().sizes(), attributes + QP_INIT_ATTR.at("cap"));
        return Handles.put(handle);
    }

    private static void putSizes(QueuePairOptions.Sizes sizes, long into) {
        Memory.putInt(into + QP_CAP.at("max_send_wr"), sizes.maxSendWr());
        Memory.putInt(into + QP_CAP.at("max_recv_wr"), sizes.maxReceiveWr());
        Memory.putInt(into + QP_CAP.at("max_send_sge"), sizes.maxSendSge());
        Memory.putInt(into + QP_CAP.at("max_recv_sge"), sizes.maxReceiveSge());
        Memory.putInt(into + QP_CAP.at("max_inline_data"), sizes.maxInlineBytes());
    }

    static long qpToQpEx(long qp) {
        return QueuePairHandle.get(qp).isExtended() ? qp : Errno.EINVAL;
    }

    static long destroyQp(long qp) {
        var handle = QueuePairHandle.byNumber(qp);
        handle.destroy();
        return 0;
    }

    // ---- queue pairs are changed

    static long modifyQp(long qp, long attributes, long mask) {
        var handle = QueuePairHandle.byNumber(qp);
        if ((mask & VerbsConstants.IBV_QP_CAP) != 0) {
            return Errno.EOPNOTSUPP;
        }
        if ((mask & ~ALL_ATTRIBUTES) != 0) {
            return Errno.EINVAL;
        }
        QpModification to = modification(Native.some(attributes), mask & ~ignored(handle.qp.type()));
        handle.qp.modify(to);
        if (handle.qp.state() == QpState.RESET) {
            handle.forgetCompletions();
        }
        if ((mask & VerbsConstants.IBV_QP_STATE) != 0) {
            Memory.putInt(qp + QP.at("state"), Memory.getInt(attributes));
        }
        return 0;
    }

    /// Returns the attributes that programs may name without effect, because the other half of a reliable
    /// connection has them. The kernel drops them for an end of XRC before it checks anything (`modify_qp_mask`).
    private static long ignored(QpType type) {
        return switch (type) {
            case XRC_INITIATOR -> VerbsConstants.IBV_QP_MAX_DEST_RD_ATOMIC | VerbsConstants.IBV_QP_MIN_RNR_TIMER;
            case XRC_TARGET ->
                VerbsConstants.IBV_QP_MAX_QP_RD_ATOMIC
                        | VerbsConstants.IBV_QP_RETRY_CNT
                        | VerbsConstants.IBV_QP_RNR_RETRY;
            case RC, UC, UD, RAW_PACKET -> 0;
        };
    }

    private static QpModification modification(long from, long mask) {
        var to = new QpModification();
        if ((mask & VerbsConstants.IBV_QP_STATE) != 0) {
            to = to.withState(state(from, "qp_state"));
        }
        if ((mask & VerbsConstants.IBV_QP_CUR_STATE) != 0) {
            to = to.withCurrentState(state(from, "cur_qp_state"));
        }
        if ((mask & VerbsConstants.IBV_QP_EN_SQD_ASYNC_NOTIFY) != 0) {
            to = to.withSqdNotify(number(from, "en_sqd_async_notify") != 0);
        }
        if ((mask & VerbsConstants.IBV_QP_ACCESS_FLAGS) != 0) {
            to = to.withAccess(Access.ofBits(Memory.getInt(from + QP_ATTR.at("qp_access_flags"))));
        }
        if ((mask & VerbsConstants.IBV_QP_PKEY_INDEX) != 0) {
            to = to.withPkeyIndex(Memory.getUnsignedShort(from + QP_ATTR.at("pkey_index")));
        }
        if ((mask & VerbsConstants.IBV_QP_PORT) != 0) {
            to = to.withPort(number(from, "port_num"));
        }
        if ((mask & VerbsConstants.IBV_QP_QKEY) != 0) {
            to = to.withQkey(Memory.getInt(from + QP_ATTR.at("qkey")));
        }
        if ((mask & VerbsConstants.IBV_QP_AV) != 0) {
            to = to.withPath(AddressCalls.vector(from + QP_ATTR.at("ah_attr")));
        }
        if ((mask & VerbsConstants.IBV_QP_ALT_PATH) != 0) {
            to = to.withAlternatePath(new AlternatePath(
                    alternate(from),
                    Memory.getUnsignedShort(from + QP_ATTR.at("alt_pkey_index")),
                    new AckTimeout(number(from, "alt_timeout"))));
        }
        if ((mask & VerbsConstants.IBV_QP_PATH_MTU) != 0) {
            to = to.withPathMtu(Mtu.ofCode(Memory.getInt(from + QP_ATTR.at("path_mtu"))));
        }
        if ((mask & VerbsConstants.IBV_QP_TIMEOUT) != 0) {
            to = to.withAckTimeout(new AckTimeout(number(from, "timeout")));
        }
        if ((mask & VerbsConstants.IBV_QP_RETRY_CNT) != 0) {
            to = to.withRetryCount(number(from, "retry_cnt"));
        }
        if ((mask & VerbsConstants.IBV_QP_RNR_RETRY) != 0) {
            to = to.withRnrRetry(number(from, "rnr_retry"));
        }
        if ((mask & VerbsConstants.IBV_QP_RQ_PSN) != 0) {
            to = to.withRqPsn(Memory.getInt(from + QP_ATTR.at("rq_psn")) & Endpoint.PSN_MASK);
        }
        if ((mask & VerbsConstants.IBV_QP_SQ_PSN) != 0) {
            to = to.withSqPsn(Memory.getInt(from + QP_ATTR.at("sq_psn")) & Endpoint.PSN_MASK);
        }
        if ((mask & VerbsConstants.IBV_QP_MAX_QP_RD_ATOMIC) != 0) {
            to = to.withMaxReadAtomic(number(from, "max_rd_atomic"));
        }
        if ((mask & VerbsConstants.IBV_QP_MAX_DEST_RD_ATOMIC) != 0) {
            to = to.withMaxDestinationReadAtomic(number(from, "max_dest_rd_atomic"));
        }
        if ((mask & VerbsConstants.IBV_QP_MIN_RNR_TIMER) != 0) {
            to = to.withMinRnrTimer(new RnrTimer(number(from, "min_rnr_timer")));
        }
        if ((mask & VerbsConstants.IBV_QP_DEST_QPN) != 0) {
            to = to.withDestinationQpn(Memory.getInt(from + QP_ATTR.at("dest_qp_num")) & Endpoint.QPN_MASK);
        }
        if ((mask & VerbsConstants.IBV_QP_PATH_MIG_STATE) != 0) {
            to = to.withPathMigration(PathMigration.ofCode(Memory.getInt(from + QP_ATTR.at("path_mig_state"))));
        }
        return to;
    }

    private static QpState state(long from, String field) {
        int code = Memory.getInt(from + QP_ATTR.at(field));
        if (code < 0 || code >= QpState.values().length) {
            throw new IllegalArgumentException(field + ": " + code);
        }
        return QpState.values()[code];
    }

    /// Reads an alternate path, which names its port twice. The kernel compares both.
    private static AddressVector alternate(long from) {
        AddressVector path = AddressCalls.vector(from + QP_ATTR.at("alt_ah_attr"));
        int port = number(from, "alt_port_num");
        if (port == 0 || port != path.port()) {
            throw new IllegalArgumentException(
                    "alt_port_num: 1 or more, and that of alt_ah_attr, " + path.port() + ", got " + port);
        }
        return path;
    }

    private static int number(long from, String field) {
        return Memory.getByte(from + QP_ATTR.at(field)) & 0xFF;
    }

    // ---- queue pairs are asked

    /// Writes all attributes, whatever the mask: it is a hint (ibv_query_qp(3)).
    static long queryQp(long qp, long into, long mask, long init) {
        var handle = QueuePairHandle.byNumber(qp);
        QueuePairAttributes from = handle.qp.query();
        put(from, Native.at(into, QP_ATTR.size()).fill((byte) 0).address());
        Memory.putInt(qp + QP.at("state"), from.state().code());
        for (String field : new String[] {"qp_context", "send_cq", "recv_cq", "srq"}) {
            Memory.putLong(Native.some(init) + QP_INIT_ATTR.at(field), Memory.getLong(qp + QP.at(field)));
        }
        putSizes(from.options().sizes(), init + QP_INIT_ATTR.at("cap"));
        Memory.putInt(init + QP_INIT_ATTR.at("qp_type"), from.options().type().code());
        Memory.putInt(init + QP_INIT_ATTR.at("sq_sig_all"), from.options().signalAll() ? 1 : 0);
        return 0;
    }

    /// Writes `struct ibv_qp_attr`, which is all zero before.
    static void put(QueuePairAttributes from, long into) {
        Memory.putInt(into + QP_ATTR.at("qp_state"), from.state().code());
        Memory.putInt(into + QP_ATTR.at("cur_qp_state"), from.state().code());
        Memory.putInt(into + QP_ATTR.at("path_mtu"), from.peer().pathMtu().code());
        Memory.putInt(into + QP_ATTR.at("qkey"), from.qkey());
        Memory.putInt(into + QP_ATTR.at("rq_psn"), from.receiving().rqPsn());
        Memory.putInt(into + QP_ATTR.at("sq_psn"), from.sending().sqPsn());
        Memory.putInt(into + QP_ATTR.at("dest_qp_num"), from.peer().destinationQpn());
        Memory.putInt(into + QP_ATTR.at("qp_access_flags"), Access.bits(from.access()));
        putSizes(from.options().sizes(), into + QP_ATTR.at("cap"));
        from.peer().path().ifPresent(path -> AddressCalls.put(path, into + QP_ATTR.at("ah_attr")));
        from.peer().alternatePath().ifPresent(alternate -> {
            AddressCalls.put(alternate.path(), into + QP_ATTR.at("alt_ah_attr"));
            Memory.putShort(into + QP_ATTR.at("alt_pkey_index"), alternate.pkeyIndex());
            putNumber(into, "alt_port_num", alternate.path().port());
            putNumber(into, "alt_timeout", alternate.timeout().code());
        });
        Memory.putInt(
                into + QP_ATTR.at("path_mig_state"), from.peer().pathMigration().code());
        Memory.putShort(into + QP_ATTR.at("pkey_index"), from.pkeyIndex());
        putNumber(into, "port_num", from.port());
        putNumber(into, "sq_draining", from.isSqDraining() ? 1 : 0);
        putNumber(into, "max_rd_atomic", from.sending().maxReadAtomic());
        putNumber(into, "max_dest_rd_atomic", from.receiving().maxDestinationReadAtomic());
        putNumber(into, "min_rnr_timer", from.receiving().minRnrTimer().code());
        putNumber(into, "timeout", from.sending().ackTimeout().code());
        putNumber(into, "retry_cnt", from.sending().retryCount());
        putNumber(into, "rnr_retry", from.sending().rnrRetry());
    }

    private static void putNumber(long into, String field, int value) {
        Memory.putByte(into + QP_ATTR.at(field), value);
    }

    // ---- multicast

    static long attachMcast(long qp, long gid, long lid) {
        QueuePairHandle.byNumber(qp).qp.attachMulticast(DeviceCalls.gid(Native.some(gid)));
        return 0;
    }

    static long detachMcast(long qp, long gid, long lid) {
        QueuePairHandle.byNumber(qp).qp.detachMulticast(DeviceCalls.gid(Native.some(gid)));
        return 0;
    }
}
