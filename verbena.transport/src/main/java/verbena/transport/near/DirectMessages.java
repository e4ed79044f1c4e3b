package verbena.transport.near;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.transport.Counter;
import verbena.transport.Protocol;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.queue.SendQueue;
import verbena.transport.queue.SendRequest;
import verbena.transport.rc.SendSteps;
import verbena.verbs.QpState;
import verbena.verbs.spi.SendOperation;
import verbena.wire.DirectMessage;
import verbena.wire.Frame;
import verbena.wire.ib.Psn;

/// The requests of a [NearConnection] that go to the peer as messages without packets ([PeerMessages]).
/// Engine-confined.
///
/// Messages begin when nothing else is under way, and nothing else begins before all of them have their answer. So
/// the order of requests is kept, and a message that the peer [declines][DirectArrivals] is the oldest request: it
/// goes by packets, and all behind it begin anew.
///
/// ```
/// head        oldest request that is not done       done    its number
/// handed      first request that is no message yet  next    the number of the next message
/// ```
///
/// Why each message is delivered once, in order, and succeeds only then. A run is what is under way at once, from a
/// [first][DirectMessage#FIRST] message on. The queue of messages keeps the order, and no number is used twice. The
/// peer takes the messages of a run one behind the other. Once it has declined a message, it takes none until the
/// next run begins. So an answer with number `n` means that all before `n` are delivered. [DirectMessage#DECLINE]
/// means besides that `n` and all behind it never will be, and then they go by packets. A run begins only when the
/// one before is settled so. The peer's answer about an earlier run is recognized by its numbers, however late it
/// comes. A question changes nothing at the peer, and time settles nothing: this side asks again, for ever. A dead
/// peer is noticed by other means, and for a queue pair that is not there its device answers.
final class DirectMessages {
    private static final int UNDER_WAY_MAX = 256;
    /// The longest WRITE with immediate: its data is carried to its place at once.
    private static final int PLACED_MAX = 1 << 20;
    /// The most that is handed over in one turn; then other queue pairs have their turns.
    private static final long TURN_BYTES = 1 << 20;
    /// The number of requests in a row by packets, after which the next one waits until they are done, as in
    /// [DirectRequests].
    private static final int STREAM_REQUESTS = 8;
    private static final long NOWHERE = -1;
    /// The time after which the peer is asked for an answer, if it has read the message: only an answer that found
    /// no room takes so long.
    private static final long ASK_NANOS = 50_000_000;

    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final PeerMessages way;
    private final SendQueue sends;
    private final SendSteps steps;
    private final DirectPacketWriter packets;
    private final DirectArrivals arrivals;
    /// The memory that takes the data of long WRITEs; null when it cannot be reached.
    private final @Nullable PeerMemory memory;

    /// The peer has acknowledged a packet since anything was changed: it knows this connection, and is the right
    /// one.
    private boolean isProven;
    private int next;
    private int done;
    private long handed;
    /// The place in the queue of messages behind all that was written here.
    private long written;
    /// The request that was declined, and goes by packets.
    private long declined = NOWHERE;

    private boolean isAdded;
    /// Requests that went by packets although they could be messages, with none between them that could not.
    private int stream;

    /// The time to look whether answers come; [Protocol#NEVER] when there was no message for a while.
    private long dueNanos = Protocol.NEVER;
    /// Whether an answer has come since that was set.
    private boolean isAnswered;

    /// @param packets what observers are shown
    /// @param arrivals whose answers this side's messages carry
    /// @param memory carries the data of long WRITEs with immediate; null when it cannot be reached
    DirectMessages(
            PeerMessages way,
            SendSteps steps,
            DirectPacketWriter packets,
            DirectArrivals arrivals,
            @Nullable PeerMemory memory) {
        this.core = steps.core();
        this.p = core.parameters;
        this.way = way;
        this.sends = steps.queue();
        this.steps = steps;
        this.packets = packets;
        this.arrivals = arrivals;
        this.memory = memory;
        this.next = p.sqPsn; // or any other number
        this.done = next;
    }

    // ---- life

    /// Stops: no message is under way any more.
    void stop() {
        isProven = false;
        done = next;
        declined = NOWHERE;
        dueNanos = Protocol.NEVER;
    }

    /// Handles a change of the queue pair.
    void onModified() {
        isProven = false;
    }

    /// Notes that the peer has acknowledged a packet.
    void proven() {
        isProven = true;
    }

