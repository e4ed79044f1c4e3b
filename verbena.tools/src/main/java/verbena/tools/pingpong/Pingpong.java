package verbena.tools.pingpong;

import java.lang.foreign.ValueLayout;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.tools.kit.Closing;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.Completion;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.CompletionQueueOptions;
import verbena.verbs.Context;
import verbena.verbs.DeviceAttributes;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Mtu;
import verbena.verbs.PortAttributes;
import verbena.verbs.PortState;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpType;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairAttributes;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.RnrTimer;
import verbena.verbs.SendBatch;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.Transition;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.ConnectionId;

/// One end of a ping-pong: the queue pairs, their one buffer, and the exchange of messages as the C programs do
/// it. For one thread.
final class Pingpong implements AutoCloseable {
    private static final int RECEIVE = 1;
    private static final int SEND = 2;
    private static final byte FILL = 0x7B;
    private static final int PAGE_BYTES = 4_096;

    /// The attributes that the C programs give their queue pairs.
    private static final AckTimeout ACK_TIMEOUT = new AckTimeout(14);

    private static final RnrTimer RNR_TIMER = new RnrTimer(12);
    private static final int RETRY_COUNT = 7;
    private static final int RNR_RETRY_UNLIMITED = 7;
    private static final int HOP_LIMIT = 64;
    private static final int QKEY = 0x1111_1111;

    /// Time for the acknowledgement of the last message to leave before the queue pair is gone, and once more when
    /// it was lost: longer than the ACK timeout.
    private static final Duration LINGER = Duration.ofMillis(100);
    /// The time without a completion after which the port is looked at.
    private static final long LOOK_NANOS = 200_000_000;

    /// @param queuePairs how many; one but for [PingpongService#SRQ]
    /// @param mtu path MTU; of no meaning to datagrams
    record Settings(
            PingpongService service,
            int queuePairs,
            int port,
            int size,
            Mtu mtu,
            int receiveDepth,
            int iterations,
            int serviceLevel,
            boolean events,
            Duration timeout) {}

    /// @param nanos from the first message posted to the last completion
    /// @param wrongPages pages of the buffer whose first byte is not what the client put there
    record Result(long nanos, List<Integer> wrongPages) {}

    private final Context context;
    private final Settings settings;
    private final PingpongService service;
    private final int qkey;
    private final WorkCompletion wc = new WorkCompletion();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private final @Nullable CompletionChannel channel;
    private final ProtectionDomain pd;
    private final CompletionQueue cq;
    private final MemoryRegion region;
    private final @Nullable SharedReceiveQueue srq;
    private final List<Player> players = new ArrayList<>();
    private int receivesPosted;
    private int sent;
    private int received;

    /// A queue pair here, and the one that it plays with.
    private static final class Player {
        final QueuePair qp;
        final int psn;

        @Nullable
        PingpongPeer remote;
        /// The way to it, of datagrams.
        @Nullable
        AddressHandle handle;
        /// The requests that have to complete before the next message: RECEIVE and SEND, or one of them.
        int pending;

        Player(QueuePair qp, int psn) {
            this.qp = qp;
            this.psn = psn;
        }
    }

    /// Makes the queue pairs, in INIT with all their receives posted.
    Pingpong(Context context, Settings settings) {
        this(context, settings, List.of());
    }

