package verbena.abi;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import verbena.foreign.Memory;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ReceiveBatch;
import verbena.verbs.SendBatch;
import verbena.verbs.UnsupportedException;
import verbena.verbs.VerbsException;
import verbena.verbs.VerbsObject;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;
import verbena.verbs.cm.ConnectionId;

/// One connected rsocket's two streams of bytes, as rdma-core's `librdmacm/docs/rsocket` has them. Each side
/// shows the other a receive buffer in two halves; data go there by RDMA WRITE, and their length in immediate
/// data. A half that has been read is shown again, by a WRITE to the other's list of targets. Immediate data
/// need receives, so messages have credits: what the other has read of them it gives back.
///
/// Nothing here blocks or waits. Guarded by the lock of its [Rsocket].
final class ByteStream {
    /// Of the send queue, kept for messages that need no credit, so that credits can always be given.
    private static final int CONTROLS = 4;

    private static final int CHUNK_BYTES_MAX = 65_536;

    private static final int DEPTH_MIN = 16;
    private static final int DEPTH_MAX = 0xFFFE;

    // What a request was, in the upper half of its number; the lower is a length, or which control message.
    private static final long DATA = 0;
    private static final long CONTROL = 1L << 32;
    private static final long CREDITS = 2L << 32;
    private static final long RECEIVE = 3L << 32;

    private final List<VerbsObject> owned = new ArrayList<>();
    private final ProtectionDomain domain;
    private final StreamWatch watch;
    private final CompletionQueue cq;
    private final QueuePair qp;
    private final WorkCompletion completion = new WorkCompletion();
    private final StreamMappings mappings;

    // Sending: a ring, and behind it a place for each entry of the peer's list that is on its way.
    private final MemoryRegion sendBuffer;
    private final int sendBytes;
    private final int sendsMax;
    private final SendRing ring;
    private int sendsFree;
    private int controlsFree = CONTROLS;
    private int controlAt;
    /// Messages sent and messages allowed, 16 bits each.
    private int sent;

    private int sentMax;
    private final MemoryRegion targets;
    private final PeerBuffers peerBuffers;

    // Receiving: a ring of two halves.
    private final MemoryRegion receiveBuffer;
    private final int halfBytes;
    private final int receivesMax;
    private int receiveAt;
    private int available;
    /// What the peer may still write.
    private int shown;

    /// Read, and not shown again; and which half is next.
    private int unshown;

    private int half = 1;
    /// Messages received, 16 bits, and at which of them credits are due.
    private int received;

    private int creditsAt;
    private int peerTarget = 1;
    private StreamMessage.Hello peer = new StreamMessage.Hello(false, 0, 0, 0, 0, 1, 0, 0, 1);
    private boolean hasBegun;

    /// What the peer has said, and what has become of what was said to it.
    private boolean peerSendsNoMore;

    private boolean isOver;
    private long failure;

