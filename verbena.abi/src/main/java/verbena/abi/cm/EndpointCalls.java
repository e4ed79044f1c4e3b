package verbena.abi.cm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static verbena.foreign.rdma.CmConstants.RDMA_PS_IPOIB;
import static verbena.foreign.rdma.CmConstants.RDMA_PS_TCP;
import static verbena.foreign.rdma.CmConstants.RDMA_PS_UDP;
import static verbena.foreign.rdma.CmStructs.ADDRINFO;
import static verbena.foreign.rdma.CmStructs.CM_EVENT;
import static verbena.foreign.rdma.VerbsStructs.QP_ATTR;
import static verbena.foreign.rdma.VerbsStructs.QP_INIT_ATTR;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import verbena.abi.Errno;
import verbena.abi.Native;
import verbena.abi.verbs.AddressCalls;
import verbena.foreign.Memory;
import verbena.foreign.SystemFunction;
import verbena.foreign.rdma.VerbsConstants;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressVector;
import verbena.verbs.Gid;
import verbena.verbs.Mtu;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.RnrTimer;
import verbena.verbs.cm.ConnectionId;

/// Addresses by name, endpoints in one call, and queue pairs that the program moves itself.
final class EndpointCalls {
    private static final int RAI_PASSIVE = 1;
    private static final int RAI_NUMERICHOST = 2;
    /// Codes of getaddrinfo(3) are told from numbers of errors by this.
    private static final long EAI = 4_096;

    // getaddrinfo(3), Linux
    private static final int AI_PASSIVE = 1;
    private static final int AI_NUMERICHOST = 4;
    private static final int STREAM = 1;
    private static final int DATAGRAMS = 2;
    private static final int IPPROTO_TCP = 6;
    private static final int IPPROTO_UDP = 17;
    private static final long AI_FLAGS = 0;
    private static final long AI_FAMILY = 4;
    private static final long AI_SOCKTYPE = 8;
    private static final long AI_PROTOCOL = 12;
    private static final long AI_ADDRLEN = 16;
    private static final long AI_ADDR = 24;
    private static final long AI_BYTES = 48;
    private static final SystemFunction GETADDRINFO = SystemFunction.named("getaddrinfo");
    private static final SystemFunction FREEADDRINFO = SystemFunction.named("freeaddrinfo");

    private static final AddressVector NOWHERE = AddressVector.to(new Gid(0, 0), 0);

    private EndpointCalls() {}

    // ---- rdma_getaddrinfo(3)

    /// Resolves names as librdmacm does: names of hosts and services are getaddrinfo(3)'s, and what the hints have
    /// already is kept.
    static long cmGetaddrinfo(long node, long service, long hints, long into) {
        if (node == 0 && service == 0 && hints == 0) {
            return Errno.EINVAL;
        }
        long info = Native.allocate(ADDRINFO.size());
        if (node != 0 || service != 0) {
            int failure = byName(node, service, hints, info);
            if (failure != 0) {
                cmFreeaddrinfo(info);
                return failure - EAI; // which rdma_getaddrinfo hands on as it is
            }
        } else {
            for (String field : new String[] {"ai_flags", "ai_family", "ai_qp_type", "ai_port_space"}) {
                Memory.putInt(info + ADDRINFO.at(field), number(hints, field));
            }
            copyAddress(hints, "dst", info);
        }
        if (hints != 0 && number(info, "ai_src_len") == 0) {
            copyAddress(hints, "src", info);
        }
        Memory.putLong(Native.some(into), info);
        return 0;
    }

    private static int number(long info, String field) {
        return Memory.getInt(info + ADDRINFO.at(field));
    }

    private static void copyAddress(long hints, String which, long info) {
        int bytes = number(hints, "ai_" + which + "_len");
        long address = Memory.getLong(hints + ADDRINFO.at("ai_" + which + "_addr"));
        if (bytes > 0 && address != 0) {
            put(info, which, address, bytes);
        }
    }

    private static void put(long info, String which, long address, int bytes) {
        long copy = Native.allocate(bytes);
        MemorySegment.copy(Native.at(address, bytes), 0, Native.at(copy, bytes), 0, bytes);
        Memory.putInt(info + ADDRINFO.at("ai_" + which + "_len"), bytes);
        Memory.putLong(info + ADDRINFO.at("ai_" + which + "_addr"), copy);
    }

