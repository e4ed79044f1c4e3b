package verbena.nic;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.nic.engine.Engine;
import verbena.nic.engine.Station;
import verbena.nic.link.LinkException;
import verbena.nic.link.TcpLink;
import verbena.transport.Counter;
import verbena.transport.Counters;
import verbena.transport.Path;
import verbena.transport.QueuePairEvents;
import verbena.transport.QueuePairParameters;
import verbena.transport.QueuePairProtocol;
import verbena.transport.Retransmission;
import verbena.transport.iwarp.IwarpConnection;
import verbena.transport.memory.MemoryTable;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.SendQueue;
import verbena.transport.rc.ReliableConnection;
import verbena.transport.rc.XrcInitiator;
import verbena.transport.rc.XrcTarget;
import verbena.transport.unreliable.UnreliableConnection;
import verbena.transport.unreliable.UnreliableDatagram;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressVector;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Capability;
import verbena.verbs.ConnectOptions;
import verbena.verbs.DeviceException;
import verbena.verbs.Endpoint;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.InvalidAttributesException;
import verbena.verbs.InvalidStateException;
import verbena.verbs.Mtu;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpAttribute;
import verbena.verbs.QpAttributes;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QpStateTable;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.RnrTimer;
import verbena.verbs.SendBatch;
import verbena.verbs.Transition;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.spi.OwnedObject;
import verbena.wire.ib.Transport;

/// A queue pair: the posting sides, which belong to the application's threads, and the protocol, which belongs to
/// the engine. Modifying it is a command to the engine.
final class SoftQueuePair extends OwnedObject implements QueuePair, QueuePairEvents {
    private static final Set<Access> REMOTE = EnumSet.of(
            Access.REMOTE_READ,
            Access.REMOTE_WRITE,
            Access.REMOTE_ATOMIC,
            Access.FLUSH_GLOBAL,
            Access.FLUSH_PERSISTENT);
    private static final int MASK_24 = 0xFF_FFFF;

    private final SoftProtectionDomain domain;
    private final SoftContext context;
    private final Engine engine;
    private final QueuePairOptions options;
    private final SoftCompletionQueue sendCq;
    private final SoftCompletionQueue receiveCq;
    private final QueuePairParameters parameters;
    private final QueuePairProtocol protocol;
    /// The protocol of an iWARP device; null when packets are sent.
    private final @Nullable SoftStream stream;
    private final Station station;
    private final Counters counters;
    private final InlineMemory inlineMemory;
    /// Null of an XRC target, which sends nothing.
    private final @Nullable SoftSends sends;
    private final ReceiveQueue receiveQueue;
    private final @Nullable SoftReceives receives;
    /// Of an XRC target; null of all others.
    private final @Nullable SoftXrcDomain xrcDomain;

    // Engine-confined, for those who ask.
    private Optional<AddressVector> path = Optional.empty();
    private AckTimeout ackTimeout = AckTimeout.NEVER;

    /// The engine's state, for posters. Written before anything is flushed and read after anything is published,
    /// so that what is posted while the queue pair breaks down is flushed by one or the other.
    private volatile QpState state = QpState.RESET;

    private volatile int initialPsn;
    private @Nullable Consumer<String> failureListener;
    private @Nullable BooleanConsumer firstPacketListener;
    private @Nullable Runnable accessErrorListener;
    /// Engine: QP_FATAL is raised once in a life of the queue pair.
    private boolean fatalTold;
    /// It is closed, and the engine has let go.
    private volatile boolean ended;
    /// The GID that [#endpoint(int)] gave out last; -1 before.
    private volatile int endpointGid = -1;

    static SoftQueuePair create(
            SoftProtectionDomain domain,
            QueuePairOptions options,
            SoftCompletionQueue sendCq,
            SoftCompletionQueue receiveCq,
            @Nullable SoftSharedReceiveQueue srq) {
        Engine engine = domain.soft().place(sendCq, receiveCq, srq);
        return create(engine, domain, options, sendCq, receiveCq, srq, null);
    }

