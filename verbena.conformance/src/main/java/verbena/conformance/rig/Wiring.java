package verbena.conformance.rig;

import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.Capability;
import verbena.verbs.CompletionChannel;
import verbena.verbs.ConnectOptions;
import verbena.verbs.Mtu;
import verbena.verbs.QpModification;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.QueuePairOptions.Sizes;
import verbena.verbs.RnrTimer;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.Transition;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.ConnectionParameters;
import verbena.verbs.cm.PortSpace;

/// How two queue pairs are made and connected: by endpoints where the device has them, else by the connection
/// manager. Datagrams need no connection; their queue pairs are brought to RTS. Settings return the wiring.
public final class Wiring {
    /// Of every datagram queue pair of the suite.
    public static final int QKEY = 0x0BAD_CAFE;

    private final Rig rig;
    private final QpType type;
    private Sizes sizes;
    private boolean signalAll;
    private Set<Capability> extensions = Set.of();
    private Set<Access> access = Access.remoteAll();
    private @Nullable SharedReceiveQueue sharedAtB;
    private Optional<Mtu> mtu = Optional.empty();
    private AckTimeout ackTimeout = new AckTimeout(14);
    private int retryCount = 7;
    private int rnrRetry = 7;
    private RnrTimer minRnrTimer = new RnrTimer(12);
    private int reads;
    private long memoryBytes = Side.MEMORY_BYTES;
    private int cqEntries = Side.CQ_ENTRIES;
    private boolean channelAtB;

    Wiring(Rig rig, QpType type) {
        this.rig = rig;
        this.type = type;
        int sge = Math.min(4, rig.attributes().maxSge());
        sizes = new Sizes(64, 64, sge, sge, Math.min(64, rig.attributes().maxInlineBytes()));
        reads = Math.min(8, rig.attributes().maxQpReadAtomic());
    }

    public Wiring sizes(Sizes its) {
        sizes = its;
        return this;
    }

    public Wiring depth(int sends, int receives) {
        return sizes(new Sizes(sends, receives, sizes.maxSendSge(), sizes.maxReceiveSge(), sizes.maxInlineBytes()));
    }

    public Wiring inline(int bytes) {
        return sizes(
                new Sizes(sizes.maxSendWr(), sizes.maxReceiveWr(), sizes.maxSendSge(), sizes.maxReceiveSge(), bytes));
    }

    public Wiring sge(int entries) {
        return sizes(new Sizes(sizes.maxSendWr(), sizes.maxReceiveWr(), entries, entries, sizes.maxInlineBytes()));
    }

    public Wiring signalAll() {
        signalAll = true;
        return this;
    }

    public Wiring extensions(Capability... beyond) {
        extensions = Set.of(beyond);
        return this;
    }

    /// What the queue pair of `b` lets its peer do.
    public Wiring access(Set<Access> rights) {
        access = Set.copyOf(rights);
        return this;
    }

    /// The queue pair of `b` takes its receives from there.
    public Wiring shared(SharedReceiveQueue queue) {
        sharedAtB = queue;
        return this;
    }

    public Wiring mtu(Mtu path) {
        mtu = Optional.of(path);
        return this;
    }

    public Wiring retries(AckTimeout timeout, int retries, int rnrRetries) {
        ackTimeout = timeout;
        retryCount = retries;
        rnrRetry = rnrRetries;
        return this;
    }

    public Wiring minRnrTimer(RnrTimer timer) {
        minRnrTimer = timer;
        return this;
    }

    /// READs and atomics that each end may have outstanding.
    public Wiring reads(int outstanding) {
        reads = outstanding;
        return this;
    }

    public Wiring memory(long bytes) {
        memoryBytes = bytes;
        return this;
    }

    /// The completion queue of `b` has a channel.
    public Wiring channelAtB() {
        channelAtB = true;
        return this;
    }

    public Wiring cq(int entries) {
        cqEntries = entries;
        return this;
    }

    /// The sizes that queue pairs are made with.
    public Sizes sizes() {
        return sizes;
    }

    public QueuePairOptions options(Side side) {
        return new QueuePairOptions(type, side.cq, side.cq, Optional.empty(), sizes, signalAll, extensions);
    }

    /// Two new sides, connected.
    public Pair connect() throws InterruptedException {
        Side a = rig.side(rig.a(), memoryBytes, cqEntries, Optional.empty());
        Optional<CompletionChannel> channel =
                channelAtB ? Optional.of(rig.own(rig.b().createCompletionChannel())) : Optional.empty();
        return between(a, rig.side(rig.b(), memoryBytes, cqEntries, channel));
    }

    /// Connects these two, or where one has a queue pair already another beside it.
    public Pair between(Side first, Side second) throws InterruptedException {
        Side a = first.hasQp() ? first.beside() : first;
        Side b = second.hasQp() ? second.beside() : second;
        QueuePairOptions options = options(b);
        QueuePairOptions optionsOfB = sharedAtB == null ? options : options.withSharedReceiveQueue(sharedAtB);
        if (type == QpType.UD) {
            datagram(a.use(a.domain.createQueuePair(options(a))));
            datagram(b.use(b.domain.createQueuePair(optionsOfB)));
        } else if (rig.has(Capability.ENDPOINTS)) {
            byEndpoints(a.use(a.domain.createQueuePair(options(a))), b.use(b.domain.createQueuePair(optionsOfB)));
        } else {
            byManager(a, options(a), b, optionsOfB);
        }
        rig.tell(a.name + " and " + b.name + " are connected, " + type);
        return new Pair(a, b);
    }

    private static void datagram(QueuePair qp) {
        qp.modify(new Transition.ToInitUd(1, 0, QKEY));
        qp.modify(new Transition.ToRtrUd());
        qp.modify(new Transition.ToRtsUnreliable(0));
    }

    /// Brings two queue pairs to RTS by what they know of each other.
    public void byEndpoints(QueuePair a, QueuePair b) {
        int indexOfA = Rig.gid(a.protectionDomain().context()).index();
        int indexOfB = Rig.gid(b.protectionDomain().context()).index();
        a.connect(b.endpoint(indexOfB), connectOptions(Access.remoteAll()));
        b.connect(a.endpoint(indexOfA), connectOptions(access));
    }

    /// What [#byEndpoints] connects with.
    public ConnectOptions connectOptions(Set<Access> rights) {
        return new ConnectOptions(rights, mtu, ackTimeout, retryCount, rnrRetry, minRnrTimer, reads, 0);
    }

    private void byManager(Side a, QueuePairOptions optionsOfA, Side b, QueuePairOptions optionsOfB)
            throws InterruptedException {
        Meeting meeting = rig.meeting();
        var parameters = ConnectionParameters.defaults()
                .withReads(reads, reads)
                .withRetries(ackTimeout, retryCount, rnrRetry)
                .withMinRnrTimer(minRnrTimer);
        ConnectionId asks = meeting.resolved(PortSpace.TCP);
        a.use(asks, asks.createQueuePair(a.domain, optionsOfA));
        meeting.establish(
                asks, parameters, asked -> b.use(asked, asked.createQueuePair(b.domain, optionsOfB)), parameters);
        if (!access.equals(Access.remoteAll())) {
            b.qp().modify(new QpModification().access(access));
        }
    }
}
