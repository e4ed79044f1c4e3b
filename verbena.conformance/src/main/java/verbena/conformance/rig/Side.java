package verbena.conformance.rig;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;
import verbena.verbs.Completion;
import verbena.verbs.CompletionChannel;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SendBatch;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.ConnectionId;

/// One end: a protection domain, a completion queue for sends and receives, memory with all rights, and mostly a
/// queue pair. What is posted and what completes is told to the rig's story.
public final class Side implements AutoCloseable {
    public static final int MEMORY_BYTES = 128 * 1024;
    public static final int CQ_ENTRIES = 512;

    public final Rig rig;
    public final String name;
    public final Context context;
    public final ProtectionDomain domain;
    public final CompletionQueue cq;
    public final MemoryRegion memory;
    private final WorkCompletion wc = new WorkCompletion();
    private @Nullable QueuePair qp;
    private @Nullable ConnectionId id;

    Side(
            Rig rig,
            String name,
            Context context,
            long memoryBytes,
            int cqEntries,
            Optional<CompletionChannel> channel,
            int number) {
        this.rig = rig;
        this.name = name;
        this.context = context;
        domain = rig.own(context.allocateProtectionDomain());
        cq = rig.own(context.createCompletionQueue(cqEntries, channel));
        memory = rig.own(domain.allocate(memoryBytes, Access.remoteAll()));
        fill(memory, number);
    }

    private Side(Side beside, String name) {
        rig = beside.rig;
        this.name = name;
        context = beside.context;
        domain = beside.domain;
        cq = beside.cq;
        memory = beside.memory;
    }

    /// Another with the same domain, completion queue and memory, for a second queue pair.
    public Side beside() {
        return new Side(this, name + "'");
    }

    /// Its queue pair, which it has from being connected.
    public QueuePair qp() {
        return Objects.requireNonNull(qp, "no queue pair yet");
    }

    public boolean hasQp() {
        return qp != null;
    }

    /// Its end of a connection, where the connection manager made it.
    public ConnectionId id() {
        return Objects.requireNonNull(id, "not connected by the connection manager");
    }

    /// Gives it a queue pair that closes with the rig.
    public QueuePair use(QueuePair made) {
        qp = rig.own(made);
        return made;
    }

    void use(ConnectionId connection, QueuePair made) {
        id = connection;
        qp = made;
    }

    /// Index of the GID that connections of this context use.
    public static int gidIndex(Context context) {
        return Rig.gid(context).index();
    }

    // ---- memory

    /// Bytes that differ from place to place and from region to region.
    public static void fill(MemoryRegion region, int seed) {
        byte[] bytes = new byte[Math.toIntExact(region.length())];
        for (int at = 0; at < bytes.length; at++) {
            bytes[at] = (byte) (at * 167 + (at >>> 8) * 13 + seed * 89 + 7);
        }
        MemorySegment.copy(bytes, 0, region.segment(), ValueLayout.JAVA_BYTE, 0, bytes.length);
    }

    /// A copy of a part of its memory.
    public byte[] bytes(long offset, int length) {
        return bytes(memory, offset, length);
    }

