package verbena.tools.perf;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import verbena.tools.Closing;
import verbena.tools.CommandFailed;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.Completion;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.GidEntry;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Mtu;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.RnrTimer;
import verbena.verbs.SendBatch;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.Transition;
import verbena.verbs.TransportType;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.ConnectionId;

/// What one end measures with: its queue pairs, their memory, and the requests on them. Posting and polling
/// allocate nothing. For one thread.
final class PerfEnd implements AutoCloseable {
    // The attributes that the C programs give their queue pairs.
    private static final RnrTimer RNR_TIMER = new RnrTimer(12);
    private static final int RETRY_COUNT = 7;
    private static final int RNR_RETRY_UNLIMITED = 7;
    private static final int HOP_LIMIT = 255;
    private static final int QKEY = 0x1111_1111;
    private static final int ADD = 1;
    private static final int SWAP = 0;

    final Context context;
    final Options options;
    final Layout layout;
    final MemoryRegion region;
    /// READs and atomics that this end serves at once for each queue pair.
    final int outstanding;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final @Nullable CompletionChannel channel;
    private final ProtectionDomain domain;
    private final CompletionQueue sendCq;
    private final CompletionQueue receiveCq;
    private final @Nullable SharedReceiveQueue srq;
    private final @Nullable Credits credits;
    private final QueuePair[] queuePairs;
    private final int[] psns;
    private final PerfPeer[] peers;
    private final @Nullable AddressHandle[] handles;
    private final int[] remoteQpns;
    private final int[] remoteQkeys;
    private final WorkCompletion wc = new WorkCompletion();
    private int made;
    private boolean armed;

    // What is posted now: the size, how far it is from one message to the next, and where each queue pair is.
    private int size;
    private int step;
    private int slots;
    private final int[] sendSlot;
    private final int[] receiveSlot;
    /// The messages as memory, made once: all slots of the first queue pair, then of the next. Empty when not
    /// inline.
    private MemorySegment[] inline = {};

    /// Makes everything but the queue pairs.
    PerfEnd(Context context, Options options, Layout layout, int outstanding) {
        this.context = context;
        this.options = options;
        this.layout = layout;
        this.outstanding = outstanding;
        int n = options.queuePairs;
        queuePairs = new QueuePair[n];
        psns = new int[n];
        peers = new PerfPeer[n];
        handles = new AddressHandle[n];
        remoteQpns = new int[n];
        remoteQkeys = new int[n];
        sendSlot = new int[n];
        receiveSlot = new int[n];
        boolean done = false;
        try {
            channel = options.events ? opened(context.createCompletionChannel()) : null;
            domain = opened(context.allocateProtectionDomain());
            region = opened(domain.allocate(layout.bytes(), access()));
            if (options.verb != Verb.WRITE || !options.isLatency) {
                fill();
            }
            boolean counts = options.verb == Verb.SEND
                    && !options.isLatency
                    && context.device().transportType() == TransportType.IWARP;
            credits = counts ? opened(new Credits(domain, n, options.receiveDepth)) : null;
            sendCq = opened(context.createCompletionQueue(sendDepth() * n, Optional.ofNullable(channel)));
            receiveCq = options.verb.takesReceives()
                    ? opened(context.createCompletionQueue(options.receiveDepth * n, Optional.ofNullable(channel)))
                    : sendCq;
            srq = options.sharedReceiveQueue ? opened(domain.createSharedReceiveQueue(options.receiveDepth, 1)) : null;
            done = true;
        } finally {
            if (!done) {
                Closing.all(opened);
            }
        }
    }

    private int sendDepth() {
        return options.sendDepth + (credits == null ? 0 : Credits.WRITES_MAX);
    }

    private Set<Access> access() {
        var access = EnumSet.of(Access.LOCAL_WRITE);
        switch (options.verb) {
            case SEND -> {}
            case WRITE, WRITE_IMM -> access.add(Access.REMOTE_WRITE);
            case READ -> access.add(Access.REMOTE_READ);
            case ATOMIC -> access.add(Access.REMOTE_ATOMIC);
        }
        return access;
    }