    /// Resolves by getaddrinfo(3), and returns its result: 0, or a negative code.
    private static int byName(long node, long service, long hints, long info) {
        try (var arena = Arena.ofConfined()) {
            MemorySegment asked = arena.allocate(AI_BYTES, Long.BYTES);
            int qpType = hints == 0 ? 0 : number(hints, "ai_qp_type");
            int space = hints == 0 ? 0 : number(hints, "ai_port_space");
            boolean isPassive = hints != 0 && (number(hints, "ai_flags") & RAI_PASSIVE) != 0;
            if (hints != 0) {
                boolean isNumeric = (number(hints, "ai_flags") & RAI_NUMERICHOST) != 0;
                asked.set(JAVA_INT, AI_FLAGS, (isPassive ? AI_PASSIVE : 0) | (isNumeric ? AI_NUMERICHOST : 0));
                asked.set(JAVA_INT, AI_FAMILY, number(hints, "ai_family"));
                asked.set(JAVA_INT, AI_SOCKTYPE, qpType == 0 ? 0 : qpType == QpType.UD.code() ? DATAGRAMS : STREAM);
                asked.set(JAVA_INT, AI_PROTOCOL, protocol(space));
            }
            MemorySegment answer = arena.allocate(ADDRESS);
            long wanted = hints == 0 ? 0 : asked.address();
            int failure = (int) GETADDRINFO.call(node, service, wanted, answer.address());
            if (failure != 0) {
                return failure;
            }
            long found = answer.get(JAVA_LONG, 0);
            boolean isDatagram = Memory.getInt(found + AI_SOCKTYPE) == DATAGRAMS;
            Memory.putInt(info + ADDRINFO.at("ai_flags"), isPassive ? RAI_PASSIVE : 0);
            Memory.putInt(info + ADDRINFO.at("ai_family"), Memory.getInt(found + AI_FAMILY));
            Memory.putInt(
                    info + ADDRINFO.at("ai_qp_type"),
                    qpType != 0 ? qpType : isDatagram ? QpType.UD.code() : QpType.RC.code());
            Memory.putInt(
                    info + ADDRINFO.at("ai_port_space"), space != 0 ? space : isDatagram ? RDMA_PS_UDP : RDMA_PS_TCP);
            put(info, isPassive ? "src" : "dst", Memory.getLong(found + AI_ADDR), Memory.getInt(found + AI_ADDRLEN));
            long _ = FREEADDRINFO.call(found);
            return 0;
        }
    }

    private static int protocol(int space) {
        return switch (space) {
            case RDMA_PS_TCP -> IPPROTO_TCP;
            case RDMA_PS_UDP, RDMA_PS_IPOIB -> IPPROTO_UDP;
            default -> 0;
        };
    }

    static long cmFreeaddrinfo(long list) {
        for (long info = list; info != 0; ) {
            long next = Memory.getLong(info + ADDRINFO.at("ai_next"));
            Native.free(Memory.getLong(info + ADDRINFO.at("ai_src_addr")));
            Native.free(Memory.getLong(info + ADDRINFO.at("ai_dst_addr")));
            Native.free(info);
            info = next;
        }
        return 0;
    }

    // ---- rdma_create_ep(3)

    static long createEp(long into, long info, long pd, long attributes) {
        IdHandle handle = CmCalls.create(0, 0, Memory.getInt(Native.some(info) + ADDRINFO.at("ai_port_space")));
        boolean done = false;
        try {
            long source = Memory.getLong(info + ADDRINFO.at("ai_src_addr"));
            boolean isPassive = (Memory.getInt(info) & RAI_PASSIVE) != 0;
            long answer = isPassive
                    ? CmCalls.bindAddr(handle.pointer, source)
                    : resolve(handle, source, Memory.getLong(info + ADDRINFO.at("ai_dst_addr")));
            if (answer < 0) {
                return answer;
            }
            if (attributes != 0) {
                Memory.putInt(attributes + QP_INIT_ATTR.at("qp_type"), Memory.getInt(info + ADDRINFO.at("ai_qp_type")));
            }
            if (attributes != 0 && isPassive) {
                handle.endpointDomain = pd;
                handle.endpointAttributes = copy(attributes);
            } else if (attributes != 0) {
                ConnectCalls.cmCreateQp(handle.pointer, pd, attributes);
            }
            Memory.putLong(Native.some(into), handle.pointer);
            done = true;
            return 0;
        } finally {
            if (!done) {
                destroyEp(handle.pointer);
            }
        }
    }

    private static long resolve(IdHandle handle, long source, long destination) {
        long answer = CmCalls.resolveAddr(handle.pointer, source, destination, 0);
        return answer < 0 ? answer : CmCalls.resolveRoute(handle.pointer, 0);
    }

    private static long copy(long attributes) {
        long bytes = QP_INIT_ATTR.size();
        long copy = Native.allocate(bytes);
        MemorySegment.copy(Native.at(attributes, bytes), 0, Native.at(copy, bytes), 0, bytes);
        return copy;
    }

    static long destroyEp(long id) {
        var handle = IdHandle.get(id);
        if (handle.get("qp") != 0) {
            ConnectCalls.cmDestroyQp(id);
        }
        if (handle.get("srq") != 0) {
            ConnectCalls.cmDestroySrq(id);
        }
        handle.destroy();
        return 0;
    }