    /// A target of an XRC domain.
    ///
    /// @param none in which nothing ever completes
    static SoftQueuePair createTarget(
            SoftXrcDomain xrcDomain, SoftProtectionDomain domain, QueuePairOptions options, SoftCompletionQueue none) {
        return create(xrcDomain.home(), domain, options, none, none, null, xrcDomain);
    }

    private static SoftQueuePair create(
            Engine engine,
            SoftProtectionDomain domain,
            QueuePairOptions options,
            SoftCompletionQueue sendCq,
            SoftCompletionQueue receiveCq,
            @Nullable SoftSharedReceiveQueue srq,
            @Nullable SoftXrcDomain xrcDomain) {
        var made = new SoftQueuePair[1];
        int qpn = engine.add(number -> {
            made[0] = new SoftQueuePair(number, engine, domain, options, sendCq, receiveCq, srq, xrcDomain);
            return made[0].station;
        });
        if (qpn < 0) {
            throw new ResourceLimitException(
                    "createQueuePair", "maxQp", domain.soft().queuePairsMax, "all are in use; close some");
        }
        Flight.created(made[0]);
        return made[0];
    }

    private SoftQueuePair(
            int qpn,
            Engine engine,
            SoftProtectionDomain domain,
            QueuePairOptions options,
            SoftCompletionQueue sendCq,
            SoftCompletionQueue receiveCq,
            @Nullable SoftSharedReceiveQueue srq,
            @Nullable SoftXrcDomain xrcDomain) {
        super("queue pair 0x" + Integer.toHexString(qpn));
        this.domain = domain;
        this.xrcDomain = xrcDomain;
        this.context = domain.soft();
        this.engine = engine;
        this.options = options;
        this.sendCq = sendCq;
        this.receiveCq = receiveCq;
        this.parameters = new QueuePairParameters(qpn);
        parameters.protectionDomain = domain.number();
        parameters.sharedDomain = srq == null ? -1 : srq.domain().number();
        parameters.windows = engine.windows();
        parameters.pathMtu = type() == QpType.UD ? context.mtu().bytes() : parameters.pathMtu;
        var inline = new InlineMemory(context.slabs);
        this.inlineMemory = inline;
        var sendQueue = new SendQueue(options.maxSendWr(), options.maxSendSge(), options.maxInlineBytes(), inline);
        this.receiveQueue = srq != null
                ? srq.queue()
                : type().isXrc()
                        ? new ReceiveQueue(0, SoftContext.SGE_MAX, () -> {})
                        : new ReceiveQueue(options.maxReceiveWr(), options.maxReceiveSge(), () -> {});
        Maker maker = switch (options.type()) {
            case RC -> ReliableConnection::new;
            case UC -> UnreliableConnection::new;
            case UD -> UnreliableDatagram::new;
            case XRC_INITIATOR, XRC_TARGET -> this::makeXrc;
        };
        this.counters = engine.counters().part();
        TcpLink streams = context.streams();
        this.stream = streams == null
                ? null
                : new SoftStream(
                        context,
                        streams,
                        new IwarpConnection(
                                parameters,
                                sendQueue,
                                receiveQueue,
                                srq != null,
                                options.signalAll(),
                                sendCq.ring(),
                                receiveCq.ring(),
                                context.memory(engine),
                                counters,
                                this));
        this.protocol = stream != null
                ? stream
                : maker.make(
                        parameters,
                        sendQueue,
                        receiveQueue,
                        srq != null,
                        options.signalAll(),
                        sendCq.ring(),
                        receiveCq.ring(),
                        context.memory(engine),
                        counters,
                        this);
        Transport transport = transport(options.type());
        this.station = new Station(protocol, transport, counters, this::breakDown);
        if (stream != null) {
            stream.station(station);
        }
        this.sends = xrcDomain != null ? null : new SoftSends(this, domain, transport, sendQueue, options);
        this.receives = srq != null || type().isXrc()
                ? null
                : new SoftReceives(domain, receiveQueue, "maxReceiveWr", "maxReceiveSge", new ReceiveOwner());
        this.initialPsn = context.random().nextInt() & MASK_24;
        boolean made = false;
        try {
            madeFrom(List.of(domain, sendCq, receiveCq));
            if (srq != null) {
                madeFrom(srq);
            }
            if (xrcDomain != null) {
                madeFrom(xrcDomain);
            }
            made = true;
        } finally {
            if (!made) {
                abandon(); // one of them was closed this moment
                inline.free();
            }
        }
        sendCq.attach(this);
        receiveCq.attach(this);
        context.queuePairs.put(qpn, this);
    }

