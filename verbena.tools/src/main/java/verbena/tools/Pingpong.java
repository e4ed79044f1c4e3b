package verbena.tools;

import java.lang.foreign.ValueLayout;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AddressVector;
import verbena.verbs.Completion;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.GidEntry;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Mtu;
import verbena.verbs.PortAttributes;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.RnrTimer;
import verbena.verbs.Transition;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;

/// One end of a reliable ping-pong: the queue pair, its one buffer, and the exchange of messages as `ibv_rc_pingpong`
/// does it. For one thread.
final class Pingpong implements AutoCloseable {
    private static final int RECEIVE = 1;
    private static final int SEND = 2;
    private static final byte FILL = 0x7B;
    private static final int PAGE_BYTES = 4_096;

    /// The attributes that `ibv_rc_pingpong` gives its queue pair.
    private static final AckTimeout ACK_TIMEOUT = new AckTimeout(14);

    private static final RnrTimer RNR_TIMER = new RnrTimer(12);
    private static final int RETRY_COUNT = 7;
    private static final int RNR_RETRY_UNLIMITED = 7;
    private static final int HOP_LIMIT = 64;

    /// Time for the acknowledgement of the last message to leave before the queue pair is gone.
    private static final Duration LINGER = Duration.ofMillis(20);

    record Settings(
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
    private final int psn = new SecureRandom().nextInt(1 << 24);
    private final WorkCompletion wc = new WorkCompletion();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private final @Nullable CompletionChannel channel;
    private final CompletionQueue cq;
    private final MemoryRegion region;
    private final QueuePair qp;
    private @Nullable PingpongPeer remote;
    private int receivesPosted;
    private int pending;
    private int sent;
    private int received;

    /// Makes the queue pair, in INIT with all its receives posted.
    Pingpong(Context context, Settings settings) {
        this.context = context;
        this.settings = settings;
        checkLimits();
        try {
            channel = settings.events() ? opened(context.createCompletionChannel()) : null;
            ProtectionDomain pd = opened(context.allocateProtectionDomain());
            region = opened(pd.allocate(settings.size(), Access.local()));
            region.segment().fill(FILL);
            cq = opened(context.createCompletionQueue(settings.receiveDepth() + 1, Optional.ofNullable(channel)));
            qp = opened(pd.createQueuePair(QueuePairOptions.rc(cq)
                    .withDepth(1, settings.receiveDepth())
                    .withSge(1, 1)
                    .withInline(0)
                    .withSignalAll(true)));
            qp.modify(new Transition.ToInit(settings.port(), 0, Set.of()));
            postReceives();
            if (settings.events()) {
                cq.arm(false);
            }
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private void checkLimits() {
        PortAttributes port = context.port(settings.port());
        if (settings.mtu().compareTo(port.activeMtu()) > 0) {
            throw new CommandFailed("-m " + settings.mtu() + ": port " + settings.port() + " of "
                    + context.device().name() + " can use a path MTU of at most " + port.activeMtu()
                    + " now, which its network interface allows; use the same -m at both ends");
        }
        if (settings.size() > port.maxMessageBytes()) {
            throw new CommandFailed("-s " + settings.size() + ": messages of "
                    + context.device().name() + " have at most " + port.maxMessageBytes() + " bytes");
        }
        int maxWr = context.attributes().maxQpWr();
        if (settings.receiveDepth() > maxWr) {
            throw new CommandFailed("-r " + settings.receiveDepth() + ": a queue of "
                    + context.device().name() + " holds at most " + maxWr + " requests");
        }
    }

    /// What to tell the other end.
    PingpongPeer local(GidEntry gid) {
        return new PingpongPeer(context.port(settings.port()).lid(), qp.qpn(), psn, gid.gid());
    }

    /// Brings the queue pair to RTS.
    void connect(PingpongPeer remote, GidEntry gid) {
        this.remote = remote;
        var path = new AddressVector(
                remote.gid(), gid.index(), settings.port(), 0, HOP_LIMIT, 0, settings.serviceLevel(), remote.lid());
        qp.modify(new Transition.ToRtr(path, settings.mtu(), remote.qpn(), remote.psn(), 1, RNR_TIMER));
        qp.modify(new Transition.ToRts(psn, ACK_TIMEOUT, RETRY_COUNT, RNR_RETRY_UNLIMITED, 1));
    }

    /// Plays to the end.
    ///
    /// @param check whether the client marks its pages and the server checks them
    /// @throws CommandFailed when a message fails or nothing happens for the time-out
    Result run(boolean isClient, boolean check) throws InterruptedException {
        pending = RECEIVE;
        if (isClient) {
            if (check) {
                markPages();
            }
            postSend();
        }
        long start = System.nanoTime();
        while (received < settings.iterations() || sent < settings.iterations()) {
            if (!await()) {
                throw new CommandFailed(silence());
            }
            do {
                onCompletion();
            } while (cq.poll(wc));
        }
        long nanos = System.nanoTime() - start;
        Thread.sleep(LINGER);
        return new Result(nanos, !isClient && check ? wrongPages() : List.of());
    }

    @Override
    public void close() {
        for (AutoCloseable object : opened.reversed()) {
            try {
                object.close();
            } catch (Exception e) {
                throw new IllegalStateException("could not be closed: " + object, e);
            }
        }
        opened.clear();
    }

    // Waits for one completion: asleep on the channel, or polling.
    private boolean await() throws InterruptedException {
        if (channel == null) {
            return cq.await(wc, settings.timeout());
        }
        long deadline = System.nanoTime() + settings.timeout().toNanos();
        while (!cq.poll(wc)) {
            long left = deadline - System.nanoTime();
            if (left <= 0 || channel.await(Duration.ofNanos(left)).isEmpty()) {
                return false;
            }
            cq.arm(false);
        }
        return true;
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
            if (receivesPosted <= 1) {
                postReceives();
            }
        }
        pending &= ~(int) wc.wrId();
        if (sent < settings.iterations() && pending == 0) {
            postSend();
        }
    }

    private void postReceives() {
        try (ReceiveBatch batch = qp.receive()) {
            while (receivesPosted < settings.receiveDepth()) {
                batch.receive(RECEIVE).sge(region, 0, settings.size());
                receivesPosted++;
            }
            batch.submit();
        }
    }

    private void postSend() {
        qp.postSend(SEND, region, 0, settings.size());
        pending = RECEIVE | SEND;
    }

    // The C program writes "page number modulo sizeof(char)" to each page, which is 0; the fill is another value.
    private void markPages() {
        for (int i = 0; i < settings.size(); i += PAGE_BYTES) {
            region.segment().set(ValueLayout.JAVA_BYTE, i, (byte) 0);
        }
    }

    private List<Integer> wrongPages() {
        var wrong = new ArrayList<Integer>();
        for (int i = 0; i < settings.size(); i += PAGE_BYTES) {
            if (region.segment().get(ValueLayout.JAVA_BYTE, i) != 0) {
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
                + failure.status().label() + ")." + meaning + why + hint + " The peer is " + remote + ".";
    }

    private String silence() {
        return "nothing happened for " + settings.timeout().toSeconds() + " s after " + progress()
                + ": " + WcStatus.RESP_TIMEOUT_ERR.label() + "; the peer (" + remote
                + ") has stopped or is not reached. Are -m and -n the same at both ends, and does UDP port 4791 pass?";
    }

    private String progress() {
        return received + " of " + settings.iterations() + " messages received, " + sent + " sent";
    }

    private <T extends AutoCloseable> T opened(T object) {
        opened.add(object);
        return object;
    }
}
