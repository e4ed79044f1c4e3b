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
import verbena.tools.kit.Closing;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressVector;
import verbena.verbs.Completion;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.Context;
import verbena.verbs.GidEntry;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Mtu;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RnrTimer;
import verbena.verbs.SendBatch;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.Transition;
import verbena.verbs.TransportType;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.ConnectionId;

/// The objects that one end measures with: its queue pairs and their memory, their connections, and their
/// completions. [Requests] posts on them. Posting and polling allocate nothing. For one thread.
final class PerfEnd implements AutoCloseable {
    // The attributes that the C programs give their queue pairs.
    private static final RnrTimer RNR_TIMER = new RnrTimer(12);
    private static final int RETRY_COUNT = 7;
    private static final int RNR_RETRY_UNLIMITED = 7;
    private static final int HOP_LIMIT = 255;
    private static final int QKEY = 0x1111_1111;

    final Context context;
    final Options options;
    final Layout layout;
    final MemoryRegion region;
    /// READs and atomics that this end serves at once for each queue pair.
    final int outstanding;
    /// The requests that are posted on the queue pairs.
    final Requests requests;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final @Nullable CompletionChannel channel;
    private final ProtectionDomain domain;
    private final CompletionQueue sendCq;
    private final CompletionQueue receiveCq;
    private final @Nullable SharedReceiveQueue srq;
    private final @Nullable Credits credits;
    private final QueuePair[] queuePairs;
    private final int[] psns;
    private final Destination[] peers;
    private final WorkCompletion wc = new WorkCompletion();
    private int made;
    private boolean armed;

