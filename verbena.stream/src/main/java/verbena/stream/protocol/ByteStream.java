package verbena.stream.protocol;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.InvalidStateException;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SendBatch;
import verbena.verbs.UnsupportedException;
import verbena.verbs.VerbsException;
import verbena.verbs.VerbsObject;
import verbena.verbs.WorkCompletion;

/// The two streams of bytes of a connection, as rdma-core's `librdmacm/docs/rsocket` has them. Each side
/// shows the other a receive buffer in two halves; data go there by RDMA WRITE, and their length in immediate
/// data. A half that has been read is shown again, by a WRITE to the other's list of targets. Immediate data
/// need receives, so messages have credits: what the other has read of them it gives back.
///
/// Nothing here blocks or waits, but for [#await]. Guarded by the lock of its owner.
public final class ByteStream {
    static final int CHUNK_BYTES_MAX = 65_536;
    private static final int DEPTH_MIN = 16;
    /// The domain, the completion queue, two regions and the queue pair.
    private static final int OBJECTS = 5;
    private static final int DEPTH_MAX = 0xFFFE;

    // What a request was, in the upper half of its number; the lower is a length, or which control message.
    private static final long DATA = 0;
    private static final long CONTROL = 1L << 32;
    private static final long CREDITS = 2L << 32;
    private static final long RECEIVE = 3L << 32;
    private static final long DIRECT = 4L << 32;

    private final List<VerbsObject> owned = new ArrayList<>(OBJECTS);
    private final ProtectionDomain domain;
    private final StreamCompletions completions;
    private final Consumer<WorkCompletion> taker = this::take;
    /// Receives that were used up since they were posted.
    private int receivesUsed;
    private final QueuePair qp;
    private final StreamMappings mappings;

    // Sending: a ring, and behind it a place for each entry of the peer's list that is on its way.
    private final MemoryRegion sendBuffer;
    private final int sendBytes;
    private final int sendsMax;
    private final SendRing ring;
    private int sendsFree;
    /// Sent from memory of the program, and not acknowledged.
    private long unacknowledged;
    private final ControlMessages controls;
    /// Messages sent and messages allowed, 16 bits each.
    private int sent;

    private int sentMax;
    private final PeerBuffers peerBuffers;

    // Receiving: a region that the peer writes to, with the ring, and behind it the list of its buffers and the table
    // of its mappings.
    private final ReceiveRing receiveRing;
    private final int halfBytes;
    private final int receivesMax;
    /// Messages received, 16 bits, and at which of them credits are due.
    private int received;
    private int creditsAt;
    private StreamMessage.Hello peer = new StreamMessage.Hello(false, 0, 0, 0, 0, 1, 0, 0, 1, 0);
    private boolean hasBegun;

    /// The announcements of the peer, and the fate of what was sent to it.
    private boolean peerSendsNoMore;

    private boolean isOver;
    private boolean isCutOff;
    private @Nullable StreamFailure failure;