    /// Returns whether messages may go: see [PeerMessages#isOpen()].
    boolean isOpen() {
        return way.isOpen();
    }

    // ---- departures

    boolean isUnderWay() {
        return next != done;
    }

    /// Returns whether the current request may be the first message: it is the oldest, and nothing is under way.
    boolean mayBegin(SendRequest request) {
        return isReady() && steps.position() != declined && isMessage(request, false);
    }

    /// Returns whether the current request, which is new, should wait for those before it, because it can then be a
    /// message.
    boolean shouldWait(SendRequest request) {
        return (stream >= STREAM_REQUESTS || isLong(request)) && isReady() && isMessage(request, false);
    }

    /// Notes that a request goes by packets, of which the first is sent.
    void wentByPackets(SendRequest request) {
        stream = isMessage(request, false) ? stream + 1 : 0;
    }

    private boolean isReady() {
        return isProven && isOpen();
    }

    /// Returns whether a request can be a message. A WRITE may only follow a message; by itself, it is carried out
    /// on the peer's memory.
    private boolean isMessage(SendRequest request, boolean follows) {
        return switch (request.operation) {
            case SEND, SEND_WITH_IMMEDIATE -> request.bytes() <= DirectMessage.DATA_MAX;
            case WRITE_WITH_IMMEDIATE ->
                !isLong(request) || (memory != null && request.bytes() <= PLACED_MAX && memory.isReady(request));
            case WRITE -> follows && request.bytes() > 0 && request.bytes() <= DirectMessage.DATA_MAX;
            case SEND_WITH_INVALIDATE,
                    READ,
                    FETCH_ADD,
                    COMPARE_SWAP,
                    ATOMIC_WRITE,
                    FLUSH,
                    LOCAL_INVALIDATE,
                    BIND_WINDOW,
                    FAULTY -> false;
        };
    }

    /// Returns whether the request's data is carried to its place before the message. That may be before earlier
    /// messages are delivered. A program at the other end may look at it only after the completion (IBTA 9.5).
    private static boolean isLong(SendRequest request) {
        return request.operation == SendOperation.WRITE_WITH_IMMEDIATE && request.bytes() > DirectMessage.DATA_MAX;
    }

    /// Hands messages over, from the current request on; it [may begin][#mayBegin]. False when it has to go by
    /// packets.
    boolean begin(long now) {
        handed = steps.position();
        stream = 0;
        if (dueNanos == Protocol.NEVER) {
            arm(now);
        }
        handOver();
        return isUnderWay();
    }

    /// Returns whether [#begin] needs no time.
    boolean isTimed() {
        return dueNanos != Protocol.NEVER;
    }

    /// Hands over what may follow the messages that are under way. Returns true when nothing is left.
    boolean handOver() {
        long bytes = 0;
        while (p.state == QpState.RTS && handed < sends.published() && Psn.distance(done, next) < UNDER_WAY_MAX) {
            if (bytes >= TURN_BYTES) {
                core.events.onReady();
                return false;
            }
            SendRequest request = sends.at(handed);
            if (!isMessage(request, isUnderWay()) || !put(request)) {
                return false;
            }
            bytes += request.bytes();
            handed++;
            next = Psn.next(next);
        }
        return isAllHandedOver();
    }

    /// Returns whether every posted request is a message already. Asked while messages are under way.
    boolean isAllHandedOver() {
        return handed == sends.published();
    }