    // Nothing on the way is to gain by zeros.
    private void fill() {
        var random = new SplittableRandom();
        for (long i = 0; i + Long.BYTES <= layout.bytes(); i += Long.BYTES) {
            region.segment().set(ValueLayout.JAVA_LONG_UNALIGNED, i, random.nextLong());
        }
    }

    // ---- setting up

    /// Makes the next queue pair, in INIT.
    void makeQueuePair() {
        QueuePair qp = opened(domain.createQueuePair(queuePairOptions()));
        Set<Access> remote = EnumSet.copyOf(access());
        remote.remove(Access.LOCAL_WRITE);
        qp.modify(
                options.type == QpType.UD
                        ? new Transition.ToInitUd(options.devicePort, 0, QKEY)
                        : new Transition.ToInit(options.devicePort, 0, remote));
        add(qp);
    }

    /// Makes the next queue pair for a connection of the connection manager, which moves it.
    void makeQueuePair(ConnectionId id) {
        add(opened(id.createQueuePair(domain, queuePairOptions())));
    }

    /// The last queue pair could not be connected.
    void dropQueuePair() {
        queuePairs[--made].close();
    }

    private void add(QueuePair qp) {
        psns[made] = new SecureRandom().nextInt(1 << 24);
        queuePairs[made++] = qp;
    }

    private QueuePairOptions queuePairOptions() {
        QueuePairOptions wanted = QueuePairOptions.of(options.type, sendCq)
                .withReceiveCq(receiveCq)
                .withDepth(sendDepth(), options.receiveDepth)
                .withSge(1, 1)
                .withInline(options.inline);
        return srq == null ? wanted : wanted.withSharedReceiveQueue(srq);
    }

    /// What to tell the peer of queue pair `i`.
    PerfPeer local(int i, GidEntry gid) {
        return new PerfPeer(
                context.port(options.devicePort).lid(),
                outstanding,
                queuePairs[i].qpn(),
                psns[i],
                credits == null ? region.rkey() : credits.rkey(),
                credits == null ? region.address() + layout.remoteOffset(i) : credits.address(i),
                gid.gid());
    }

    /// The peer's queue pair `i`.
    PerfPeer peer(int i) {
        return peers[i];
    }

    /// What the peer has told of its queue pair `i`.
    void peer(int i, PerfPeer peer) {
        peers[i] = peer;
        if (handles[i] == null) {
            remoteQpns[i] = peer.qpn();
            remoteQkeys[i] = QKEY;
        }
    }

    /// Where the datagrams of queue pair `i` go, as the connection manager has found out.
    void peer(int i, AddressVector path, int qpn, int qkey) {
        handles[i] = opened(domain.createAddressHandle(path));
        remoteQpns[i] = qpn;
        remoteQkeys[i] = qkey;
    }

    /// Whether requests are posted here, so that the way to the peer has to be known.
    boolean sends() {
        return options.sends();
    }

    /// READs and atomics that are asked of the connection manager.
    int readsOfPeer() {
        return options.verb.isAnswered() ? outstanding : 0;
    }

    /// Datagrams by the connection manager: only the client is told where its peer is, and sends a first message.
    void sendAddress(int i) {
        try (SendBatch batch = queuePairs[i].send()) {
            batch.sendWithImmediate(i, queuePairs[i].qpn())
                    .sge(region, layout.sendOffset(i), Integer.BYTES)
                    .to(Objects.requireNonNull(handles[i]), remoteQpns[i], remoteQkeys[i])
                    .signaled()
                    .submit();
        }
        awaitOne(sendCq);
    }

    /// Server: posts the receive for that message.
    void postAddressReceive(int i) {
        queuePairs[i].postReceive(i, region, layout.sendOffset(i), Layout.DATAGRAM_HEADER_BYTES + Integer.BYTES);
    }

    /// Server: takes one of those messages, and knows from it where the client's queue pair is.
    void takeAddress() {
        awaitOne(receiveCq);
        int i = (int) wc.wrId();
        MemorySegment area = region.segment().asSlice(layout.sendOffset(i), Layout.DATAGRAM_HEADER_BYTES);
        peer(i, AddressVector.toSender(area, context), wc.immediate(), ConnectionId.UDP_QKEY);
    }

