package verbena.ibverbs.objects;

import static verbena.foreign.rdma.VerbsStructs.QP;
import static verbena.foreign.rdma.VerbsStructs.QP_ATTR;
import static verbena.foreign.rdma.VerbsStructs.QP_INIT_ATTR;
import static verbena.foreign.rdma.VerbsStructs.QP_INIT_ATTR_EX;

import java.lang.foreign.Arena;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.foreign.Memory;
import verbena.foreign.NativeFunction;
import verbena.foreign.linux.Errno;
import verbena.foreign.rdma.VerbsConstants;
import verbena.ibverbs.lib.AddressVectors;
import verbena.ibverbs.lib.ExtendedSends;
import verbena.ibverbs.lib.Membership;
import verbena.ibverbs.lib.PortQuery;
import verbena.provider.Arguments;
import verbena.provider.PeerConnector;
import verbena.verbs.AckTimeout;
import verbena.verbs.AlternatePath;
import verbena.verbs.AsyncEvent;
import verbena.verbs.DeviceException;
import verbena.verbs.Endpoint;
import verbena.verbs.EndpointOptions;
import verbena.verbs.FlowRule;
import verbena.verbs.Gid;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.PacketFlow;
import verbena.verbs.PathMigration;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairAttributes;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.RnrTimer;
import verbena.verbs.SendBatch;
import verbena.verbs.spi.OwnedObject;
import verbena.verbs.spi.QpStateTable;

/// A queue pair of C's. What a modification needs is checked before the device sees it, so that a mistake is
/// named; what the device then refuses is told in its words.
public final class IbvQueuePair extends OwnedObject implements QueuePair {
    private static final SecureRandom RANDOM = new SecureRandom();
    private final OwnDomain domain;
    private final OpenContext context;
    private final QueuePairOptions options;
    private final long address;
    private final int qpn;
    private final IbvSends sends;
    private final @Nullable IbvReceives receives;
    /// The target, of an XRC target queue pair; null of all others.
    private final @Nullable Target target;

    /// The state that is known without asking the device, for posters. The device enters ERR without notice.
    private volatile QpState known = QpState.RESET;

    private volatile boolean endedHere;

    /// Rights that it was last given; under this.
    private int knownAccess;

    /// Multicast groups that it is in; under this.
    private final Map<Gid, Membership> groups = new HashMap<>();

    private final PeerConnector connector;
    private volatile int datagramBytesMax;

    /// The objects of an XRC target.
    ///
    /// @param xrcDomain the owner, an XRC domain
    /// @param xrcAddress of C's
    record Target(OwnedObject xrcDomain, long xrcAddress) {}

    IbvQueuePair(
            OwnDomain domain,
            QueuePairOptions options,
            IbvCompletionQueue sendCq,
            IbvCompletionQueue receiveCq,
            @Nullable IbvSharedReceiveQueue srq,
            @Nullable Target target) {
        super("queue pair");
        this.domain = domain;
        this.context = domain.owner();
        this.options = options;
        this.target = target;
        madeFrom(List.of(domain, sendCq, receiveCq));
        if (srq != null) {
            madeFrom(srq);
        }
        if (target != null) {
            madeFrom(target.xrcDomain);
        }
        boolean receivesItself = srq == null && !type().isXrc();
        NativeFunction.Result made;
        try (Arena arena = Arena.ofConfined()) {
            long at = arena.allocate(QP_INIT_ATTR_EX.size(), 8).address();
            Memory.putLong(at + QP_INIT_ATTR.at("send_cq"), target == null ? sendCq.address() : 0);
            Memory.putLong(at + QP_INIT_ATTR.at("recv_cq"), type().isXrc() ? 0 : receiveCq.address());
            Memory.putLong(at + QP_INIT_ATTR.at("srq"), srq == null ? 0 : srq.address());
            Memory.putInt(at + QP_INIT_ATTR.at("cap.max_send_wr"), options.maxSendWr());
            Memory.putInt(at + QP_INIT_ATTR.at("cap.max_recv_wr"), receivesItself ? options.maxReceiveWr() : 0);
            Memory.putInt(at + QP_INIT_ATTR.at("cap.max_send_sge"), options.maxSendSge());
            int receiveSge = Math.max(1, options.maxReceiveSge()); // some drivers refuse 0 beside receives
            Memory.putInt(at + QP_INIT_ATTR.at("cap.max_recv_sge"), receivesItself ? receiveSge : 0);
            Memory.putInt(at + QP_INIT_ATTR.at("cap.max_inline_data"), options.maxInlineBytes());
            Memory.putInt(at + QP_INIT_ATTR.at("qp_type"), options.type().code());
            Memory.putInt(at + QP_INIT_ATTR.at("sq_sig_all"), options.signalAll() ? 1 : 0);
            made = target != null
                    ? createTarget(context, target, at)
                    : options.extensions().isEmpty()
                            ? context.library().createQp.call(domain.address(), at)
                            : ExtendedSends.createQp(
                                    context.ops(), context.address(), domain.address(), at, options.extensions());
        }
        if (made.isNull()) {
            abandon();
            throw refused(made.errno());
        }
        this.address = made.value();
        context.checkLayout("ibv_qp", Memory.getLong(address + QP.at("context")));
        this.qpn = Memory.getInt(address + QP.at("qp_num"));
        label("queue pair 0x" + Integer.toHexString(qpn));
        this.sends = new IbvSends(this, domain, options);
        this.receives = !receivesItself
                ? null
                : new IbvReceives(
                        false,
                        this,
                        domain,
                        options.maxReceiveWr(),
                        options.maxReceiveSge(),
                        context.ops()::postReceive,
                        address,
                        this::checkReceivable);
        this.connector = new PeerConnector(this, context, RANDOM::nextInt);
        context.add(address, this);
    }

