package verbena.abi.cm;

import static verbena.foreign.rdma.CmStructs.CM_ID;
import static verbena.foreign.rdma.CmStructs.CONN_PARAM;
import static verbena.foreign.rdma.VerbsStructs.QP_INIT_ATTR;
import static verbena.foreign.rdma.VerbsStructs.QP_INIT_ATTR_EX;
import static verbena.foreign.rdma.VerbsStructs.SRQ_INIT_ATTR_EX;

import java.lang.foreign.MemorySegment;
import verbena.abi.Errno;
import verbena.abi.Handle;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.abi.verbs.ChannelHandle;
import verbena.abi.verbs.CompletionCalls;
import verbena.abi.verbs.CompletionQueueHandle;
import verbena.abi.verbs.DomainHandle;
import verbena.abi.verbs.QueueCalls;
import verbena.abi.verbs.QueuePairHandle;
import verbena.foreign.Memory;
import verbena.foreign.rdma.SocketAddress;
import verbena.foreign.rdma.VerbsConstants;
import verbena.verbs.AckTimeout;
import verbena.verbs.Endpoint;
import verbena.verbs.Gid;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.RnrTimer;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.PeerParameters;
import verbena.verbs.cm.PortSpace;
import verbena.verbs.cm.PrivateData;

/// Queue pairs of the connection manager, connections, and multicast groups.
final class ConnectCalls {
    /// The limit of READs that this library has (`ConnectionParameters`).
    private static final int READS_MAX = 128;
    /// `RDMA_MAX_RESP_RES` and `RDMA_MAX_INIT_DEPTH`: as many as there can be, or as the peer has asked for.
    private static final int READS_ANY = 255;

    /// The time-out that the kernel's connection manager gives to RoCE: 0.54 s, so a peer may be held up for
    /// seconds.
    private static final AckTimeout KERNELS = new AckTimeout(17);
    /// Like the kernel's: a sender that meets no receive is to come again after 0.66 s. Programs set only how
    /// often. Five times of what we ask for otherwise are over before a busy program has posted its receive.
    static final ConnectionParameters DEFAULTS = ConnectionParameters.defaults().withMinRnrTimer(new RnrTimer(0));

    private ConnectCalls() {}

    // ---- queue pairs

    /// Makes the queue pair of an identifier. Without a domain the device's own is taken; without completion
    /// queues, new ones with channels, as large as the queues.
    static long cmCreateQp(long id, long pd, long attributes) {
        var handle = IdHandle.get(id);
        create(handle, domain(handle, pd), Native.some(attributes), 0);
        return 0;
    }