    /// Puts a request into a message. Returns false when there is no room, or its memory is not there: then the
    /// request fails when it is the oldest.
    private boolean put(SendRequest request) {
        boolean isWrite =
                request.operation == SendOperation.WRITE || request.operation == SendOperation.WRITE_WITH_IMMEDIATE;
        int header = isWrite ? DirectMessage.WRITE_HEADER_BYTES : DirectMessage.HEADER_BYTES;
        boolean isPlaced = isLong(request);
        if (isPlaced && !place(request)) {
            return false;
        }
        int bytes = isPlaced ? 0 : (int) request.bytes();
        long at = way.begin(header + bytes);
        if (at < 0) {
            return false;
        }
        MemorySegment to = way.memory();
        if (request.isInline) {
            MemorySegment.copy(request.inline, 0, to, at + header, bytes);
        } else if (bytes > 0
                && core.memory.gather(request.scatter, p.protectionDomain, 0, to, at + header, bytes)
                        != MemoryVerdict.OK) {
            return false;
        }
        boolean tells = request.operation == SendOperation.SEND_WITH_IMMEDIATE
                || request.operation == SendOperation.WRITE_WITH_IMMEDIATE;
        int flags = (tells ? DirectMessage.WITH_IMMEDIATE : 0)
                | (request.solicited ? DirectMessage.SOLICITED : 0)
                | (isPlaced ? DirectMessage.PLACED : 0)
                | (isUnderWay() ? 0 : DirectMessage.FIRST);
        write(to, at, isWrite ? DirectMessage.WRITE : DirectMessage.SEND, flags, next, arrivals.tellExpected());
        DirectMessage.setImmediate(to, at, request.immediateOrKey);
        if (isWrite) {
            DirectMessage.setRemote(to, at, request.remoteAddress, request.rkey);
        }
        if (isPlaced) {
            DirectMessage.setPlaced(to, at, (int) request.bytes());
        }
        end();
        return true;
    }

    /// Carries the data of a long WRITE to its place. False when that cannot be done, or not at once: then it goes
    /// by packets, from its beginning.
    private boolean place(SendRequest request) {
        if (memory == null) {
            return false;
        }
        PeerMemory.Progress progress = memory.execute(handed, request, p, core.memory);
        return progress == PeerMemory.Progress.DONE || progress == PeerMemory.Progress.DONE_BY_SYSTEM;
    }

    private void write(MemorySegment to, long at, int kind, int flags, int number, int expected) {
        int allFlags = flags | (arrivals.knowsRun() ? DirectMessage.ANSWERS : 0);
        DirectMessage.write(to, at, kind, allFlags, p.destinationQpn, p.qpn, number, expected);
    }

    private void end() {
        way.end();
        written = way.added();
        isAdded = true;
    }

    private boolean tell(int kind, int number) {
        long at = way.begin(DirectMessage.HEADER_BYTES);
        if (at < 0) {
            return false;
        }
        write(way.memory(), at, kind, 0, number, arrivals.expected());
        end();
        return true;
    }

    /// Gives the owed answer to the peer, and shows the peer the added messages.
    void finishTurn() {
        // Where there is no room for an answer, the next message brings it, or the peer asks.
        if (arrivals.owesAnswer() && tell(arrivals.declines() ? DirectMessage.DECLINE : DirectMessage.ANSWER, 0)) {
            arrivals.answered();
        }
        if (isAdded) {
            isAdded = false;
            way.show();
        }
    }

    // ---- answers

    /// Handles the peer's answer, which names the message that it expects.
    void onAnswer(Frame frame) {
        if (!isUnderWay() || !DirectMessage.answers(frame)) {
            return;
        }
        int count = Psn.distance(done, DirectMessage.expected(frame));
        if (count < 0 || count > Psn.distance(done, next)) {
            return; // of an earlier run
        }
        for (int i = 0; i < count; i++) {
            finishOldest();
            if (!isWorking()) {
                return;
            }
        }
        isAnswered |= count > 0;
        if (DirectMessage.kind(frame) == DirectMessage.DECLINE && isUnderWay()) {
            goByPackets();
        }
    }

    private boolean isWorking() {
        return p.state == QpState.RTS || p.state == QpState.SQD;
    }

    private void finishOldest() {
        SendRequest request = steps.current();
        request.psnCount = steps.writer().psnCount(request);
        core.counters.count(Counter.DIRECT_MESSAGES);
        core.counters.add(Counter.DIRECT_MESSAGE_BYTES, request.bytes());
        core.events.onDirect(packets.of(request, steps.psn()));
        done = Psn.next(done);
        steps.finish();
    }

    private void goByPackets() {
        done = next;
        declined = steps.head();
        core.events.onReady();
    }

    // ---- time

    long dueNanos() {
        return dueNanos;
    }

    private void arm(long now) {
        dueNanos = now + ASK_NANOS;
        isAnswered = false;
    }

    /// Handles the passing of time: when messages are under way, the peer has read them, and no answer has come, it
    /// is asked.
    void onDue(long now) {
        if (dueNanos > now) {
            return;
        }
        dueNanos = Protocol.NEVER;
        if (!isUnderWay() || !isWorking()) {
            return;
        }
        if (!isAnswered && way.isRead(written)) {
            boolean _ = tell(DirectMessage.QUERY, done);
        }
        arm(now);
    }
}
