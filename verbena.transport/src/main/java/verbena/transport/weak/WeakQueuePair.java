package verbena.transport.weak;

import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import verbena.transport.PacketFate;
import verbena.transport.Protocol;
import verbena.transport.ProtocolParts;
import verbena.transport.QueuePairParameters;
import verbena.transport.QueuePairProtocol;
import verbena.transport.queue.CompletionRing;
import verbena.verbs.QpState;
import verbena.verbs.WcOpcode;
import verbena.wire.Frame;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;

/// A queue pair of a weak device: the protocol of a strong one, between a memory that shows bytes late ([WeakMemory])
/// and packets and completions that come late. Engine-confined.
public final class WeakQueuePair implements QueuePairProtocol {
    /// A time that has come for everything that is late.
    private static final long ALL = Protocol.NEVER - 1;

    private final Weakness weakness;
    private final SplittableRandom random;
    private final WeakDevice device;
    private final ProtocolParts strong;
    private final QueuePairParameters parameters;
    private final WeakMemory memory;
    private final LateCompletions completions;
    private final LateFrames requests = new LateFrames(this::resample);
    private final LateFrames responses = new LateFrames(this::resample);
    private @Nullable QueuePairProtocol inner;
    /// The time of the last turn. Packets whose time had come by then wait for the link, not for time.
    private long turnNanos = Long.MIN_VALUE;
    /// Whether the end of the connection has been seen.
    private boolean isOver;

    /// Makes the weak part of a queue pair. Its chance depends on how many were made before it.
    public WeakQueuePair(WeakDevice device, ProtocolParts strong) {
        this.device = device;
        this.weakness = device.weakness;
        this.random = device.chance();
        this.strong = strong;
        this.parameters = strong.parameters();
        this.memory = new WeakMemory(strong.memory(), device, random.split());
        this.completions = new LateCompletions(strong.sendCompletions(), new Nobody(), this::completionDue);
    }

    /// Returns the parts of the protocol that this is [#around].
    public ProtocolParts parts() {
        return new ProtocolParts(
                parameters,
                strong.sends(),
                strong.receives(),
                strong.receivesShared(),
                strong.signalAll(),
                completions,
                strong.receiveCompletions(),
                memory,
                strong.counters(),
                strong.events());
    }

    /// Takes the protocol, which was made from [#parts()].
    public QueuePairProtocol around(QueuePairProtocol protocol) {
        inner = protocol;
        return this;
    }

    private QueuePairProtocol inner() {
        return Objects.requireNonNull(inner, "used before around()");
    }

    // ---- chance

    private long lateness() {
        return Lateness.draw(random);
    }

    /// Returns when the completion of a request comes. What the request has written into a buffer of this side is
    /// there before.
    private long completionDue(WcOpcode of) {
        boolean isRead = of == WcOpcode.RDMA_READ || of == WcOpcode.FETCH_ADD || of == WcOpcode.COMP_SWAP;
        boolean isLate = weakness.has(Freedom.LATE_COMPLETIONS) || (isRead && weakness.has(Freedom.LOCAL_BUFFERS));
        return isLate ? device.clock.getAsLong() + lateness() : Long.MIN_VALUE;
    }

    private long requestDue(boolean isSampled, long now) {
        return isSampled || weakness.has(Freedom.QUEUE_PAIRS) ? now + lateness() : now;
    }

    private long responseDue(boolean isSampled, long now) {
        long due = isSampled ? now + lateness() : now;
        return weakness.has(Freedom.LATE_VISIBILITY) ? due : Math.max(due, memory.writtenByNanos());
    }

    /// Returns where the data of the packet comes from that was just made, if it may be taken once more.
    private WeakMemory.@Nullable Sample sample(boolean isResponse) {
        WeakMemory.Sample sample = memory.takeSample();
        boolean mayChange = isResponse
                ? weakness.has(Freedom.UNFENCED) || weakness.has(Freedom.RESAMPLED)
                : weakness.has(Freedom.LOCAL_BUFFERS);
        return mayChange ? sample : null;
    }

    private void resample(Frame frame, WeakMemory.Sample sample) {
        int bytes = sample.bytes();
        boolean isRead = Packet.opcode(frame).isResponse();
        boolean mayBePart =
                (!isRead || weakness.has(Freedom.RESAMPLED)) && sample.address() != WeakMemory.Sample.UNKNOWN;
        int from = 0;
        int to = bytes;
        if (mayBePart && (random.nextBoolean() || (isRead && !weakness.has(Freedom.UNFENCED)))) {
            from = toWord(sample, random.nextInt(bytes + 1));
            to = Math.max(from, toWord(sample, from + random.nextInt(bytes - from + 1)));
        }
        sample.take(from, frame.slot, sample.offset() + from, to - from);
    }