    private void awaitOne(CompletionQueue cq) {
        try {
            if (!cq.await(wc, options.patience()) || !wc.ok()) {
                throw new CommandFailed("the first datagram between the ends got lost; try again");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailed("interrupted", e);
        }
    }

    /// Brings the queue pairs to RTS, towards the peer's.
    void connect(Mtu mtu, GidEntry gid) {
        for (int i = 0; i < queuePairs.length; i++) {
            QueuePair qp = queuePairs[i];
            PerfPeer peer = peers[i];
            var path = new AddressVector(
                    peer.gid(),
                    gid.index(),
                    options.devicePort,
                    options.trafficClass,
                    HOP_LIMIT,
                    0,
                    options.serviceLevel,
                    peer.lid());
            switch (options.type) {
                case UD -> {
                    qp.modify(new Transition.ToRtrUd());
                    qp.modify(new Transition.ToRtsUnreliable(psns[i]));
                    handles[i] = opened(domain.createAddressHandle(path));
                }
                case UC -> {
                    qp.modify(new Transition.ToRtrUc(path, mtu, peer.qpn(), peer.psn()));
                    qp.modify(new Transition.ToRtsUnreliable(psns[i]));
                }
                default -> {
                    qp.modify(new Transition.ToRtr(path, mtu, peer.qpn(), peer.psn(), outstanding, RNR_TIMER));
                    int reads =
                            Math.min(peer.outstanding(), context.attributes().maxQpInitiatorReadAtomic());
                    qp.modify(new Transition.ToRts(
                            psns[i], new AckTimeout(options.ackTimeout), RETRY_COUNT, RNR_RETRY_UNLIMITED, reads));
                }
            }
        }
    }

    // ---- posting

    /// From now on messages have this size; each queue pair begins its area anew.
    void begin(int size) {
        this.size = size;
        step = layout.step(size);
        slots = layout.slots(size);
        Arrays.fill(sendSlot, 0);
        Arrays.fill(receiveSlot, 0);
        boolean isInline = size <= options.inline && !options.verb.isAnswered();
        inline = new MemorySegment[isInline ? queuePairs.length * slots : 0];
        for (int i = 0; i < inline.length; i++) {
            inline[i] = region.segment().asSlice(layout.sendOffset(i / slots) + (long) (i % slots) * step, size);
        }
    }

    /// How many messages a round of the warm-up may have on each queue pair, in one direction or both.
    int messagesAtOnceMax() {
        if (credits != null) {
            return credits.untoldMax();
        }
        return options.type == QpType.RC ? WarmUp.messagesMax() : 0; // what gets lost would be waited for
    }

    /// The ends have met, and send and receive from now on.
    void meet() {
        if (credits != null) {
            credits.begin();
        }
    }

    /// Whether messages on queue pair `i` up to number `last` have a receive at the peer, as far as that is
    /// counted.
    boolean mayPost(int i, long last) {
        return credits == null || credits.allows(i, last);
    }

    /// So many messages have been received on queue pair `i`, and their receives posted again.
    void received(int i, long taken) {
        if (credits != null) {
            credits.received(i, taken, queuePairs[i], peers[i]);
        }
    }

    /// For an end that sends nothing else.
    void pollCredits() {
        if (credits != null && pollSend() >= 0) {
            throw new IllegalStateException("a message completed at an end that sends none");
        }
    }

    /// Posts one message on queue pair `i`, or a list of them when there are several.
    ///
    /// @param before how many have been posted on it already
    /// @param last after how many there are no more; the last one completes visibly
    void post(int i, long before, int count, long last) {
        int moderation = options.moderation;
        try (SendBatch batch = queuePairs[i].send()) {
            for (int j = 0; j < count; j++) {
                request(batch, i, sendSlot[i]);
                if (++sendSlot[i] == slots) {
                    sendSlot[i] = 0;
                }
                long number = before + j + 1;
                if (number % moderation == 0 || number == last) {
                    batch.signaled();
                }
            }
            batch.submit();
        }
    }

    /// Posts one message, which completes visibly when asked to, from the start of the area of the first queue
    /// pair.
    void postOne(boolean signaled) {
        try (SendBatch batch = queuePairs[0].send()) {
            request(batch, 0, 0);
            if (signaled) {
                batch.signaled();
            }
            batch.submit();
        }
    }

    private void request(SendBatch batch, int i, int slot) {
        PerfPeer peer = peers[i];
        long to = peer.address() + (long) slot * step;
        switch (options.verb) {
            case SEND -> batch.send(i);
            case WRITE -> batch.write(i, to, peer.rkey());
            case WRITE_IMM -> batch.writeWithImmediate(i, to, peer.rkey(), size);
            case READ -> batch.read(i, to, peer.rkey());
            case ATOMIC -> {
                if (options.atomicType.equals("CMP_AND_SWAP")) {
                    batch.compareSwap(i, to, peer.rkey(), 0, SWAP);
                } else {
                    batch.fetchAdd(i, to, peer.rkey(), ADD);
                }
            }
        }
        if (inline.length > 0) {
            batch.inline(inline[i * slots + slot]);
        } else {
            batch.sge(region, layout.sendOffset(i) + (long) slot * step, size);
        }
        AddressHandle handle = handles[i];
        if (handle != null) {
            batch.to(handle, remoteQpns[i], remoteQkeys[i]);
        }
    }

    /// Posts receives of queue pair `i`.
    void postReceives(int i, int count) {
        try (ReceiveBatch batch = srq != null ? srq.receive() : queuePairs[i].receive()) {
            for (int j = 0; j < count; j++) {
                batch.receive(i);
                if (options.verb == Verb.SEND) {
                    batch.sge(
                            region, layout.receiveOffset(i) + (long) receiveSlot[i] * step, layout.receiveBytes(size));
                    if (++receiveSlot[i] == slots) {
                        receiveSlot[i] = 0;
                    }
                }
            }
            batch.submit();
        }
    }

    // ---- completions

    /// Takes a completion of a request; the queue pair that it was posted on, or -1 when there is none.
    ///
    /// @throws CommandFailed when the request failed
    int pollSend() {
        return sendCq.poll(wc) ? completed(true) : -1;
    }

    /// Takes a completion of a receive; the queue pair that it arrived at, or -1 when there is none.
    int pollReceive() {
        return receiveCq.poll(wc) ? completed(false) : -1;
    }

    private int completed(boolean isSend) {
        if (wc.status() != WcStatus.SUCCESS) {
            throw new CommandFailed(failure((Completion.Failure) wc.snapshot(), isSend));
        }
        int i = (int) wc.wrId();
        if (isSend && credits != null && i >= queuePairs.length) {
            int told = i - queuePairs.length;
            credits.written(told, queuePairs[told], peers[told]);
            return -1;
        }
        return isSend || srq == null ? i : indexOf(wc.qpn());
    }

    private int indexOf(int qpn) {
        for (int i = 0; i < queuePairs.length; i++) {
            if (queuePairs[i].qpn() == qpn) {
                return i;
            }
        }
        throw new IllegalStateException("a completion of a queue pair that is not ours: " + wc);
    }

    private String failure(Completion.Failure failure, boolean isSend) {
        String why = failure.cause().isEmpty() ? "" : " Here: " + failure.cause() + ".";
        return (isSend ? options.verb.title + " failed: " : "a receive failed: ") + failure.status() + " ("
                + failure.status().label() + ")."
                + (isSend ? " " + failure.status().meaning() : "") + why
                + " Are the options the same at both ends, and is the peer still running? More: "
                + failure.status().page();
    }

    /// With `-e`: called when there was nothing to poll; the second time in a row it sleeps until there is.
    /// (A thread that asks for an event has to look once more: what came before counts for nothing.)
    ///
    /// @return false when nothing came in `timeout`, or the thread was interrupted, which it then still is
    boolean sleep(Duration timeout) {
        if (!armed) {
            sendCq.arm(false);
            if (receiveCq != sendCq) {
                receiveCq.arm(false);
            }
            armed = true;
            return true;
        }
        armed = false;
        try {
            return Objects.requireNonNull(channel).await(timeout).isPresent();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private <T extends AutoCloseable> T opened(T object) {
        opened.add(object);
        return object;
    }

    @Override
    public void close() {
        Closing.all(opened);
    }
}