    /// The same for queue pairs that the connection manager connects.
    ///
    /// @param ids one for each queue pair, of the same context; none when the ends exchange addresses
    Pingpong(Context context, Settings settings, List<ConnectionId> ids) {
        this.context = context;
        this.settings = settings;
        service = settings.service();
        qkey = ids.isEmpty() ? QKEY : ConnectionId.UDP_QKEY;
        checkLimits(ids.isEmpty());
        try {
            channel = settings.events() ? opened(context.createCompletionChannel()) : null;
            pd = opened(context.allocateProtectionDomain());
            region = opened(pd.allocate(service.areaBytes + settings.size(), Access.local()));
            region.segment().fill(FILL);
            int entries = settings.receiveDepth() + settings.queuePairs();
            cq = opened(context.createCompletionQueue(
                    new CompletionQueueOptions(entries, Optional.ofNullable(channel), false)));
            srq = service == PingpongService.SRQ
                    ? opened(pd.createSharedReceiveQueue(settings.receiveDepth(), 1))
                    : null;
            var random = new SecureRandom();
            for (int i = 0; i < settings.queuePairs(); i++) {
                QueuePair qp;
                if (ids.isEmpty()) {
                    qp = opened(pd.createQueuePair(options(cq, srq)));
                    qp.modify(
                            service == PingpongService.UD
                                    ? new Transition.ToInitUd(settings.port(), 0, QKEY)
                                    : new Transition.ToInit(settings.port(), 0, Set.of()));
                } else {
                    qp = opened(ids.get(i).createQueuePair(pd, options(cq, srq)));
                }
                players.add(new Player(qp, random.nextInt(1 << 24)));
            }
            postReceives();
            if (settings.events()) {
                cq.arm();
            }
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private QueuePairOptions options(CompletionQueue cq, @Nullable SharedReceiveQueue srq) {
        QueuePairOptions options = QueuePairOptions.of(
                        switch (service) {
                            case RC, SRQ -> QpType.RC;
                            case UC -> QpType.UC;
                            case UD -> QpType.UD;
                        },
                        cq)
                .withDepth(1, settings.receiveDepth())
                .withSge(1, 1)
                .withInline(0)
                .withSignalAll(true);
        return srq == null ? options : options.withSharedReceiveQueue(srq);
    }

    private void checkLimits(boolean choosesMtu) {
        PortAttributes port = context.port(settings.port());
        if (service == PingpongService.UD && settings.size() > port.activeMtu().bytes()) {
            throw new CommandFailed("-s " + settings.size() + ": a datagram of "
                    + context.device().name() + " has at most " + port.activeMtu()
                    + " bytes, the active MTU of port " + settings.port());
        }
        if (choosesMtu && service != PingpongService.UD && settings.mtu().compareTo(port.activeMtu()) > 0) {
            throw new CommandFailed("-m " + settings.mtu() + ": port " + settings.port() + " of "
                    + context.device().name() + " can use a path MTU of at most " + port.activeMtu()
                    + " now, which its network interface allows; use the same -m at both ends");
        }
        if (settings.size() > port.maxMessageBytes()) {
            throw new CommandFailed("-s " + settings.size() + ": messages of "
                    + context.device().name() + " have at most " + port.maxMessageBytes() + " bytes");
        }
        DeviceAttributes attributes = context.attributes();
        int maxWr = service == PingpongService.SRQ
                ? attributes.queues().maxSrqWr()
                : attributes.queues().maxQpWr();
        if (settings.receiveDepth() > maxWr) {
            throw new CommandFailed("-r " + settings.receiveDepth() + ": a queue of "
                    + context.device().name() + " holds at most " + maxWr + " requests");
        }
    }

    /// Returns the description for the other end.
    List<PingpongPeer> local(GidEntry gid) {
        int lid = context.port(settings.port()).lids().lid();
        return players.stream()
                .map(player -> new PingpongPeer(lid, player.qp.qpn(), player.psn, gid.gid()))
                .toList();
    }

    /// Brings each queue pair to RTS, towards the one of the other end in its place.
    void connect(List<PingpongPeer> remotes, GidEntry gid) {
        for (int i = 0; i < players.size(); i++) {
            PingpongPeer remote = remotes.get(i);
            connect(
                    players.get(i),
                    remote,
                    AddressVector.to(remote.gid(), gid.index())
                            .withPort(settings.port())
                            .withHopLimit(HOP_LIMIT)
                            .withServiceLevel(settings.serviceLevel())
                            .withDestinationLid(remote.lid()));
        }
    }

    private void connect(Player player, PingpongPeer remote, AddressVector path) {
        player.remote = remote;
        switch (service) {
            case RC, SRQ -> {
                player.qp.modify(new Transition.ToRtr(path, settings.mtu(), remote.qpn(), remote.psn(), 1, RNR_TIMER));
                player.qp.modify(new Transition.ToRts(player.psn, ACK_TIMEOUT, RETRY_COUNT, RNR_RETRY_UNLIMITED, 1));
            }
            case UC -> {
                player.qp.modify(new Transition.ToRtrUc(path, settings.mtu(), remote.qpn(), remote.psn()));
                player.qp.modify(new Transition.ToRtsUnreliable(player.psn));
            }
            case UD -> {
                player.qp.modify(new Transition.ToRtrUd());
                player.qp.modify(new Transition.ToRtsUnreliable(player.psn));
                player.handle = opened(pd.createAddressHandle(path));
            }
        }
    }

    /// Takes the addresses of the queue pairs, all of which the connection manager has connected.
    ///
    /// @return what they and those of the peer are
    List<PingpongPeer> connected() {
        var ends = new ArrayList<PingpongPeer>();
        for (Player player : players) {
            QueuePairAttributes attributes = player.qp.query();
            AddressVector path = attributes.peer().path().orElseThrow();
            Gid own = context.gid(settings.port(), path.sourceGidIndex()).gid();
            player.remote = new PingpongPeer(
                    0,
                    attributes.peer().destinationQpn(),
                    attributes.receiving().rqPsn(),
                    path.destination());
            ends.add(new PingpongPeer(0, player.qp.qpn(), attributes.sending().sqPsn(), own));
        }
        for (Player player : players) {
            ends.add(Objects.requireNonNull(player.remote));
        }
        return ends;
    }

    /// Takes the destination of the datagrams, which the connection manager has found.
    void connected(AddressVector path, int qpn) {
        Player player = players.getFirst();
        player.remote = new PingpongPeer(0, qpn, 0, path.destination());
        player.handle = opened(pd.createAddressHandle(path));
    }

    /// Runs the exchange of messages to the end.
    ///
    /// @param check whether the client marks its pages and the server checks them
    /// @throws CommandFailed when a message fails or nothing happens for the time-out
    Result run(boolean isClient, boolean check) throws InterruptedException {
        if (isClient && check) {
            markPages();
        }
        for (Player player : players) {
            player.pending = RECEIVE;
            if (isClient) {
                postSend(player);
            }
        }
        long start = System.nanoTime();
        while (!isDone()) {
            if (!await()) {
                throw new CommandFailed(silence());
            }
            do {
                if (isClient && isAnswered()) {
                    sent++;
                } else {
                    onCompletion();
                }
            } while (!isDone() && cq.poll(wc));
        }
        long nanos = System.nanoTime() - start;
        Thread.sleep(LINGER);
        return new Result(nanos, !isClient && check ? wrongPages() : List.of());
    }

    @Override
    public void close() {
        Closing.all(opened);
    }

    // Waits for one completion: asleep on the channel, or polling. Looks at the port when nothing has come for a
    // while.
    private boolean await() throws InterruptedException {
        long begin = System.nanoTime();
        long left = settings.timeout().toNanos();
        while (left > 0) {
            if (await(Duration.ofNanos(Math.min(left, LOOK_NANOS)))) {
                return true;
            }
            if (context.port(settings.port()).state() != PortState.ACTIVE) {
                throw new CommandFailed("after " + progress() + " port " + settings.port() + " of device "
                        + context.device().name() + " is down: the link is, or the fabric has ended");
            }
            left = settings.timeout().toNanos() - (System.nanoTime() - begin);
        }
        return false;
    }

    private boolean await(Duration limit) throws InterruptedException {
        if (channel == null) {
            return cq.await(wc, limit);
        }
        long begin = System.nanoTime();
        long left = limit.toNanos();
        while (!cq.poll(wc)) {
            if (left <= 0 || channel.await(Duration.ofNanos(left)).isEmpty()) {
                return false;
            }
            cq.arm();
            left = limit.toNanos() - (System.nanoTime() - begin);
        }
        return true;
    }

    private boolean isDone() {
        return received >= settings.iterations() && sent >= settings.iterations();
    }

    // A send without an acknowledgement, after the peer has answered every message: it has arrived. Its
    // acknowledgement was lost, and the peer has ended meanwhile.
    private boolean isAnswered() {
        return wc.wrId() == SEND && wc.status() == WcStatus.RETRY_EXC_ERR && received == settings.iterations();
    }

    private void onCompletion() {
        if (!wc.ok()) {
            throw new CommandFailed(failure((Completion.Failure) wc.snapshot()));
        }
        if (wc.wrId() == SEND) {
            sent++;
        } else {
            received++;
            receivesPosted--;
            if (receivesPosted <= players.size()) {
                postReceives();
            }
        }
        Player player = player(wc.qpn());
        if (service == PingpongService.UD && player.remote == null) {
            // Only the client is told by the connection manager where its peer is.
            AddressVector back = AddressVector.toSender(
                    wc, region.segment(), context, player.qp.query().port());
            connected(back, wc.sourceQpn());
        }
        player.pending &= ~(int) wc.wrId();
        if (sent < settings.iterations() && player.pending == 0) {
            postSend(player);
        }
    }

    private Player player(int qpn) {
        for (Player player : players) {
            if (player.qp.qpn() == qpn) {
                return player;
            }
        }
        throw new IllegalStateException("a completion of a queue pair that is not ours: " + wc);
    }

    private void postReceives() {
        try (ReceiveBatch batch =
                srq != null ? srq.receiveBatch() : players.getFirst().qp.receiveBatch()) {
            while (receivesPosted < settings.receiveDepth()) {
                batch.receive(RECEIVE).sge(region, 0, service.areaBytes + settings.size());
                receivesPosted++;
            }
            batch.submit();
        }
    }

    private void postSend(Player player) {
        try (SendBatch batch = player.qp.sendBatch()) {
            batch.send(SEND).sge(region, service.areaBytes, settings.size());
            if (player.handle != null && player.remote != null) {
                batch.to(player.handle, player.remote.qpn(), qkey);
            }
            batch.submit();
        }
        player.pending = RECEIVE | SEND;
    }

    // The C program writes "page number modulo sizeof(char)" to each page, which is 0; the fill is another value.
    private void markPages() {
        for (int i = 0; i < settings.size(); i += PAGE_BYTES) {
            region.segment().set(ValueLayout.JAVA_BYTE, service.areaBytes + i, (byte) 0);
        }
    }

    private List<Integer> wrongPages() {
        var wrong = new ArrayList<Integer>();
        for (int i = 0; i < settings.size(); i += PAGE_BYTES) {
            if (region.segment().get(ValueLayout.JAVA_BYTE, service.areaBytes + i) != 0) {
                wrong.add(i / PAGE_BYTES);
            }
        }
        return wrong;
    }

    private String failure(Completion.Failure failure) {
        boolean isSend = failure.wrId() == SEND;
        String why = failure.cause().isEmpty() ? "" : " Here: " + failure.cause() + ".";
        // The meaning of a status is told from the sender's side.
        String meaning = isSend ? " " + failure.status().meaning() : "";
        String hint = switch (failure.status()) {
            case RETRY_EXC_ERR ->
                " Is the peer still running, with the same -m (here " + settings.mtu()
                        + "), and does UDP port 4791 pass in both directions?";
            case REM_INV_REQ_ERR, REM_OP_ERR, WR_FLUSH_ERR, LOC_LEN_ERR, LOC_QP_OP_ERR ->
                " Are -m (here " + settings.mtu() + ") and -s (here " + settings.size() + ") the same at both ends?";
            default -> "";
        };
        return (isSend ? "a send" : "a receive") + " failed after " + progress() + ": " + failure.status() + " ("
                + failure.status().label() + ")." + meaning + why + hint + " The peer is " + player(wc.qpn()).remote
                + ". More: " + failure.status().page();
    }

    private String silence() {
        String hint = switch (service) {
            case RC, SRQ -> "Are -m and -n the same at both ends, and does UDP port 4791 pass?";
            case UC ->
                "What is lost is not sent again: did a packet get lost? Or is -m, -s or -n another there, or does UDP"
                        + " port 4791 not pass?";
            case UD ->
                "What is lost is not sent again: did a datagram get lost? Or is -s or -n another there, or does UDP"
                        + " port 4791 not pass?";
        };
        return "nothing happened for " + settings.timeout().toSeconds() + " s after " + progress()
                + ": " + WcStatus.RESP_TIMEOUT_ERR.label() + "; the peer (" + players.getFirst().remote
                + ") has stopped or is not reached. " + hint;
    }

    private String progress() {
        return received + " of " + settings.iterations() + " messages received, " + sent + " sent";
    }

    private <T extends AutoCloseable> T opened(T object) {
        opened.add(object);
        return object;
    }
}