    static long cmCreateQpEx(long id, long attributes) {
        var handle = IdHandle.get(id);
        int mask = Memory.getInt(Native.some(attributes) + QP_INIT_ATTR_EX.at("comp_mask"));
        boolean hasDomain = (mask & VerbsConstants.IBV_QP_INIT_ATTR_PD) != 0;
        boolean hasOperations = (mask & VerbsConstants.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
        if ((mask & ~(VerbsConstants.IBV_QP_INIT_ATTR_PD | VerbsConstants.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)) != 0) {
            return Errno.EOPNOTSUPP;
        }
        long pd = hasDomain ? Memory.getLong(attributes + QP_INIT_ATTR_EX.at("pd")) : 0;
        long operations = hasOperations ? Memory.getLong(attributes + QP_INIT_ATTR_EX.at("send_ops_flags")) : 0;
        QueuePairHandle made = create(handle, domain(handle, pd), attributes, operations);
        if (hasOperations) {
            made.extend();
        }
        return 0;
    }

    /// Returns the program's domain, or the domain that all connections of the device share.
    private static DomainHandle domain(IdHandle handle, long pd) {
        return DomainHandle.get(pd == 0 ? handle.get("pd") : pd);
    }

    private static QueuePairHandle create(IdHandle handle, DomainHandle domain, long attributes, long operations) {
        long cap = attributes + QP_INIT_ATTR.at("cap");
        completionQueue(handle, attributes, "send_cq", Memory.getInt(cap));
        completionQueue(handle, attributes, "recv_cq", Memory.getInt(cap + 4));
        var made = handle.id.createQueuePair(domain.domain, QueueCalls.options(attributes, operations));
        QueuePairHandle qp = QueueCalls.publish(made, domain, attributes);
        handle.id.useQueuePair(made); // rdma_destroy_id(3) leaves it: a program may give it to another identifier
        handle.set("qp", qp.pointer);
        handle.set("pd", domain.pointer);
        Memory.putInt(handle.pointer + CM_ID.at("qp_type"), made.type().code());
        return qp;
    }

    private static void completionQueue(IdHandle handle, long attributes, String field, int entries) {
        if (Memory.getLong(attributes + QP_INIT_ATTR.at(field)) != 0) {
            handle.set(field, Memory.getLong(attributes + QP_INIT_ATTR.at(field)));
            return;
        }
        long context = handle.get("verbs");
        long channel = CompletionCalls.createCompChannel(context);
        long cq = CompletionCalls.createCq(context, Math.max(1, entries), handle.pointer, channel, 0);
        handle.made.add(CompletionQueueHandle.get(cq));
        handle.made.add(Handles.get(channel, ChannelHandle.class));
        handle.set(field, cq);
        handle.set(field + "_channel", channel);
        Memory.putLong(attributes + QP_INIT_ATTR.at(field), cq);
    }

    static long cmDestroyQp(long id) {
        var handle = IdHandle.get(id);
        long qp = handle.get("qp");
        if (qp != 0) {
            QueuePairHandle.get(qp).destroy();
            handle.set("qp", 0);
        }
        handle.made.forEach(Handle::destroy); // each queue before its channel
        handle.made.clear();
        for (String field : new String[] {"send_cq", "recv_cq", "send_cq_channel", "recv_cq_channel"}) {
            handle.set(field, 0);
        }
        return 0;
    }

    static long cmCreateSrq(long id, long pd, long attributes) {
        var handle = IdHandle.get(id);
        handle.set("srq", QueueCalls.createSrq(domain(handle, pd).pointer, attributes));
        return 0;
    }

    static long cmCreateSrqEx(long id, long attributes) {
        var handle = IdHandle.get(id);
        int mask = Memory.getInt(Native.some(attributes) + SRQ_INIT_ATTR_EX.at("comp_mask"));
        if ((mask & VerbsConstants.IBV_SRQ_INIT_ATTR_TYPE) != 0
                && Memory.getInt(attributes + SRQ_INIT_ATTR_EX.at("srq_type")) == VerbsConstants.IBV_SRQT_XRC) {
            return Errno.EOPNOTSUPP; // there are no connections by rdma_cm that could name it
        }
        long made = QueueCalls.createSrqEx(handle.get("verbs"), attributes);
        if (made > 0) {
            handle.set("srq", made);
            return 0;
        }
        return made;
    }

    static long cmDestroySrq(long id) {
        var handle = IdHandle.get(id);
        QueueCalls.destroySrq(handle.get("srq"));
        handle.set("srq", 0);
        return 0;
    }

    // ---- connections

    static long connect(long id, long parameters) {
        var handle = IdHandle.get(id);
        useOwnQueuePair(handle, parameters);
        handle.id.connect(parameters(handle, parameters));
        return CmCalls.complete(handle);
    }

    static long establish(long id) {
        IdHandle.get(id).id.establish();
        return 0;
    }

    static long listen(long id, long backlog) {
        var handle = IdHandle.get(id);
        handle.id.listen(backlog <= 0 ? 1_024 : (int) backlog);
        handle.refresh();
        return 0;
    }

    static long accept(long id, long parameters) {
        var handle = IdHandle.get(id);
        useOwnQueuePair(handle, parameters);
        handle.id.accept(parameters(handle, parameters));
        return handle.id.space().isDatagram() ? 0 : CmCalls.complete(handle);
    }

    /// Uses a queue pair that the program made itself. It is `id->qp` when the program has set that, and this
    /// library brings it to RTS as librdmacm does; else it is a number.
    private static void useOwnQueuePair(IdHandle handle, long parameters) {
        long set = handle.get("qp");
        if (set != 0) {
            QueuePair qp = QueuePairHandle.get(set).qp;
            if (handle.id.queuePair().filter(qp::equals).isEmpty()) {
                handle.id.useQueuePair(qp);
            }
        } else if (parameters != 0) {
            boolean isDatagram = handle.id.space().isDatagram();
            handle.id.describeQueuePair(
                    isDatagram ? QpType.UD : QpType.RC,
                    Memory.getInt(parameters + CONN_PARAM.at("qp_num")) & Endpoint.QPN_MASK);
        }
    }

    /// Reads `struct rdma_conn_param`; NULL for the values that suit.
    private static ConnectionParameters parameters(IdHandle handle, long from) {
        AckTimeout timeout = handle.ackTimeout == null ? KERNELS : handle.ackTimeout;
        ConnectionParameters made = DEFAULTS.withTrafficClass(handle.trafficClass)
                .withRetries(timeout, DEFAULTS.retryCount(), DEFAULTS.rnrRetryCount());
        PeerParameters asking = handle.asking;
        if (from == 0) {
            return asking == null
                    ? made
                    : made.withReads(
                            Math.min(READS_MAX, asking.initiatorDepth()),
                            Math.min(READS_MAX, asking.responderResources()));
        }
        boolean isStream = handle.id.space() == PortSpace.TCP; // of others librdmacm checks nothing
        int served = asking == null ? READS_MAX : asking.initiatorDepth();
        int outstanding = asking == null ? READS_MAX : asking.responderResources();
        return made.withPrivateData(data(Memory.getLong(from), number(from, "private_data_len")))
                .withReads(
                        reads(number(from, "responder_resources"), served, isStream),
                        reads(number(from, "initiator_depth"), outstanding, isStream))
                .withRetries(
                        timeout,
                        asking == null ? Math.min(7, number(from, "retry_count")) : made.retryCount(),
                        Math.min(7, number(from, "rnr_retry_count")));
    }

    private static int number(long from, String field) {
        return Memory.getByte(from + CONN_PARAM.at(field)) & 0xFF;
    }

    /// Returns the number of READs to ask for; too many are refused later, where that is checked.
    private static int reads(int wanted, int asked, boolean isChecked) {
        return wanted == READS_ANY || !isChecked ? Math.min(READS_MAX, Math.min(wanted, asked)) : wanted;
    }

    private static PrivateData data(long from, int length) {
        if (from == 0 || length == 0) {
            return PrivateData.NONE;
        }
        var bytes = new byte[length];
        MemorySegment.copy(Native.at(from, length), 0, MemorySegment.ofArray(bytes), 0, length);
        return PrivateData.of(bytes);
    }

    static long reject(long id, long data, long length) {
        IdHandle.get(id).id.reject(data(data, (int) length & 0xFF));
        return 0;
    }

    /// Handles `IBV_EVENT_COMM_EST`: something has come through the queue pair.
    static long notify(long id, long event) {
        if (event != VerbsConstants.IBV_EVENT_COMM_EST) {
            return Errno.EINVAL;
        }
        IdHandle.get(id).id.communicationEstablished();
        return 0;
    }

    static long disconnect(long id) {
        var handle = IdHandle.get(id);
        handle.id.disconnect();
        return CmCalls.complete(handle);
    }

    // ---- multicast

    /// @param flags `enum rdma_cm_mc_join_flags`
    static long joinMulticast(long id, long address, long flags, long programsOwn) {
        var handle = IdHandle.get(id);
        var group = SocketAddress.read(address).getAddress();
        if (flags > 1) {
            return Errno.EINVAL;
        }
        handle.joined.put(Gid.of(group), programsOwn);
        if (flags == 1) {
            handle.id.joinMulticastToSend(group);
        } else {
            handle.id.joinMulticast(group);
        }
        return CmCalls.complete(handle);
    }

    static long leaveMulticast(long id, long address) {
        IdHandle.get(id).id.leaveMulticast(SocketAddress.read(address).getAddress());
        return 0;
    }
}