    /// Makes everything but the queue pairs.
    PerfEnd(Context context, Options options, Layout layout, int outstanding) {
        this.context = context;
        this.options = options;
        this.layout = layout;
        this.outstanding = outstanding;
        int n = options.queuePairs;
        queuePairs = new QueuePair[n];
        psns = new int[n];
        peers = new Destination[n];
        Arrays.setAll(peers, _ -> new Destination());
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
            sendCq = opened(context.createCompletionQueue(
                    new CompletionQueueOptions(sendDepth() * n, Optional.ofNullable(channel), false)));
            receiveCq = options.verb.takesReceives()
                    ? opened(context.createCompletionQueue(
                            new CompletionQueueOptions(options.receiveDepth * n, Optional.ofNullable(channel), false)))
                    : sendCq;
            srq = options.sharedReceiveQueue ? opened(domain.createSharedReceiveQueue(options.receiveDepth, 1)) : null;
            requests = new Requests(options, layout, region, queuePairs, peers, srq);
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

    /// Removes the last queue pair, which could not be connected.
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

    /// Returns the description of queue pair `i` for the peer.
    PerfPeer local(int i, GidEntry gid) {
        return new PerfPeer(
                context.port(options.devicePort).lids().lid(),
                outstanding,
                queuePairs[i].qpn(),
                psns[i],
                credits == null ? region.rkey() : credits.rkey(),
                credits == null ? region.address() + layout.remoteOffset(i) : credits.address(i),
                gid.gid());
    }

    /// Returns the peer's queue pair `i`.
    PerfPeer peer(int i) {
        return peers[i].peer();
    }

    /// Takes the peer's description of its queue pair `i`.
    void peer(int i, PerfPeer peer) {
        peers[i].told(peer);
    }

    /// Sets the destination of the datagrams of queue pair `i`, which the connection manager has found.
    void peer(int i, AddressVector path, int qpn, int qkey) {
        peers[i].found(opened(domain.createAddressHandle(path)), qpn, qkey);
    }

    /// Returns whether requests are posted here, so that the path to the peer has to be known.
    boolean sends() {
        return options.sends();
    }

    /// Returns the number of READs and atomics that are asked of the connection manager.
    int readsOfPeer() {
        return options.verb.isAnswered() ? outstanding : 0;
    }

    /// Sends the first message of a client of datagrams by the connection manager: only the client gets the address
    /// of its peer from there.
    void sendAddress(int i) {
        try (SendBatch batch = queuePairs[i].sendBatch()) {
            batch.sendWithImmediate(i, queuePairs[i].qpn()).sge(region, layout.sendOffset(i), Integer.BYTES);
            peers[i].address(batch);
            batch.signaled().submit();
        }
        awaitOne(sendCq);
    }

    /// Posts the receive for the first message of a client, at the server.
    void postAddressReceive(int i) {
        queuePairs[i].postReceive(i, region.slice(layout.sendOffset(i), Layout.DATAGRAM_HEADER_BYTES + Integer.BYTES));
    }

    /// Takes the first message of a client at the server, and the address of the client's queue pair from it.
    void takeAddress() {
        awaitOne(receiveCq);
        int i = (int) wc.wrId();
        MemorySegment area = region.segment().asSlice(layout.sendOffset(i), Layout.DATAGRAM_HEADER_BYTES);
        peer(
                i,
                AddressVector.toSender(wc, area, context, queuePairs[i].query().port()),
                wc.immediate(),
                ConnectionId.UDP_QKEY);
    }

    private void awaitOne(CompletionQueue cq) {
        try {
            if (!cq.await(wc, options.timeout()) || !wc.ok()) {
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
            PerfPeer peer = peers[i].peer();
            AddressVector path = AddressVector.to(peer.gid(), gid.index())
                    .withPort(options.devicePort)
                    .withTrafficClass(options.trafficClass)
                    .withHopLimit(HOP_LIMIT)
                    .withServiceLevel(options.serviceLevel)
                    .withDestinationLid(peer.lid());
            switch (options.type) {
                case UD -> {
                    qp.modify(new Transition.ToRtrUd());
                    qp.modify(new Transition.ToRtsUnreliable(psns[i]));
                    peers[i].found(opened(domain.createAddressHandle(path)), peer.qpn(), QKEY);
                }
                case UC -> {
                    qp.modify(new Transition.ToRtrUc(path, mtu, peer.qpn(), peer.psn()));
                    qp.modify(new Transition.ToRtsUnreliable(psns[i]));
                }
                default -> {
                    qp.modify(new Transition.ToRtr(path, mtu, peer.qpn(), peer.psn(), outstanding, RNR_TIMER));
                    int reads = Math.min(
                            peer.outstanding(), context.attributes().transport().maxQpInitiatorReadAtomic());
                    qp.modify(new Transition.ToRts(
                            psns[i], new AckTimeout(options.ackTimeout), RETRY_COUNT, RNR_RETRY_UNLIMITED, reads));
                }
            }
        }
    }

    // ---- what may be posted

    /// Returns the number of messages that a round of the warm-up may have on each queue pair, in one direction or
    /// both.
    int messagesAtOnceMax() {
        if (credits != null) {
            return credits.untoldMax();
        }
        return options.type == QpType.RC ? WarmUp.messagesMax() : 0; // what gets lost would be waited for
    }

    /// Begins the sending and receiving: the ends have met.
    void meet() {
        if (credits != null) {
            credits.begin();
        }
    }

    /// Returns whether messages on queue pair `i` up to number `last` have a receive at the peer, as far as that is
    /// counted.
    boolean mayPost(int i, long last) {
        return credits == null || credits.allows(i, last);
    }

    /// Notes that so many messages have been received on queue pair `i`, and their receives posted again.
    void received(int i, long taken) {
        if (credits != null) {
            credits.received(i, taken, queuePairs[i], peers[i].peer());
        }
    }

    /// Polls the completions of credits, for an end that sends nothing else.
    void pollCredits() {
        if (credits != null && pollSend() >= 0) {
            throw new IllegalStateException("a message completed at an end that sends none");
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
            credits.written(told, queuePairs[told], peers[told].peer());
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

    /// Called with `-e` when there was nothing to poll: the second time in a row it sleeps until there is. (A
    /// thread that asks for an event has to look once more: what came before counts for nothing.)
    ///
    /// @return false when nothing came in `timeout`, or the thread was interrupted, which it then still is
    boolean sleep(Duration timeout) {
        if (!armed) {
            sendCq.arm();
            if (receiveCq != sendCq) {
                receiveCq.arm();
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