    /// What an iWARP connection runs through; null when packets are sent.
    @Nullable
    SoftStream stream() {
        return stream;
    }

    /// Engine: why it is in ERR by itself, in words; empty when it is not.
    String rootCause() {
        return protocol.rootCause();
    }

    // ---- for those who look from outside, on any thread: what they see may be a moment old

    @Override
    public SortedMap<String, Long> counters() {
        return counters.snapshot();
    }

    long count(Counter counter) {
        return counters.get(counter);
    }

    QueuePairOptions options() {
        return options;
    }

    String deviceName() {
        return context.device().name();
    }

    /// The address of the peer that it is connected to; empty when there is none.
    String peer() {
        if (stream != null) {
            return stream.peer();
        }
        Path to = parameters.path;
        return to == Path.NONE ? "" : new Gid(to.destinationHigh(), to.destinationLow()).toString();
    }

    /// The number of the peer's queue pair; 0 when there is none.
    int peerQpn() {
        return parameters.destinationQpn;
    }

    /// Sends that are posted and not done.
    long sendsOutstanding() {
        return sends == null ? 0 : sends.outstanding();
    }

    /// Receives that are posted and not used, of a shared queue all.
    long receivesPosted() {
        return receiveQueue.available();
    }

    int receiveCapacity() {
        return receiveQueue.capacity();
    }

    boolean isReceiveShared() {
        return receives == null;
    }

    SoftCompletionQueue sendCompletions() {
        return sendCq;
    }

