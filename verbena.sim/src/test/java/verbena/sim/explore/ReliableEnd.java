package verbena.sim.explore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import verbena.transport.EngineCounters;
import verbena.transport.ProtocolParts;
import verbena.transport.QueuePairEvents;
import verbena.transport.QueuePairParameters;
import verbena.transport.QueuePairProtocol;
import verbena.transport.memory.MemoryTable;
import verbena.transport.memory.Region;
import verbena.transport.queue.CompletionRing;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.ReceiveRequest;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.transport.rc.ReliableConnection;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.AsyncEvent;
import verbena.verbs.Gid;
import verbena.verbs.QpState;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.spi.SendOperation;

/// One end of a reliable connection in a [SmallWorld], with a program that sends numbers, 8 bytes each, and
/// receives those of the peer. A number that is received lies at its place in [#in], one behind the other.
final class ReliableEnd implements QueuePairEvents, CompletionRing.Listener {
    private static final int DOMAIN = 1;
    private static final int QUEUE_DEPTH = 8;
    private static final long IOVA = 0x1_0000;
    /// In memory that no message has reached.
    static final long UNTOUCHED = 0x5A5A_5A5A_5A5A_5A5AL;

    final String name;
    final QueuePairParameters parameters;
    final ReliableConnection connection;
    /// The connection, or a protocol around it.
    QueuePairProtocol protocol;
    /// Has room for one number more than are received.
    final MemorySegment in;

    final Region region;
    final MemoryTable memory;
    private final SendQueue sends;
    final ReceiveQueue receives = new ReceiveQueue(QUEUE_DEPTH, 1, () -> {});
    private final CompletionRing completions = new CompletionRing(2 * QUEUE_DEPTH, this);
    private final WorkCompletion completion = new WorkCompletion();

    /// Whether it is to be polled: a packet or message has come, a deadline, or it has said so.
    boolean isReady;
    /// Whether it has migrated to its alternate path, and its device does not know yet.
    boolean hasMigrated;

    /// How many receives and sends the program has posted.
    int received;

    int posted;
    /// How each send ended, in the order of completions.
    final List<WcStatus> sent = new ArrayList<>();
    /// What was received, in the order of completions; null for a receive that failed.
    final List<@Nullable Long> numbers = new ArrayList<>();

    /// @param numbersMax how many numbers the peer may send
    ReliableEnd(String name, int qpn, int psn, int numbersMax, Arena arena) {
        this.name = name;
        parameters = new QueuePairParameters(qpn);
        parameters.protectionDomain = DOMAIN;
        parameters.sqPsn = psn;
        sends = new SendQueue(QUEUE_DEPTH, 1, Long.BYTES, arena);
        in = arena.allocate(Long.BYTES * (numbersMax + 1L), Long.BYTES);
        for (int i = 0; i <= numbersMax; i++) {
            in.setAtIndex(ValueLayout.JAVA_LONG, i, UNTOUCHED);
        }
        region = new Region(DOMAIN, in, IOVA, Access.LOCAL_WRITE.bit() | Access.REMOTE_WRITE.bit());
        memory = new MemoryTable(new SplittableRandom(qpn), 8, () -> 0);
        memory.add(region);
        connection = new ReliableConnection(new ProtocolParts(
                parameters,
                sends,
                receives,
                false,
                true,
                completions,
                completions,
                memory,
                new EngineCounters(),
                this));
        protocol = connection;
    }

    /// What is the same for every world of such ends: no end draws a number, or asks when its peer was heard
    /// last.
    static Fingerprint fingerprint() {
        return new Fingerprint()
                .without("java.util.SplittableRandom")
                .without("verbena.verbs.WorkCompletion")
                .without("verbena.transport.rc.KeepAlive", "heardNanos", "isHeard");
    }

    /// Goes to RTS.
    ///
    /// @param retries of the ACK timer; there is no limit when the peer has no receive
    void connect(ReliableEnd peer, int retries, long now) {
        parameters.destinationQpn = peer.parameters.qpn;
        parameters.rqPsn = peer.parameters.sqPsn;
        parameters.minRnrTimerCode = 12;
        parameters.ackTimeoutNanos = new AckTimeout(14).duration().toNanos();
        parameters.retryCount = retries;
        parameters.rnrRetry = 7;
        parameters.access = Access.REMOTE_WRITE.bit();
        parameters.path(new Gid(0, parameters.qpn), new Gid(0, peer.parameters.qpn));
        for (QpState state : new QpState[] {QpState.INIT, QpState.RTR, QpState.RTS}) {
            modify(state, now);
        }
    }

    void modify(QpState to, long now) {
        QpState from = parameters.state;
        parameters.state = to;
        protocol.onModified(from, to, now);
    }

    // ---- its program

    void postReceive() {
        ReceiveRequest request = receives.claim();
        request.wrId = received;
        request.scatter.clear();
        request.scatter.add(region.key(), IOVA + (long) Long.BYTES * received++, Long.BYTES);
        receives.publish();
    }

    void postSend(long number) {
        SendRequest request = sends.claim();
        request.begin(SendOperation.SEND, posted++);
        request.isInline = true;
        request.inline.set(ValueLayout.JAVA_LONG, 0, number);
        request.inlineBytes = Long.BYTES;
        sends.publish();
    }

    /// READs all of a region of the peer into one of the same size.
    void postRead(Region into, Region from) {
        SendRequest request = sends.claim();
        request.begin(SendOperation.READ, posted++);
        request.rkey = from.key();
        request.remoteAddress = from.iova();
        request.scatter.add(into.key(), into.iova(), (int) into.length());
        sends.publish();
    }

    /// One more region, with all rights.
    Region register(MemorySegment bytes) {
        var made = new Region(DOMAIN, bytes, IOVA, Access.LOCAL_WRITE.bit() | Access.REMOTE_READ.bit());
        memory.add(made);
        return made;
    }

    /// Takes all completions, which have to come in the order of their requests.
    void takeCompletions() {
        while (completions.poll(completion)) {
            boolean isReceive = completion.opcode() == WcOpcode.RECV;
            int before = isReceive ? numbers.size() : sent.size();
            if (completion.wrId() != before) {
                throw new AssertionError(name + " is told of " + completion + " before that of " + before);
            }
            if (isReceive) {
                numbers.add(completion.ok() ? in.getAtIndex(ValueLayout.JAVA_LONG, before) : null);
            } else {
                sent.add(completion.status());
            }
        }
    }

    // ---- its engine

    void onDeadline(long now) {
        isReady = true;
        protocol.onDeadline(now);
    }

    @Override
    public void onReady() {
        isReady = true;
    }

    @Override
    public void onAsyncEvent(AsyncEvent.Type type) {
        hasMigrated |= type == AsyncEvent.Type.PATH_MIG;
    }

    @Override
    public void onState(QpState state) {}

    @Override
    public void onNotification() {}

    @Override
    public void onWake() {}

    @Override
    public void onOverflow() {
        throw new AssertionError(name + " has too many completions");
    }
}