    /// Returns a place where the bytes may be torn, at `index` or before it.
    private int toWord(WeakMemory.Sample sample, int index) {
        return weakness.has(Freedom.TORN_WORDS)
                ? index
                : Math.max(0, index - (int) (sample.address() + index & Long.BYTES - 1));
    }

    // ---- packets and time

    @Override
    public PacketFate onPacket(Frame frame, Opcode opcode, long nowNanos) {
        boolean isBehindReads = !opcode.isResponse() && !opcode.isRead();
        if (isBehindReads && (!weakness.has(Freedom.UNFENCED) || random.nextBoolean())) {
            answerReads(nowNanos);
        }
        return inner().onPacket(frame, opcode, nowNanos);
    }

    /// Takes the bytes of all READs that have come, because the next request is carried out behind them.
    private void answerReads(long now) {
        Frame frame = parameters.spareFrames.take();
        if (frame != null) {
            while (inner().poll(frame, now)) {
                boolean _ = isLate(frame, now, true);
            }
            parameters.spareFrames.giveBack(frame);
        }
        responses.fix();
    }

    @Override
    public boolean poll(Frame frame, long nowNanos) {
        bring(nowNanos);
        if (responses.poll(frame, nowNanos, parameters.spareFrames)
                || requests.poll(frame, nowNanos, parameters.spareFrames)) {
            return true;
        }
        while (!responses.isFull() && !requests.isFull() && inner().poll(frame, nowNanos)) {
            if (!isLate(frame, nowNanos, false)) {
                return true;
            }
        }
        return false;
    }

    /// Keeps a packet that the protocol has made, to send it later; false when it leaves at once.
    private boolean isLate(Frame frame, long now, boolean inAnyCase) {
        boolean isResponse = Packet.opcode(frame).isResponse();
        WeakMemory.Sample sample = sample(isResponse);
        LateFrames late = isResponse ? responses : requests;
        long due = isResponse ? responseDue(sample != null, now) : requestDue(sample != null, now);
        boolean isNow = late.isEmpty() && due <= now && !inAnyCase;
        return !isNow && late.add(frame, due, sample, parameters.spareFrames);
    }

    @Override
    public long deadlineNanos() {
        long packets = Math.min(later(responses.dueNanos()), later(requests.dueNanos()));
        long seen = Math.min(Math.min(memory.dueNanos(), completions.dueNanos()), device.dueNanos());
        return Math.min(Math.min(packets, seen), inner().deadlineNanos());
    }

    private long later(long dueNanos) {
        return dueNanos > turnNanos ? dueNanos : Protocol.NEVER;
    }

    @Override
    public void onDeadline(long nowNanos) {
        bring(nowNanos);
        inner().onDeadline(nowNanos);
    }

    private void bring(long nowNanos) {
        turnNanos = nowNanos;
        if (parameters.state == QpState.ERR && !isOver) {
            end();
        }
        memory.show(nowNanos);
        completions.bring(nowNanos);
        device.bring(nowNanos);
    }

    // ---- life

    @Override
    public void onModified(QpState from, QpState to, long nowNanos) {
        inner().onModified(from, to, nowNanos);
        if (to == QpState.RESET || (to == QpState.ERR && !isOver)) {
            end();
        }
        if (to == QpState.RESET) {
            isOver = false;
            responses.clear(parameters.spareFrames);
            completions.bring(ALL);
            device.bring(ALL);
        }
    }

    private void end() {
        isOver = true;
        memory.failed();
        requests.clear(parameters.spareFrames);
    }

    @Override
    public boolean isDraining() {
        return inner().isDraining();
    }

    @Override
    public void breakDown(String cause) {
        inner().breakDown(cause);
    }

    @Override
    public void peerGone(String cause) {
        inner().peerGone(cause);
    }

    @Override
    public String rootCause() {
        return inner().rootCause();
    }

    /// The owner of a ring in which nothing lies.
    private static final class Nobody implements CompletionRing.Listener {
        @Override
        public void onNotification() {}

        @Override
        public void onWake() {}

        @Override
        public void onOverflow() {}
    }
}