    SoftCompletionQueue receiveCompletions() {
        return receiveCq;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public int qpn() {
        return parameters.qpn;
    }

    @Override
    public QpType type() {
        return options.type();
    }

    @Override
    public QpState state() {
        return state;
    }

    // ---- posting

    @Override
    public SendBatch send() {
        if (sends == null) {
            throw new InvalidStateException("send: " + label() + " is an XRC target, which sends nothing");
        }
        return sends.begin();
    }

    void checkSendable(String verb) {
        checkOpen(verb);
        switch (state) {
            case RESET, INIT, RTR ->
                throw new InvalidStateException(verb + ": " + label() + " is in " + state
                        + "; sends can be posted from RTS on (connect, or modify to INIT, RTR and RTS)");
            case RTS, SQD, SQE, ERR -> {}
        }
    }

    /// Where it lives.
    Engine engine() {
        return engine;
    }

    /// Sends were posted: so many, and bytes of their messages.
    void ring(int requests, long bytes) {
        engine.ring(station, requests, bytes);
    }

    /// A poster has closed its batch.
    void onBatchClosed() {
        if (ended) {
            freeInlineMemory();
        }
    }

    /// The engine has let go of the inline memory. If somebody has a batch open in which inline data may still be
    /// written, it is freed when that is closed: `ended` is written before the lock is tried, and read after it is
    /// given back.
    private void freeInlineMemory() {
        if (sends == null) {
            inlineMemory.free();
        } else if (sends.tryLock()) {
            try {
                inlineMemory.free();
            } finally {
                sends.unlock();
            }
        }
    }

    @Override
    public ReceiveBatch receive() {
        if (receives == null) {
            throw new InvalidStateException("receive: " + label()
                    + switch (type()) {
                        case XRC_INITIATOR -> " is an XRC initiator, which receives nothing";
                        case XRC_TARGET -> " takes receives from the shared receive queues that its peer names";
                        case RC, UC, UD -> " takes receives from its shared receive queue; post them there";
                    });
        }
        return receives.begin();
    }

    private final class ReceiveOwner implements SoftReceives.Owner {
        @Override
        public void checkPostable(String verb) {
            checkOpen(verb);
            if (state == QpState.RESET) {
                throw new InvalidStateException(
                        verb + ": " + label() + " is in RESET; receives can be posted from INIT on");
            }
        }

        /// Receives need no doorbell, because a packet finds them; but nothing arrives any more in ERR, and a
        /// stream may have stopped for want of one.
        @Override
        public void posted() {
            if (state == QpState.ERR || (stream != null && stream.isStalled())) {
                ring(0, 0); // no send
            }
        }

        @Override
        public String label() {
            return SoftQueuePair.this.label();
        }
    }

    /// Where a send queue keeps inline data: a piece of a slab.
    private static final class InlineMemory implements SegmentAllocator {
        private final Slabs slabs;
        private final List<Slabs.Piece> pieces = new ArrayList<>(0);

        InlineMemory(Slabs slabs) {
            this.slabs = slabs;
        }

        @Override
        public MemorySegment allocate(long bytes, long alignment) {
            Slabs.Piece made = slabs.allocate(bytes);
            pieces.add(made);
            return made.segment();
        }

        /// Idempotent; under the posters' lock.
        void free() {
            pieces.forEach(piece -> piece.free().run());
            pieces.clear();
        }
    }

    // ---- modifying

    @Override
    public void modify(QpModification modification) {
        checkOpen("modify");
        if (sends == null || modification.get(QpAttribute.STATE, QpState.class, state) != QpState.RESET) {
            change(modification);
            return;
        }
        // RESET forgets what is posted: nobody is to publish something from before afterwards.
        sends.checkNotMine("modify");
        if (receives != null) {
            receives.checkNotMine("modify");
        }
        sends.lock();
        try {
            if (receives != null) {
                receives.lock();
            }
            try {
                change(modification);
            } finally {
                if (receives != null) {
                    receives.unlock();
                }
            }
        } finally {
            sends.unlock();
        }
    }

    private void change(QpModification modification) {
        if (modification.has(QpAttribute.ALT_PATH) || modification.has(QpAttribute.PATH_MIG_STATE)) {
            throw new InvalidAttributesException(
                    "modify: path migration is not supported",
                    Set.of(),
                    EnumSet.of(QpAttribute.ALT_PATH, QpAttribute.PATH_MIG_STATE));
        }
        check(state, modification);
        checkValues(modification);
        AddressVector to = modification.get(QpAttribute.AV, AddressVector.class, NO_PATH);
        Path way = modification.has(QpAttribute.AV) ? context.path("modify: AV", to) : Path.NONE;
        engine.call(() -> {
            // Again, on the engine: it may have broken down or been closed meanwhile.
            checkOpen("modify");
            QpState from = parameters.state;
            QpState next = check(from, modification);
            if (next == QpState.RESET) {
                station.stamp(0);
                forget();
            } else {
                apply(modification, to, way);
            }
            parameters.state = next;
            state = next;
            protocol.onModified(from, next, engine.nowNanos());
            engine.makeReady(station);
            Flight.modified(this, from, next, false, "");
            return next;
        });
    }

    /// The state after a modification.
    private QpState check(QpState from, QpModification modification) {
        return stream == null
                ? QpStateTable.check(type(), from, modification)
                : QpStateTable.checkIwarp(context.device().name(), from, modification);
    }

    /// RESET: as freshly made, with another first PSN.
    private void forget() {
        fatalTold = false;
        var p = parameters;
        var fresh = new QueuePairParameters(p.qpn);
        p.pathMtu = type() == QpType.UD ? context.mtu().bytes() : fresh.pathMtu;
        p.access = fresh.access;
        p.destinationQpn = fresh.destinationQpn;
        p.rqPsn = fresh.rqPsn;
        p.sqPsn = fresh.sqPsn;
        p.readsOutstandingMax = fresh.readsOutstandingMax;
        p.readsServedMax = fresh.readsServedMax;
        p.minRnrTimerCode = fresh.minRnrTimerCode;
        p.ackTimeoutNanos = fresh.ackTimeoutNanos;
        p.retryCount = fresh.retryCount;
        p.rnrRetry = fresh.rnrRetry;
        p.keepAliveNanos = fresh.keepAliveNanos;
        p.path = Path.NONE;
        p.peerSourcePort = fresh.peerSourcePort;
        p.qkey = fresh.qkey;
        p.notifyWhenDrained = fresh.notifyWhenDrained;
        path = Optional.empty();
        ackTimeout = AckTimeout.NEVER;
        initialPsn = context.random().nextInt() & MASK_24;
        endpointGid = -1;
    }

    private static final AddressVector NO_PATH = AddressVector.to(new Gid(0, 0), 0);

    private void checkValues(QpModification m) {
        range(m, QpAttribute.PORT, 1, 1);
        range(m, QpAttribute.PKEY_INDEX, 0, 0);
        range(m, QpAttribute.DEST_QPN, 0, MASK_24);
        range(m, QpAttribute.RQ_PSN, 0, MASK_24);
        range(m, QpAttribute.SQ_PSN, 0, MASK_24);
        range(m, QpAttribute.RETRY_CNT, 0, 7);
        range(m, QpAttribute.RNR_RETRY, 0, 7);
        range(m, QpAttribute.MAX_QP_RD_ATOMIC, 0, SoftContext.READ_ATOMIC_MAX);
        range(m, QpAttribute.MAX_DEST_RD_ATOMIC, 0, SoftContext.READ_ATOMIC_MAX);
        Mtu mtu = m.get(QpAttribute.PATH_MTU, Mtu.class, Mtu.MTU_256);
        if (mtu.compareTo(context.mtu()) > 0) {
            throw new InvalidAttributesException("modify: PATH_MTU " + mtu + " is more than " + context.mtu()
                    + ", the port's active MTU; see the network interface's own MTU");
        }
    }

    private static void range(QpModification m, QpAttribute attribute, int min, int max) {
        int value = m.getInt(attribute, min);
        if (value < min || value > max) {
            throw new InvalidAttributesException("modify: " + attribute + ": "
                    + (min == max ? min + " is the only one" : min + " to " + max) + ", got " + value);
        }
    }

    private void apply(QpModification m, AddressVector to, Path way) {
        var p = parameters;
        if (m.has(QpAttribute.ACCESS_FLAGS)) {
            var access = EnumSet.noneOf(Access.class);
            for (Object a : m.get(QpAttribute.ACCESS_FLAGS, Set.class, Set.of())) {
                access.add((Access) a);
            }
            access.retainAll(REMOTE);
            p.access = Access.bits(access);
        }
        if (m.has(QpAttribute.AV)) {
            path = Optional.of(to);
            p.path = way;
        }
        p.pathMtu =
                m.get(QpAttribute.PATH_MTU, Mtu.class, Mtu.ofBytes(p.pathMtu)).bytes();
        p.qkey = m.getInt(QpAttribute.QKEY, p.qkey);
        p.destinationQpn = m.getInt(QpAttribute.DEST_QPN, p.destinationQpn);
        p.rqPsn = m.getInt(QpAttribute.RQ_PSN, p.rqPsn);
        p.sqPsn = m.getInt(QpAttribute.SQ_PSN, p.sqPsn);
        p.retryCount = m.getInt(QpAttribute.RETRY_CNT, p.retryCount);
        p.rnrRetry = m.getInt(QpAttribute.RNR_RETRY, p.rnrRetry);
        p.readsOutstandingMax = m.getInt(QpAttribute.MAX_QP_RD_ATOMIC, p.readsOutstandingMax);
        p.readsServedMax = m.getInt(QpAttribute.MAX_DEST_RD_ATOMIC, p.readsServedMax);
        p.minRnrTimerCode = m.get(QpAttribute.MIN_RNR_TIMER, RnrTimer.class, new RnrTimer(p.minRnrTimerCode))
                .code();
        ackTimeout = m.get(QpAttribute.TIMEOUT, AckTimeout.class, ackTimeout);
        p.ackTimeoutNanos = ackTimeout.duration().toNanos();
        if (p.state != QpState.SQD) { // it belongs to the step into SQD
            p.notifyWhenDrained = m.get(QpAttribute.EN_SQD_ASYNC_NOTIFY, Boolean.class, false);
        }
    }

    @Override
    public QpAttributes query() {
        checkOpen("query");
        return engine.call(() -> {
            var p = parameters;
            return new QpAttributes(
                    p.state,
                    Mtu.ofBytes(p.pathMtu),
                    p.qkey,
                    p.rqPsn,
                    p.sqPsn,
                    p.destinationQpn,
                    Access.ofBits(p.access),
                    path,
                    0,
                    1,
                    protocol.isDraining(),
                    p.readsOutstandingMax,
                    p.readsServedMax,
                    new RnrTimer(p.minRnrTimerCode),
                    ackTimeout,
                    p.retryCount,
                    p.rnrRetry,
                    options);
        });
    }

    // ---- connecting

    @Override
    public Endpoint endpoint(int gidIndex) {
        checkOpen("endpoint");
        context.require("endpoint", Capability.ENDPOINTS);
        GidEntry own = context.gid(1, gidIndex);
        endpointGid = gidIndex;
        return new Endpoint(own.gid(), own.type(), qpn(), initialPsn, context.mtu());
    }

    @Override
    public void connect(Endpoint remote, ConnectOptions choices) {
        checkOpen("connect");
        context.require("connect", Capability.ENDPOINTS);
        if (type() == QpType.UD) {
            throw new InvalidStateException("connect: " + label() + " is of type UD, which has no peer: modify it to"
                    + " INIT, RTR and RTS, and name the receiver of each datagram with an address handle");
        }
        if (state != QpState.RESET && state != QpState.INIT) {
            throw new InvalidStateException("connect: " + label() + " is in " + state + ", not in RESET or INIT");
        }
        if (context.gids(1).stream()
                .noneMatch(own -> own.gid().isIpv4() == remote.gid().isIpv4())) {
            throw new InvalidAttributesException("connect: the peer's address " + remote.gid() + " is "
                    + (remote.gid().isIpv4() ? "IPv4" : "IPv6") + ", and "
                    + context.device().name() + " has only "
                    + context.gids(1).stream().map(own -> own.gid().toString()).toList()
                    + "; use addresses of one family at both ends");
        }
        GidEntry own = ownGid(remote.gid());
        if (own.type() != remote.gidType()) {
            throw new InvalidAttributesException("connect: this end's GID " + own.gid() + " is of type " + own.type()
                    + ", the peer's " + remote.gid() + " of type " + remote.gidType());
        }
        Mtu common = context.mtu().min(remote.mtu());
        Mtu mtu = choices.mtu().orElse(common);
        if (mtu.compareTo(common) > 0) {
            throw new InvalidAttributesException("connect: path MTU " + mtu + " is more than " + common
                    + ", the smaller of what this end (" + context.mtu() + ") and the peer (" + remote.mtu()
                    + ") can use");
        }
        if (state == QpState.RESET) {
            modify(new Transition.ToInit(choices.access()));
        } else {
            modify(new QpModification().access(choices.access()));
        }
        var path = AddressVector.to(remote.gid(), own.index()).withTrafficClass(choices.trafficClass());
        if (type() == QpType.UC) {
            modify(new Transition.ToRtrUc(path, mtu, remote.qpn(), remote.psn()));
            modify(new Transition.ToRtsUnreliable(initialPsn));
            return;
        }
        if (type() == QpType.XRC_INITIATOR) {
            modify(new Transition.ToRtrUc(path, mtu, remote.qpn(), remote.psn()));
        } else {
            modify(new Transition.ToRtr(
                    path, mtu, remote.qpn(), remote.psn(), choices.maxReadAtomic(), choices.minRnrTimer()));
        }
        if (type() == QpType.XRC_TARGET) {
            modify(new QpModification().state(QpState.RTS).sqPsn(initialPsn).ackTimeout(choices.ackTimeout()));
            return;
        }
        modify(new Transition.ToRts(
                initialPsn, choices.ackTimeout(), choices.retryCount(), choices.rnrRetry(), choices.maxReadAtomic()));
    }

    /// The GID that was given to the peer when it suits the peer's, else the one that does.
    private GidEntry ownGid(Gid peer) {
        int given = endpointGid;
        if (given >= 0) {
            GidEntry own = context.gid(1, given);
            if (own.gid().isIpv4() == peer.isIpv4()) {
                return own;
            }
        }
        return context.gidFor(1, peer);
    }

    @Override
    public void attachMulticast(Gid group) {
        checkMulticast("attachMulticast", group);
        try {
            engine.call(() -> {
                checkOpen("attachMulticast"); // again, on the engine
                engine.attach(station, group);
                return true;
            });
        } catch (LinkException e) {
            throw new DeviceException("attachMulticast: " + e.getMessage(), e);
        }
    }

    @Override
    public void detachMulticast(Gid group) {
        checkMulticast("detachMulticast", group);
        if (!engine.call(() -> engine.detach(station, group))) {
            throw new InvalidStateException("detachMulticast: " + label() + " is not attached to " + group);
        }
    }

    private void checkMulticast(String verb, Gid group) {
        checkOpen(verb);
        context.require(verb, Capability.MULTICAST);
        if (type() != QpType.UD) {
            throw new InvalidStateException(verb + ": " + label() + " is of type " + type() + "; only UD takes part");
        }
        if (!group.isMulticast()) {
            throw new IllegalArgumentException(
                    verb + ": group: 224.0.0.0 to 239.255.255.255 or ff00::/8, got " + group);
        }
    }

    // ---- by the engine

    @Override
    public void onState(QpState to) {
        Flight.modified(this, state, to, true, protocol.rootCause());
        state = to;
        Consumer<String> listener = failureListener;
        if (to == QpState.ERR && listener != null) {
            listener.accept(protocol.rootCause());
        }
    }

    @Override
    public void onAsyncEvent(AsyncEvent.Type type) {
        if (type == AsyncEvent.Type.QP_FATAL) {
            if (fatalTold) {
                return;
            }
            fatalTold = true;
        }
        context.raise(new AsyncEvent.QueuePairEvent(type, this));
    }

    @Override
    public void onAccessError() {
        Runnable listener = accessErrorListener;
        if (listener != null) {
            listener.run();
        }
    }

    @Override
    public void onError(long wrId, WcStatus status, WcOpcode opcode, int vendorError, String cause) {
        Flight.error(this, wrId, status, opcode, vendorError, cause);
    }

    @Override
    public void onRetransmission(Retransmission why, int psn, int retriesLeft) {
        Flight.retransmission(this, why, psn, retriesLeft);
    }

    @Override
    public void onRnrNak(int psn, long waitNanos, int retriesLeft) {
        Flight.rnrNak(this, psn, waitNanos, retriesLeft);
    }

    @Override
    public void onReady() {
        engine.makeReady(station);
    }

    @Override
    public void onFirstPacket(boolean isAnswer) {
        BooleanConsumer listener = firstPacketListener;
        if (listener != null) {
            listener.accept(isAnswer);
        }
    }

    /// Told whether something is so.
    interface BooleanConsumer {
        void accept(boolean is);
    }

    /// Engine: who is told when the first request, and the first answer, of the peer has come; null for nobody.
    void firstPacketListener(@Nullable BooleanConsumer listener) {
        firstPacketListener = listener;
    }

    /// Engine: who is told, in words, when the queue pair goes to ERR by itself; null for nobody.
    void failureListener(@Nullable Consumer<String> listener) {
        failureListener = listener;
    }

    /// Engine: who is told that the peer has asked for memory that it may not have; null for nobody.
    void accessErrorListener(@Nullable Runnable listener) {
        accessErrorListener = listener;
    }

    /// Engine: what its packets carry in place of the ICRC until it is reset; 0 for the ICRC.
    void stamp(int value) {
        station.stamp(value);
    }

    /// Engine: where the peer sends from until this is reset; 0 for any UDP port.
    void peerSourcePort(int port) {
        parameters.peerSourcePort = port;
    }

    /// Engine: when nothing has come from the peer for so long, it is asked whether it lives; zero for never.
    void keepAlive(Duration silence) {
        parameters.keepAliveNanos = silence.toNanos();
        if (parameters.state == QpState.RTS && type() == QpType.RC) {
            protocol.onModified(QpState.RTS, QpState.RTS, engine.nowNanos());
            engine.makeReady(station);
        }
    }

    /// Engine: its connection has ended: to ERR, and what was posted is flushed.
    void disconnected(String why) {
        if (parameters.state != QpState.RESET) {
            protocol.breakDown(why);
            engine.makeReady(station);
        }
    }

    /// Engine: to ERR, for a reason that no completion can tell.
    void breakDown(String cause) {
        QpState from = parameters.state;
        protocol.breakDown(cause);
        if (parameters.state != from) {
            onAsyncEvent(AsyncEvent.Type.QP_FATAL);
        }
        engine.makeReady(station);
    }

    /// The constructor that all protocols have.
    private interface Maker {
        QueuePairProtocol make(
                QueuePairParameters parameters,
                SendQueue sends,
                ReceiveQueue receives,
                boolean receivesShared,
                boolean signalAll,
                CompletionRing sendCompletions,
                CompletionRing receiveCompletions,
                MemoryTable memory,
                Counters counters,
                QueuePairEvents events);
    }

    /// As a [Maker].
    private QueuePairProtocol makeXrc(
            QueuePairParameters to,
            SendQueue sendQueue,
            ReceiveQueue none,
            boolean receivesShared,
            boolean signalAll,
            CompletionRing sendCompletions,
            CompletionRing receiveCompletions,
            MemoryTable memory,
            Counters counted,
            QueuePairEvents events) {
        return xrcDomain == null
                ? new XrcInitiator(to, sendQueue, signalAll, sendCompletions, memory, counted, events)
                : new XrcTarget(
                        to, none, xrcDomain.queues(), xrcDomain.number(), receiveCompletions, memory, counted, events);
    }

    private static Transport transport(QpType type) {
        return switch (type) {
            case RC -> Transport.RC;
            case UC -> Transport.UC;
            case UD -> Transport.UD;
            case XRC_INITIATOR, XRC_TARGET -> Transport.XRC;
        };
    }

    @Override
    protected boolean help() {
        return context.helpEngines();
    }

    @Override
    protected void release() {
        context.queuePairs.remove(qpn());
        sendCq.detach(this);
        receiveCq.detach(this);
        if (xrcDomain != null) {
            xrcDomain.forget(this);
        }
        engine.call(() -> {
            parameters.state = QpState.RESET;
            state = QpState.RESET;
            protocol.onModified(parameters.state, QpState.RESET, engine.nowNanos());
            engine.remove(qpn(), station);
            return true;
        });
        ended = true;
        freeInlineMemory();
        Flight.closed(this, count(Counter.SENT_PACKETS), count(Counter.RECEIVED_PACKETS));
    }
}