    /// Makes the objects that a stream needs before it is connected.
    ///
    /// @param queuePairs makes its queue pair
    /// @param shared the protection domain that it belongs to; empty for one of its own
    /// @param queues makes its completion queue, for so many completions
    /// @throws UnsupportedException when the device has no immediate data
    public ByteStream(
            Context context,
            BiFunction<ProtectionDomain, QueuePairOptions, QueuePair> queuePairs,
            StreamSizes sizes,
            Optional<ProtectionDomain> shared,
            IntFunction<CompletionQueue> queues) {
        boolean done = false;
        try {
            if (!context.attributes().has(Capability.IMMEDIATE_DATA)) {
                throw new UnsupportedException(
                        "stream", Capability.IMMEDIATE_DATA, context.device().name());
            }
            int depthMax = Math.min(DEPTH_MAX, context.attributes().queues().maxQpWr());
            sendsMax = Math.clamp(sizes.sends(), DEPTH_MIN, depthMax);
            receivesMax = Math.clamp(sizes.receives(), DEPTH_MIN, depthMax);
            sendBytes = sizes.sendBytes();
            halfBytes = sizes.receiveBytes() / 2;

            domain = shared.orElseGet(() -> own(context.allocateProtectionDomain()));
            CompletionQueue cq = own(queues.apply(sendsMax + receivesMax));
            completions = new StreamCompletions(cq);
            sendBuffer = own(domain.allocate(
                    sendBytes + (long) ControlMessages.MAX * StreamMessage.TARGET_BYTES,
                    EnumSet.of(Access.LOCAL_WRITE)));
            ring = new SendRing(sendBuffer, sendBytes);
            long targets = 2L * halfBytes;
            long table = targets + (long) StreamMessage.TARGETS * StreamMessage.TARGET_BYTES;
            MemoryRegion written = own(domain.allocate(
                    table + (long) sizes.mappings() * StreamMessage.MAPPING_BYTES,
                    EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE)));
            receiveRing = new ReceiveRing(written, halfBytes);
            peerBuffers = new PeerBuffers(written, targets);
            mappings = new StreamMappings(this, domain, written.segment().asSlice(table), sizes.mappings());
            qp = own(queuePairs.apply(
                    domain,
                    QueuePairOptions.rc(cq)
                            .withDepth(sendsMax, receivesMax)
                            .withSge(2, 0)
                            .withInline(0)
                            .withSignalAll(true)));
            controls = new ControlMessages(qp, sendBuffer, sendBytes);
            sendsFree = sendsMax - ControlMessages.MAX;
            creditsAt = receivesMax / 2;
            postReceives(receivesMax);
            done = true;
        } finally {
            if (!done) {
                close();
            }
        }
    }

    private <T extends VerbsObject> T own(T made) {
        owned.add(made);
        return made;
    }

    // ---- the beginning and the end

    /// Returns the parameters that the peer gets while the connection is made.
    public StreamMessage.Hello hello() {
        return new StreamMessage.Hello(
                ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN,
                receivesMax,
                mappings.count(),
                receiveRing.buffer().address() + 2L * halfBytes,
                receiveRing.buffer().rkey(),
                StreamMessage.TARGETS,
                receiveRing.buffer().address(),
                receiveRing.buffer().rkey(),
                halfBytes,
                0);
    }

    /// Begins the stream, when its queue pair and the peer's are ready.
    public void begin(StreamMessage.Hello hello) {
        peer = hello;
        sentMax = hello.credits();
        peerBuffers.begin(hello);
        mappings.begin(hello);
        hasBegun = true;
    }

    public boolean hasBegun() {
        return hasBegun;
    }

    /// Returns whether the peer has announced that it sends no more.
    public boolean peerSendsNoMore() {
        return peerSendsNoMore;
    }

    /// Returns whether one side has announced that it neither sends nor takes anything more.
    public boolean isOver() {
        return isOver;
    }

    /// Returns the reason why the stream has failed; null when it has not.
    public @Nullable StreamFailure failure() {
        return failure;
    }

    /// Returns whether receives come back unused: the connection has ended, whether a side has announced it or not.
    public boolean isCutOff() {
        return isCutOff;
    }

    private void fail(StreamFailure why) {
        if (failure == null) {
            failure = why;
        }
    }

    /// Returns whether all that was sent has arrived.
    public boolean isSent() {
        return sendsFree == sendsMax - ControlMessages.MAX && controls.areAllFree();
    }

    /// Frees all of it. A thread that sleeps wakes.
    public void close() {
        mappingsClose();
        owned.reversed().forEach(VerbsObject::close);
        owned.clear();
    }

    @SuppressWarnings("NullAway") // also after a constructor that has not got so far
    private void mappingsClose() {
        if (mappings != null) {
            mappings.close();
        }
    }

    // ---- completions

    /// Asks to be notified of the next completion. Look once more afterwards.
    public void arm() {
        if (failure == null) {
            completions.arm();
        }
    }

    /// Waits for a completion, without the owner's lock. One thread at a time, while no other calls
    /// [#progress]; this thread calls it next.
    ///
    /// @param nanos for how long at most; `Long.MAX_VALUE` is no limit
    /// @throws InvalidStateException when the stream is closed, also while waiting
    public void await(long nanos) throws InterruptedException {
        completions.await(nanos);
    }

    /// Takes all completions, and does what they have made possible: gives credits, shows buffers, sends mappings.
    /// Returns the number of completions.
    public int progress() {
        if (!hasBegun) {
            return 0;
        }
        int count = completions.takeAll(taker);
        if (receivesUsed > 0 && failure == null && !isOver && !isCutOff) {
            postReceives(receivesUsed);
        }
        receivesUsed = 0;
        giveCredits();
        mappings.flush();
        return count;
    }

    private void take(WorkCompletion completed) {
        long kind = completed.wrId() & ~0xFFFF_FFFFL;
        if (kind != RECEIVE) {
            onSent(kind, (int) completed.wrId(), completed);
        } else if (completed.ok()) {
            receivesUsed++;
            onMessage(completed.immediate());
        } else {
            isCutOff = true;
        }
    }

    private void onMessage(int message) {
        int value = StreamMessage.value(message);
        switch (StreamMessage.kind(message)) {
            case StreamMessage.DATA -> {
                received = received + 1 & 0xFFFF;
                if (!receiveRing.arrive(value)) {
                    fail(StreamFailure.PROTOCOL); // more than there was room for
                }
            }
            case StreamMessage.CREDITS -> {
                sentMax = value & 0xFFFF;
                peerBuffers.take();
            }
            case StreamMessage.MAPPING -> received = received + 1 & 0xFFFF;
            case StreamMessage.CONTROL -> {
                switch (value) {
                    case StreamMessage.DISCONNECT -> isOver = true;
                    case StreamMessage.SHUTDOWN -> peerSendsNoMore = true;
                    default -> {} // it lives
                }
            }
            default -> fail(StreamFailure.PROTOCOL);
        }
    }

    private void onSent(long kind, int value, WorkCompletion completed) {
        if (kind == DATA) {
            sendsFree++;
            ring.arrive(value);
        } else if (kind == DIRECT) {
            sendsFree++;
            unacknowledged -= value;
        } else {
            controls.arrive();
            isOver |= kind == CONTROL && value == StreamMessage.DISCONNECT;
        }
        if (!completed.ok() && !isOver) {
            fail(StreamFailure.of(completed.status()));
        }
    }

    private void postReceives(int count) {
        try (ReceiveBatch batch = qp.receiveBatch()) {
            for (int i = 0; i < count; i++) {
                batch.receive(RECEIVE);
            }
            batch.submit();
        } catch (VerbsException e) {
            fail(StreamFailure.RESET); // its completions say the same
        }
    }

    // ---- sending

    /// Returns whether [#send] would take any bytes.
    public boolean canSend() {
        return hasBegun && mappings.isFlushed() && hasSlot() && ring.isWorthAMessage() && peerBuffers.room() > 0;
    }

    /// Returns whether a message that needs a credit can be sent.
    boolean hasSlot() {
        return sendsFree > 0 && sent != sentMax && failure == null;
    }

    /// Sends as much as there is room for now; returns how much.
    ///
    /// @param done bytes at the beginning that have been sent
    /// @param bytes of the source in all
    public long send(StreamSource from, long done, long bytes) {
        long now = done;
        while (now < bytes && canSend()) {
            int chunk =
                    (int) Math.min(Math.min(bytes - now, CHUNK_BYTES_MAX), Math.min(ring.room(), peerBuffers.room()));
            ring.take(from, now, chunk);
            useCredit();
            post(peerBuffers.address(), peerBuffers.key(), StreamMessage.of(StreamMessage.DATA, chunk));
            peerBuffers.use(chunk);
            now += chunk;
        }
        return now - done;
    }

    /// Returns whether [#send(MemoryRegion, long, long)] would take any bytes.
    public boolean canSendDirectly() {
        return hasBegun && mappings.isFlushed() && hasSlot() && peerBuffers.room() > 0;
    }

    /// Sends from memory of the stream's domain, without a copy here, as many bytes as there is room for now.
    /// Returns their number. The device reads the memory until [#unacknowledged()] no longer counts it.
    public long send(MemoryRegion from, long at, long length) {
        long done = 0;
        while (done < length && canSendDirectly()) {
            int chunk = (int) Math.min(Math.min(length - done, CHUNK_BYTES_MAX), peerBuffers.room());
            useCredit();
            sendsFree--;
            unacknowledged += chunk;
            int message = StreamMessage.of(StreamMessage.DATA, chunk);
            try (SendBatch batch = qp.sendBatch()) {
                batch.writeWithImmediate(DIRECT | chunk, peerBuffers.address(), peerBuffers.key(), message)
                        .sge(from, at + done, chunk)
                        .submit();
            } catch (VerbsException e) {
                fail(StreamFailure.RESET);
            }
            peerBuffers.use(chunk);
            done += chunk;
        }
        return done;
    }

    /// Returns how many bytes of [#send(MemoryRegion, long, long)] the peer's device has not acknowledged. Messages
    /// are acknowledged in their order.
    public long unacknowledged() {
        return unacknowledged;
    }

    /// Returns the domain of its queue pair and memory.
    public ProtectionDomain domain() {
        return domain;
    }

    /// Returns whether a write to the peer's memory would take any bytes.
    public boolean canWrite() {
        return mappings.isFlushed() && sendsFree > 0 && failure == null && ring.isWorthAMessage();
    }

    /// Returns the ring for copies of data that leave by [#post].
    SendRing ring() {
        return ring;
    }

    /// Uses a credit for a message that is about to leave.
    void useCredit() {
        sent = sent + 1 & 0xFFFF;
    }

    /// Sends the data that were copied to the ring.
    ///
    /// @param message -1 for none
    void post(long to, int key, int message) {
        int length = ring.staged();
        sendsFree--;
        try (SendBatch batch = qp.sendBatch()) {
            if (message == -1) {
                batch.write(DATA | length, to, key);
            } else {
                batch.writeWithImmediate(DATA | length, to, key, message);
            }
            ring.addTo(batch);
            batch.submit();
        } catch (VerbsException e) {
            fail(StreamFailure.RESET);
        }
        ring.leave();
    }

    /// Returns whether [#sendControl] can be called.
    public boolean hasControl() {
        return controls.hasFree() && failure == null;
    }

    /// Sends the peer [StreamMessage#DISCONNECT], [StreamMessage#SHUTDOWN] or [StreamMessage#KEEP_ALIVE].
    public void sendControl(int what) {
        if (!controls.send(CONTROL | what, StreamMessage.of(StreamMessage.CONTROL, what))) {
            fail(StreamFailure.RESET);
        }
    }

    // ---- receiving

    /// Returns the number of bytes that wait to be read.
    public int available() {
        return receiveRing.available();
    }

    /// Takes up to `length` of the bytes that wait; returns their number.
    ///
    /// @param isPeek leaves them where they are
    /// @param before when it does: how many are passed over
    public long receive(MemorySegment into, long at, long length, boolean isPeek, long before) {
        int over = isPeek ? (int) Math.min(before, available()) : 0;
        int count = receiveRing.copy(over, into, at, length);
        if (!isPeek) {
            free(count);
        }
        return count;
    }

    /// Takes up to `length` of the bytes that wait into a buffer, whose position stays; returns their number.
    public int receive(ByteBuffer into, int at, int length) {
        int count = receiveRing.copy(into, at, length);
        free(count);
        return count;
    }

    private void free(int count) {
        receiveRing.free(count);
        giveCredits();
    }

    /// Shows the peer a half that has been read, or gives it credits when it has used up half of them.
    private void giveCredits() {
        boolean isDue = (short) (received - creditsAt) >= 0;
        if ((!receiveRing.hasHalf() && !isDue) || !hasControl() || isOver || isCutOff) {
            return;
        }
        int message = StreamMessage.of(StreamMessage.CREDITS, received + receivesMax & 0xFFFF);
        creditsAt = received + receivesMax / 2 & 0xFFFF;
        boolean isPosted = receiveRing.hasHalf()
                ? controls.show(CREDITS, message, receiveRing, peer)
                : controls.send(CREDITS, message);
        if (!isPosted) {
            fail(StreamFailure.RESET);
        }
    }

    // ---- mappings

    /// Returns the memory that the peer writes to directly.
    public StreamMappings mappings() {
        return mappings;
    }
}