    /// @param of is told when something completes
    ByteStream(ConnectionId id, RsocketOptions options, RsocketState of) {
        boolean done = false;
        try {
            Context context = id.context();
            if (!context.attributes().has(Capability.IMMEDIATE_DATA)) {
                throw new UnsupportedException(
                        "rsocket", Capability.IMMEDIATE_DATA, context.device().name());
            }
            int depthMax = Math.min(DEPTH_MAX, context.attributes().maxQpWr());
            sendsMax = Math.clamp(options.get(RsocketOptions.Option.SQ_SIZE), DEPTH_MIN, depthMax);
            receivesMax = Math.clamp(options.get(RsocketOptions.Option.RQ_SIZE), DEPTH_MIN, depthMax);
            sendBytes = options.get(RsocketOptions.Option.SEND_BUFFER);
            halfBytes = options.get(RsocketOptions.Option.RECEIVE_BUFFER) / 2;
            int mappingCount = options.get(RsocketOptions.Option.MAPPINGS);

            domain = own(context.allocateProtectionDomain());
            watch = StreamWatch.join(context);
            cq = own(watch.createQueue(sendsMax + receivesMax, of));
            sendBuffer = own(domain.allocate(
                    sendBytes + (long) CONTROLS * StreamMessage.TARGET_BYTES, EnumSet.of(Access.LOCAL_WRITE)));
            ring = new SendRing(sendBuffer, sendBytes);
            Set<Access> written = EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE);
            targets = own(domain.allocate(
                    (long) StreamMessage.TARGETS * StreamMessage.TARGET_BYTES
                            + (long) mappingCount * StreamMessage.MAPPING_BYTES,
                    written));
            peerBuffers = new PeerBuffers(targets);
            receiveBuffer = own(domain.allocate(2L * halfBytes, written));
            mappings = new StreamMappings(
                    this,
                    domain,
                    targets.segment().asSlice((long) StreamMessage.TARGETS * StreamMessage.TARGET_BYTES),
                    mappingCount);
            qp = own(id.createQueuePair(
                    domain,
                    QueuePairOptions.rc(cq)
                            .withDepth(sendsMax, receivesMax)
                            .withSge(2, 1)
                            .withInline(0)
                            .withSignalAll(true)));
            sendsFree = sendsMax - CONTROLS;
            shown = halfBytes;
            unshown = halfBytes;
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

    StreamMessage.Hello hello() {
        return new StreamMessage.Hello(
                ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN,
                receivesMax,
                mappings.count(),
                targets.address(),
                targets.rkey(),
                StreamMessage.TARGETS,
                receiveBuffer.address(),
                receiveBuffer.rkey(),
                halfBytes);
    }

    /// The queue pair is ready, and so is the peer's.
    void begin(StreamMessage.Hello hello) {
        peer = hello;
        sentMax = hello.credits();
        peerBuffers.begin(hello);
        mappings.begin(hello);
        hasBegun = true;
    }

    boolean hasBegun() {
        return hasBegun;
    }

    /// The peer has said that it sends no more.
    boolean peerSendsNoMore() {
        return peerSendsNoMore;
    }

    /// One side has said that it neither sends nor takes anything more.
    boolean isOver() {
        return isOver;
    }

    /// Why nothing works any more, a negative errno; 0 when all is well.
    long failure() {
        return failure;
    }

    /// Whether all that was sent has arrived.
    boolean isSent() {
        return sendsFree == sendsMax - CONTROLS && controlsFree == CONTROLS;
    }

    /// Frees all of it. A thread that sleeps wakes.
    void close() {
        mappingsClose();
        owned.reversed().forEach(VerbsObject::close);
        owned.clear();
        watchLeave();
    }

    @SuppressWarnings("NullAway") // also after a constructor that has not got so far
    private void watchLeave() {
        if (watch != null) {
            if (cq != null) {
                watch.forget(cq);
            }
            watch.leave();
        }
    }

    /// The device's, which is told what completes.
    StreamWatch watch() {
        return watch;
    }

    @SuppressWarnings("NullAway") // also after a constructor that has not got so far
    private void mappingsClose() {
        if (mappings != null) {
            mappings.close();
        }
    }

    // ---- completions

    /// Asks to be notified of the next completion. Look once more afterwards.
    void arm() {
        if (failure == 0) {
            cq.arm(false);
        }
    }

    /// Takes all completions there are, and does what has become possible by them: gives credits, shows
    /// buffers, sends mappings. Returns how many completions there were.
    int progress() {
        if (!hasBegun) {
            return 0;
        }
        int count = 0;
        int receives = 0;
        while (cq.poll(completion)) {
            count++;
            long kind = completion.wrId() & ~0xFFFF_FFFFL;
            int value = (int) completion.wrId();
            if (kind == RECEIVE) {
                if (completion.ok()) {
                    receives++;
                    onMessage(completion.immediate());
                }
            } else {
                onSent(kind, value);
            }
        }
        if (receives > 0 && failure == 0 && !isOver) {
            postReceives(receives);
        }
        giveCredits();
        mappings.flush();
        return count;
    }

    private void onMessage(int message) {
        int value = StreamMessage.value(message);
        switch (StreamMessage.kind(message)) {
            case StreamMessage.DATA -> {
                received = received + 1 & 0xFFFF;
                if (value > shown) {
                    failure = Errno.EPROTO; // more than there was room for
                } else {
                    shown -= value;
                    available += value;
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
            default -> failure = Errno.EPROTO;
        }
    }

    private void onSent(long kind, int value) {
        if (kind == DATA) {
            sendsFree++;
            ring.arrive(value);
        } else {
            controlsFree++;
            isOver |= kind == CONTROL && value == StreamMessage.DISCONNECT;
        }
        if (!completion.ok() && failure == 0 && !isOver) {
            failure = switch (completion.status()) {
                case WcStatus.WR_FLUSH_ERR -> Errno.ECONNRESET;
                case WcStatus.RETRY_EXC_ERR, WcStatus.RNR_RETRY_EXC_ERR -> Errno.ETIMEDOUT;
                default -> Errno.EIO;
            };
        }
    }

    private void postReceives(int count) {
        try (ReceiveBatch batch = qp.receive()) {
            for (int i = 0; i < count; i++) {
                batch.receive(RECEIVE);
            }
            batch.submit();
        } catch (VerbsException e) {
            failure = Errno.ECONNRESET; // its completions say the same
        }
    }

    // ---- sending

    /// Whether [#send] would take something.
    boolean canSend() {
        return hasBegun && mappings.isFlushed() && hasSlot() && ring.isWorthAMessage() && peerBuffers.room() > 0;
    }

    /// Whether a message that needs a credit can be sent.
    boolean hasSlot() {
        return sendsFree > 0 && sent != sentMax && failure == 0;
    }

    /// Sends as much as there is room for now, pieces that fit together as one message; returns how much.
    ///
    /// @param done bytes at the beginning that have been sent
    long send(Pieces from, long done) {
        long now = 0;
        while (done + now < from.bytes() && canSend()) {
            int chunk = (int) Math.min(
                    Math.min(from.bytes() - done - now, CHUNK_BYTES_MAX), Math.min(ring.room(), peerBuffers.room()));
            long to = peerBuffers.address();
            int key = peerBuffers.key();
            peerBuffers.use(chunk);
            sent = sent + 1 & 0xFFFF;
            long _ = from.forEach(done + now, (at, length, before) -> {
                int fits = (int) Math.min(length, chunk - before);
                ring.copy(at, fits, (int) before);
                return fits;
            });
            post(chunk, to, key, StreamMessage.of(StreamMessage.DATA, chunk));
            now += chunk;
        }
        return now;
    }

    /// Writes to the peer's memory, without telling it: as much as there is room for now.
    ///
    /// @param toAddress of `length` bytes that the peer has mapped
    long writeTo(long from, long length, long toAddress, int key) {
        long done = 0;
        while (done < length && canWrite()) {
            int chunk = (int) Math.min(Math.min(length - done, CHUNK_BYTES_MAX), ring.room());
            ring.copy(from + done, chunk, 0);
            post(chunk, toAddress + done, key, -1);
            done += chunk;
        }
        return done;
    }

    boolean canWrite() {
        return mappings.isFlushed() && sendsFree > 0 && failure == 0 && ring.isWorthAMessage();
    }

    /// An entry of the peer's table of mappings.
    void sendMapping(MemorySegment entry, int index, long to, int key) {
        sent = sent + 1 & 0xFFFF;
        ring.copy(entry.address(), StreamMessage.MAPPING_BYTES, 0);
        post(StreamMessage.MAPPING_BYTES, to, key, StreamMessage.of(StreamMessage.MAPPING, index));
    }

    boolean hasRoomForMapping() {
        return hasSlot() && ring.room() >= StreamMessage.MAPPING_BYTES;
    }

    /// What was copied leaves.
    ///
    /// @param message -1 for none
    private void post(int length, long to, int key, int message) {
        sendsFree--;
        try (SendBatch batch = qp.send()) {
            if (message == -1) {
                batch.write(DATA | length, to, key);
            } else {
                batch.writeWithImmediate(DATA | length, to, key, message);
            }
            ring.addTo(batch, length);
            batch.submit();
        } catch (VerbsException e) {
            failure = failure == 0 ? Errno.ECONNRESET : failure;
        }
        ring.leave(length);
    }

    /// Whether [#sendControl] can be called.
    boolean hasControl() {
        return controlsFree > 0 && failure == 0;
    }

    void sendControl(int what) {
        controlsFree--;
        try (SendBatch batch = qp.send()) {
            batch.writeWithImmediate(CONTROL | what, 0, 0, StreamMessage.of(StreamMessage.CONTROL, what))
                    .submit();
        } catch (VerbsException e) {
            failure = failure == 0 ? Errno.ECONNRESET : failure;
        }
    }

    // ---- receiving

    /// Bytes that wait.
    int available() {
        return available;
    }

    /// Takes up to `length` bytes of those that wait; returns how many.
    ///
    /// @param isPeek leaves them where they are
    /// @param before when it does: how many are passed over
    long receive(long into, long length, boolean isPeek, long before) {
        int over = isPeek ? (int) Math.min(before, available) : 0;
        int from = (receiveAt + over) % (2 * halfBytes);
        int count = (int) Math.min(length, available - over);
        int first = Math.min(count, 2 * halfBytes - from);
        MemorySegment.copy(receiveBuffer.segment(), from, Memory.ALL, into, first);
        MemorySegment.copy(receiveBuffer.segment(), 0, Memory.ALL, into + first, count - first);
        if (!isPeek) {
            receiveAt = (receiveAt + count) % (2 * halfBytes);
            available -= count;
            unshown += count;
            giveCredits();
        }
        return count;
    }

    /// Shows the peer a half that has been read, or tells it when it has used up half of its credits.
    private void giveCredits() {
        boolean isDue = (short) (received - creditsAt) >= 0;
        if ((unshown < halfBytes && !isDue) || !hasControl() || isOver) {
            return;
        }
        int message = StreamMessage.of(StreamMessage.CREDITS, received + receivesMax & 0xFFFF);
        creditsAt = received + receivesMax / 2 & 0xFFFF;
        controlsFree--;
        try (SendBatch batch = qp.send()) {
            if (unshown < halfBytes) {
                batch.writeWithImmediate(CREDITS, 0, 0, message);
            } else {
                long at = sendBytes + (long) controlAt * StreamMessage.TARGET_BYTES;
                controlAt = (controlAt + 1) % CONTROLS;
                MemorySegment entry = sendBuffer.segment().asSlice(at, StreamMessage.TARGET_BYTES);
                entry.set(
                        JAVA_LONG_UNALIGNED.withOrder(peer.order()),
                        0,
                        receiveBuffer.address() + (long) half * halfBytes);
                entry.set(JAVA_INT_UNALIGNED.withOrder(peer.order()), 8, receiveBuffer.rkey());
                entry.set(JAVA_INT_UNALIGNED.withOrder(peer.order()), 12, halfBytes);
                long to = peer.targets() + (long) peerTarget * StreamMessage.TARGET_BYTES;
                batch.writeWithImmediate(CREDITS, to, peer.targetsKey(), message)
                        .sge(sendBuffer, at, StreamMessage.TARGET_BYTES);
                peerTarget = (peerTarget + 1) % peer.targetCount();
                half = 1 - half;
                unshown -= halfBytes;
                shown += halfBytes;
            }
            batch.submit();
        } catch (VerbsException e) {
            failure = failure == 0 ? Errno.ECONNRESET : failure;
        }
    }

    // ---- mappings

    StreamMappings mappings() {
        return mappings;
    }
}