    /// @param init `struct ibv_qp_init_attr_ex`, filled in as far as `struct ibv_qp_init_attr` goes
    private static NativeFunction.Result createTarget(OpenContext context, Target of, long init) {
        Memory.putInt(init + QP_INIT_ATTR_EX.at("comp_mask"), VerbsConstants.IBV_QP_INIT_ATTR_XRCD);
        Memory.putLong(init + QP_INIT_ATTR_EX.at("xrcd"), of.xrcAddress);
        return context.ops()
                .extended("ptr create_qp_ex(ptr, ptr)")
                .map(create -> create.call(context.address(), init))
                .orElse(new NativeFunction.Result(0, Errno.EOPNOTSUPP.code));
    }

    private RuntimeException refused(int error) {
        if (Errno.EINVAL.is(error)) {
            return new ResourceLimitException(
                    "createQueuePair",
                    "sizes",
                    options.maxSendWr(),
                    "the device says " + Errno.text(error) + " for " + options.sizes()
                            + "; each is within its limits, so smaller ones together may do");
        }
        return context.refused("createQueuePair", "queue pairs", error);
    }

    public long address() {
        return address;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public int qpn() {
        return qpn;
    }

    @Override
    public QpType type() {
        return options.type();
    }

    /// Asks the device.
    @Override
    public synchronized QpState state() {
        if (!isOpen()) {
            return QpState.RESET;
        }
        try (Arena arena = Arena.ofConfined()) {
            long at = ask(arena, QpAttribute.STATE.bit());
            return asked(Memory.getInt(at + QP_ATTR.at("qp_state")));
        }
    }

    private QpState asked(int code) {
        if (context.isIwarp()) {
            return known;
        }
        QpState told = code >= 0 && code < QpState.values().length ? QpState.values()[code] : known;
        known = told;
        return told;
    }

    /// Asks the device for its `struct ibv_qp_attr`. Over iWARP little of it means anything, and soft-iWARP leaves
    /// most of it unwritten (Linux 6.1). So there the answer is the state that this library has set itself.
    private long ask(Arena arena, int mask) {
        long at = arena.allocate(QP_ATTR.size(), 8).address();
        if (context.isIwarp()) {
            Memory.putInt(at + QP_ATTR.at("qp_access_flags"), knownAccess);
            return at;
        }
        long init = arena.allocate(QP_INIT_ATTR.size(), 8).address();
        int error = context.library().queryQp.call(address, at, mask, init).error();
        if (error != 0) {
            throw new DeviceException("query: " + label() + ": ibv_query_qp says " + Errno.text(error));
        }
        return at;
    }

    // ---- posting

    @Override
    public SendBatch sendBatch() {
        if (target != null) {
            throw new InvalidStateException("send: " + label() + " is an XRC target, which sends nothing");
        }
        return sends.begin();
    }

    void checkSendable(String verb) {
        checkOpen(verb);
        QpState state = known;
        if (state.ordinal() < QpState.RTS.ordinal()) {
            throw new InvalidStateException(verb + ": " + label() + " is in " + state
                    + "; sends can be posted from RTS on (connect, or modify to INIT, RTR and RTS)");
        }
    }

    @Override
    public ReceiveBatch receiveBatch() {
        if (receives == null) {
            throw new InvalidStateException("receive: " + label()
                    + switch (type()) {
                        case XRC_INITIATOR -> " is an XRC initiator, which receives nothing";
                        case XRC_TARGET -> " takes receives from the shared receive queues that its peer names";
                        case RC, UC, UD, RAW_PACKET -> " takes receives from its shared receive queue; post them there";
                    });
        }
        return receives.begin();
    }

    @Override
    public PacketFlow attachFlow(FlowRule rule) {
        checkOpen("attachFlow");
        if (type() != QpType.RAW_PACKET) {
            throw new InvalidStateException("attachFlow: " + label() + " is of type " + type()
                    + "; frames come to queue pairs of type RAW_PACKET");
        }
        return new IbvFlow(context, this, address, rule);
    }

    private void checkReceivable(String verb) {
        checkOpen(verb);
        if (known == QpState.RESET) {
            throw new InvalidStateException(
                    verb + ": " + label() + " is in RESET; receives can be posted from INIT on");
        }
    }

    int datagramBytesMax() {
        return datagramBytesMax;
    }

    // ---- modifying

    @Override
    public synchronized void modify(QpModification modification) {
        checkOpen("modify");
        QpState from = state();
        QpState to = context.isIwarp()
                ? QpStateTable.checkIwarp(context.device().name(), from, modification)
                : QpStateTable.check(type(), from, modification);
        if (modification.mask().isEmpty()) {
            return; // what an iWARP connection does by itself
        }
        if (to == QpState.ERR) {
            endedHere = true; // before the end of a connection is told
        }
        int mask = 0;
        for (QpAttribute attribute : modification.mask()) {
            mask |= attribute.bit();
        }
        try (Arena arena = Arena.ofConfined()) {
            long at = arena.allocate(QP_ATTR.size(), 8).address();
            new Modification(modification).write(at, context);
            int error = context.library().modifyQp.call(address, at, mask).error();
            if (error != 0) {
                throw refused(from, to, modification, error);
            }
        }
        known = to;
        if (modification.has(QpAttribute.ACCESS_FLAGS)) {
            knownAccess = Modification.accessBits(modification);
        }
        if (to == QpState.RESET) {
            endedHere = false;
            connector.reset();
        }
        if (type() == QpType.UD && to == QpState.INIT) {
            datagramBytesMax = context.port(modification.get(QpAttribute.PORT, 1))
                    .activeMtu()
                    .bytes();
        }
    }

    private RuntimeException refused(QpState from, QpState to, QpModification modification, int error) {
        String what = "modify: " + label() + " from " + from + " to " + to;
        if (Errno.isUnsupported(error)) {
            return new InvalidAttributesException(
                    what + ": the device does not do this with " + modification.mask() + ": " + Errno.text(error));
        }
        if (Errno.EINVAL.is(error)
                || Errno.ETIMEDOUT.is(error)
                || Errno.EHOSTUNREACH.is(error)
                || Errno.ENETUNREACH.is(error)) {
            return new InvalidAttributesException(
                    what + ": the device refuses a value of " + modification + ": " + Errno.text(error));
        }
        return new DeviceException(what + ": ibv_modify_qp says " + Errno.text(error));
    }

    /// Returns whether the program has taken it to ERR, by which an iWARP connection ends.
    public boolean isEndedHere() {
        return endedHere;
    }

    /// Sets the state to which the kernel has moved it, with its connection.
    public void moved(QpState to) {
        known = to;
    }

    /// Handles an event, on the poller's thread.
    public void onAsyncEvent(AsyncEvent.Type type) {
        if (type == AsyncEvent.Type.QP_FATAL
                || type == AsyncEvent.Type.QP_REQ_ERR
                || type == AsyncEvent.Type.QP_ACCESS_ERR) {
            known = QpState.ERR;
        }
    }

    @Override
    public QueuePairOptions options() {
        return options;
    }

    @Override
    public synchronized QueuePairAttributes query() {
        checkOpen("query");
        try (Arena arena = Arena.ofConfined()) {
            long at = ask(arena, (1 << 21) - 1);
            QpState state = asked(Memory.getInt(at + QP_ATTR.at("qp_state")));
            return new QueuePairAttributes(
                    state,
                    Memory.getUnsignedByte(at + QP_ATTR.at("sq_draining")) != 0,
                    Math.max(1, Memory.getUnsignedByte(at + QP_ATTR.at("port_num"))),
                    Memory.getUnsignedShort(at + QP_ATTR.at("pkey_index")),
                    Memory.getInt(at + QP_ATTR.at("qkey")),
                    Modification.access(Memory.getInt(at + QP_ATTR.at("qp_access_flags"))),
                    new QueuePairAttributes.Peer(
                            Memory.getInt(at + QP_ATTR.at("dest_qp_num")) & Endpoint.QPN_MASK,
                            AddressVectors.read(at + QP_ATTR.at("ah_attr")),
                            PortQuery.mtu(Memory.getInt(at + QP_ATTR.at("path_mtu"))),
                            AddressVectors.read(at + QP_ATTR.at("alt_ah_attr"))
                                    .map(path -> new AlternatePath(
                                            path,
                                            Memory.getUnsignedShort(at + QP_ATTR.at("alt_pkey_index")),
                                            new AckTimeout(
                                                    Memory.getUnsignedByte(at + QP_ATTR.at("alt_timeout")) & 31))),
                            migration(Memory.getInt(at + QP_ATTR.at("path_mig_state")))),
                    new QueuePairAttributes.Sending(
                            Memory.getInt(at + QP_ATTR.at("sq_psn")) & Endpoint.PSN_MASK,
                            Memory.getUnsignedByte(at + QP_ATTR.at("max_rd_atomic")),
                            new AckTimeout(Memory.getUnsignedByte(at + QP_ATTR.at("timeout")) & 31),
                            Memory.getUnsignedByte(at + QP_ATTR.at("retry_cnt")),
                            Memory.getUnsignedByte(at + QP_ATTR.at("rnr_retry"))),
                    new QueuePairAttributes.Receiving(
                            Memory.getInt(at + QP_ATTR.at("rq_psn")) & Endpoint.PSN_MASK,
                            Memory.getUnsignedByte(at + QP_ATTR.at("max_dest_rd_atomic")),
                            new RnrTimer(Memory.getUnsignedByte(at + QP_ATTR.at("min_rnr_timer")) & 31)),
                    options);
        }
    }

    /// Returns the state of migration. Drivers without migration leave the field as it is.
    private static PathMigration migration(int code) {
        return code > 0 && code < PathMigration.values().length ? PathMigration.ofCode(code) : PathMigration.MIGRATED;
    }

    // ---- connecting

    @Override
    public Endpoint endpoint(int gidIndex) {
        checkOpen("endpoint");
        return connector.endpoint(gidIndex);
    }

    @Override
    public void connect(Endpoint remote, EndpointOptions choices) {
        checkOpen("connect");
        connector.connect(remote, choices);
    }

    // ---- multicast

    @Override
    public synchronized void attachMulticast(Gid group) {
        checkMulticast("attachMulticast", group);
        if (groups.containsKey(group)) {
            return;
        }
        int error = multicast(context.library().attachMcast, group);
        if (Errno.ENOMEM.is(error)) {
            throw new ResourceLimitException(
                    "attachMulticast",
                    "maxMulticastGroups",
                    context.attributes().datagrams().maxMulticastGroups(),
                    "the device says " + Errno.text(error));
        }
        if (error != 0) {
            throw new DeviceException("attachMulticast: " + group + ": the device says " + Errno.text(error));
        }
        groups.put(group, Membership.join(group, context.gids(1)));
    }

    @Override
    public synchronized void detachMulticast(Gid group) {
        checkMulticast("detachMulticast", group);
        Membership joined = groups.remove(group);
        if (joined == null) {
            throw new InvalidStateException("detachMulticast: " + label() + " is not attached to " + group);
        }
        leave(group, joined);
    }

    private void leave(Gid group, Membership joined) {
        joined.close();
        multicast(context.library().detachMcast, group);
    }

    private int multicast(NativeFunction verb, Gid group) {
        try (Arena arena = Arena.ofConfined()) {
            long at = arena.allocate(Gid.BYTES, 8).address();
            Memory.putGid(at, group);
            return verb.call(address, at, (short) 0).error();
        }
    }

    private void checkMulticast(String verb, Gid group) {
        checkOpen(verb);
        Arguments.checkMulticast(verb, context, this, group);
    }

    /// Waits for batches that other threads have open, before it takes what they may want to ask the queue pair.
    @Override
    protected void release() {
        sends.closeGate();
        if (receives != null) {
            receives.closeGate();
        }
        destroy();
    }

    private synchronized void destroy() {
        groups.forEach(this::leave);
        groups.clear();
        int error = context.library().destroyQp.call(address).error();
        if (error != 0) {
            sends.openGate();
            if (receives != null) {
                receives.openGate();
            }
            throw new DeviceException("close: " + label() + ": ibv_destroy_qp says " + Errno.text(error));
        }
        context.forget(address);
    }
}