    /// Waits for a request at a listener whose calls wait; the new identifier's calls wait too.
    static long getRequest(long listener, long into) {
        var handle = IdHandle.get(listener);
        if (handle.waitsAt == null) {
            return Errno.EINVAL;
        }
        long answer = CmCalls.complete(handle);
        if (answer < 0) {
            return answer;
        }
        long event = handle.get("event");
        var request = IdHandle.get(Memory.getLong(event + CM_EVENT.at("id")));
        CmCalls.makeWait(request);
        request.set("event", event);
        handle.set("event", 0);
        if (handle.endpointAttributes != 0) {
            long attributes = copy(handle.endpointAttributes);
            try {
                ConnectCalls.cmCreateQp(request.pointer, handle.endpointDomain, attributes);
            } finally {
                Native.free(attributes);
            }
        }
        Memory.putLong(Native.some(into), request.pointer);
        return 0;
    }

    // ---- rdma_init_qp_attr(3)

    /// Returns the attributes that bring the program's own queue pair to the state that `qp_state` names.
    static long initQpAttr(long id, long attributes, long maskPointer) {
        var handle = IdHandle.get(id);
        int state = Memory.getInt(Native.some(attributes));
        QpModification to = switch (state) {
            case VerbsConstants.IBV_QPS_INIT -> toInit(handle);
            case VerbsConstants.IBV_QPS_RTR -> handle.id.modification(QpState.RTR, ConnectCalls.DEFAULTS);
            case VerbsConstants.IBV_QPS_RTS -> handle.id.modification(QpState.RTS, ConnectCalls.DEFAULTS);
            default -> throw new IllegalArgumentException("qp_state: INIT, RTR or RTS, got " + state);
        };
        Memory.putInt(Native.some(maskPointer), put(to, attributes));
        return 0;
    }

    private static QpModification toInit(IdHandle handle) {
        var to = new QpModification().withState(QpState.INIT).withPort(1).withPkeyIndex(0);
        return handle.id.space().isDatagram() ? to.withQkey(ConnectionId.UDP_QKEY) : to.withAccess(Access.remoteAll());
    }

    /// Writes the fields of `struct ibv_qp_attr`, and returns their mask.
    private static int put(QpModification from, long into) {
        int mask = 0;
        for (QpAttribute each : from.mask()) {
            mask |= each.bit();
            switch (each) {
                case STATE -> Memory.putInt(into, from.get(each, QpState.RESET).code());
                case ACCESS_FLAGS -> Memory.putInt(into + QP_ATTR.at("qp_access_flags"), accessBits(from));
                case AV -> AddressCalls.put(from.get(each, NOWHERE), into + QP_ATTR.at("ah_attr"));
                case PATH_MTU ->
                    Memory.putInt(
                            into + QP_ATTR.at("path_mtu"),
                            from.get(each, Mtu.MTU_1024).code());
                case TIMEOUT ->
                    Memory.putByte(
                            into + QP_ATTR.at("timeout"),
                            from.get(each, AckTimeout.NEVER).code());
                case MIN_RNR_TIMER ->
                    Memory.putByte(
                            into + QP_ATTR.at("min_rnr_timer"),
                            from.get(each, new RnrTimer(0)).code());
                case PKEY_INDEX -> Memory.putShort(into + QP_ATTR.at("pkey_index"), from.get(each, 0));
                case QKEY -> Memory.putInt(into + QP_ATTR.at("qkey"), from.get(each, 0));
                case RQ_PSN -> Memory.putInt(into + QP_ATTR.at("rq_psn"), from.get(each, 0));
                case SQ_PSN -> Memory.putInt(into + QP_ATTR.at("sq_psn"), from.get(each, 0));
                case DEST_QPN -> Memory.putInt(into + QP_ATTR.at("dest_qp_num"), from.get(each, 0));
                case PORT -> Memory.putByte(into + QP_ATTR.at("port_num"), from.get(each, 0));
                case RETRY_CNT -> Memory.putByte(into + QP_ATTR.at("retry_cnt"), from.get(each, 0));
                case RNR_RETRY -> Memory.putByte(into + QP_ATTR.at("rnr_retry"), from.get(each, 0));
                case MAX_QP_RD_ATOMIC -> Memory.putByte(into + QP_ATTR.at("max_rd_atomic"), from.get(each, 0));
                case MAX_DEST_RD_ATOMIC -> Memory.putByte(into + QP_ATTR.at("max_dest_rd_atomic"), from.get(each, 0));
                case CUR_STATE, EN_SQD_ASYNC_NOTIFY, ALT_PATH, PATH_MIG_STATE, CAP -> {} // no connection sets these
            }
        }
        return mask;
    }

    private static int accessBits(QpModification from) {
        int bits = 0;
        for (Access each : from.get(QpAttribute.ACCESS_FLAGS, Set.<Access>of())) {
            bits |= each.bit();
        }
        return bits;
    }
}