    public static byte[] bytes(MemoryRegion region, long offset, int length) {
        return region.segment().asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    /// Eight bytes of its memory as a number of this host.
    public long word(long offset) {
        return memory.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
    }

    public void word(long offset, long value) {
        memory.segment().set(ValueLayout.JAVA_LONG_UNALIGNED, offset, value);
    }

    /// Address of a byte of its memory, for the peer.
    public long at(long offset) {
        return memory.address() + offset;
    }

    public int rkey() {
        return memory.rkey();
    }

    // ---- posting

    /// Posts what `requests` puts into a batch.
    public void post(String what, Consumer<SendBatch> requests) {
        rig.tell(name + " posts " + what);
        try (SendBatch batch = qp().send()) {
            requests.accept(batch);
            batch.submit();
        }
    }

    public void send(long wrId, long offset, int length) {
        rig.tell(name + " posts SEND wr " + wrId + ", " + length + " bytes");
        qp().postSend(wrId, memory, offset, length);
    }

    public void receive(long wrId, long offset, int length) {
        rig.tell(name + " posts receive wr " + wrId + ", " + length + " bytes");
        qp().postReceive(wrId, memory, offset, length);
    }

    /// Posts receives that `requests` puts into a batch.
    public void receive(String what, Consumer<ReceiveBatch> requests) {
        rig.tell(name + " posts " + what);
        try (ReceiveBatch batch = qp().receive()) {
            requests.accept(batch);
            batch.submit();
        }
    }

    /// WRITE from its memory at `offset` to the peer's at `remoteOffset`.
    public void write(long wrId, long offset, int length, Side to, long remoteOffset) {
        rig.tell(name + " posts WRITE wr " + wrId + ", " + length + " bytes");
        qp().postWrite(wrId, memory, offset, length, to.at(remoteOffset), to.rkey());
    }

    public void read(long wrId, long offset, int length, Side from, long remoteOffset) {
        rig.tell(name + " posts READ wr " + wrId + ", " + length + " bytes");
        qp().postRead(wrId, memory, offset, length, from.at(remoteOffset), from.rkey());
    }

    // ---- completions

    /// The next completion, whatever it is.
    public Completion take() throws InterruptedException {
        return take(cq);
    }

    public Completion take(CompletionQueue queue) throws InterruptedException {
        if (!queue.await(wc, rig.patience())) {
            throw new Mismatch(name + ": the next completion", "one", "none within " + rig.patience());
        }
        Completion completion = wc.snapshot();
        rig.tell(name + " has " + completion);
        return completion;
    }

    /// The next completion, which has to be of this request, and a success.
    public Completion.Success ok(long wrId) throws InterruptedException {
        return ok(wrId, take());
    }

    private Completion.Success ok(long wrId, Completion completion) {
        if (completion instanceof Completion.Success success && success.wrId() == wrId) {
            Expect.equal(name + ": queue pair of the completion", hasQp() ? qp().qpn() : success.qpn(), success.qpn());
            return success;
        }
        throw new Mismatch(name + ": the next completion", "success of wr " + wrId, completion);
    }

    public Completion.Success ok(long wrId, WcOpcode opcode) throws InterruptedException {
        Completion.Success success = ok(wrId);
        Expect.equal(name + ": opcode of wr " + wrId, opcode, success.opcode());
        return success;
    }

    /// The next completion, which has to be of a receive of this many bytes.
    public Completion.Success received(long wrId, long bytes) throws InterruptedException {
        Completion.Success success = ok(wrId, WcOpcode.RECV);
        Expect.equal(name + ": bytes received by wr " + wrId, bytes, success.byteLength());
        return success;
    }

    /// The next completion, which has to be of this request with one of these statuses.
    public Completion.Failure fails(long wrId, WcStatus... statuses) throws InterruptedException {
        Completion completion = take();
        if (completion instanceof Completion.Failure failure
                && failure.wrId() == wrId
                && List.of(statuses).contains(failure.status())) {
            return failure;
        }
        throw new Mismatch(name + ": the next completion", List.of(statuses) + " of wr " + wrId, completion);
    }

    /// The next completion is that of a WRITE or SEND which the peer has refused. Over iWARP nothing is
    /// acknowledged: it has succeeded when it was sent (RFC 5040 5.5), and the refusal ends the connection.
    public void refused(long wrId, WcStatus... statuses) throws InterruptedException {
        if (rig.isAcknowledged()) {
            fails(wrId, statuses);
            return;
        }
        Completion completion = take();
        Expect.equal(name + ": the next completion's request", wrId, completion.wrId());
        isBroken();
    }

    /// Its queue pair is in ERR, or about to be: the completion that tells of a failure may be a moment earlier.
    public void isBroken() throws InterruptedException {
        until("its queue pair is in ERR", () -> qp().state() == QpState.ERR);
    }

    /// All of these end with `WR_FLUSH_ERR`, in this order.
    public void flushed(long... wrIds) throws InterruptedException {
        for (long wrId : wrIds) {
            fails(wrId, WcStatus.WR_FLUSH_ERR);
        }
    }

    /// No completion is there, and none can come any more: the caller knows that all has happened.
    public void silent() {
        if (cq.poll(wc)) {
            throw new Mismatch(name + ": completions", "none", wc.snapshot());
        }
    }

    /// Waits until something holds that completions tell nothing of, polling the device meanwhile.
    public void until(String what, java.util.function.BooleanSupplier holds) throws InterruptedException {
        long end = System.nanoTime() + rig.patience().toNanos();
        while (!holds.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new Mismatch(name + ": " + what, "within " + rig.patience(), "not so");
            }
            context.awaitAsyncEvent(Duration.ofMillis(1)).ifPresent(event -> rig.tell("event " + event.type()));
        }
    }

    /// Ends the queue pair and its connection; the rest closes with the rig.
    @Override
    public void close() {
        ConnectionId connection = id;
        if (connection != null) {
            connection.close();
        }
        QueuePair made = qp;
        if (made != null) {
            made.close();
        }
    }
}
