package verbena.transport.near;

import verbena.transport.Counter;
import verbena.transport.QueuePairCore;
import verbena.transport.QueuePairParameters;
import verbena.transport.Receiving;
import verbena.transport.memory.MemoryVerdict;
import verbena.transport.memory.ScatterList;
import verbena.verbs.Access;
import verbena.verbs.WcOpcode;
import verbena.verbs.spi.CompletionAccess;
import verbena.wire.DirectMessage;
import verbena.wire.Frame;
import verbena.wire.ib.Psn;

/// Takes the messages of the peer that come without packets ([DirectMessage]). What the responder would not accept
/// at once is declined, before anything is touched, and comes again by packets: only the responder refuses.
/// Engine-confined.
///
/// The [first][DirectMessage#FIRST] message of a run gives the number that comes first, and those behind it follow.
/// Behind one that was declined, all are dropped until the next run begins. Why that is enough: [DirectMessages].
final class DirectArrivals {
    private final QueuePairCore core;
    private final QueuePairParameters p;
    private final Receiving receive;
    private final DirectPacketWriter packets;

    /// The fate of the messages that are under way.
    private enum Run {
        /// No run has begun since the connection did, so far as is known here: messages are dropped.
        UNKNOWN,
        /// They are taken.
        TAKEN,
        /// They are dropped, and the peer gets a [DirectMessage#DECLINE].
        DECLINED
    }

    private Run run = Run.UNKNOWN;
    /// The number of the next message, or of the one that was declined. All before it are delivered.
    private int expected;
    /// Whether a packet of the peer has passed all checks since anything was changed: it is the right peer, by the
    /// right path.
    private boolean isProven;

    /// A message has named a key that is not valid. Only a packet can name one from now on. The responder ends the
    /// connection at the first wrong key, so a peer has one guess here and one there.
    private boolean refusesKeys;

    private boolean owesAnswer;

    /// @param packets what observers are shown
    DirectArrivals(QueuePairCore core, Receiving receive, DirectPacketWriter packets) {
        this.core = core;
        this.p = core.parameters;
        this.receive = receive;
        this.packets = packets;
    }

    /// Begins.
    void start() {
        refusesKeys = false;
        forget();
    }

    /// Forgets the run: the peer is owed no answer, and has to prove itself by a packet.
    void forget() {
        run = Run.UNKNOWN;
        isProven = false;
        owesAnswer = false;
    }

    /// Handles a change of the queue pair.
    void onModified() {
        isProven = false;
    }

    /// Notes that a request of the peer has come by a packet, and was accepted.
    void proven() {
        isProven = true;
    }

    /// Carries a message out, or declines it.
    ///
    /// @param isFree whether no message is arriving by packets, and messages may come at all
    /// @param psn that a packet would have, for observers
    void onMessage(Frame frame, boolean isFree, int psn) {
        int number = DirectMessage.number(frame);
        if ((DirectMessage.flags(frame) & DirectMessage.FIRST) != 0) {
            run = Run.TAKEN;
            expected = number;
        }
        if (run != Run.TAKEN || number != expected) {
            return;
        }
        if (isFree && isProven && accept(frame)) {
            expected = Psn.next(expected);
            core.events.onDirect(packets.of(frame, psn));
        } else {
            run = Run.DECLINED;
            core.counters.count(Counter.DIRECT_DECLINED_MESSAGES);
        }
        owesAnswer = true;
    }

    /// Handles a query of the peer for the message that is expected. When its run began before this connection did,
    /// none is expected. Then all messages before the named number have their answers, from an earlier connection.
    /// The peer may have learned of some of them only after it had asked, so the last query counts.
    void onQuery(Frame frame) {
        int oldest = DirectMessage.number(frame);
        if (run == Run.UNKNOWN || (run == Run.DECLINED && Psn.distance(expected, oldest) > 0)) {
            run = Run.DECLINED;
            expected = oldest;
        }
        owesAnswer = true;
    }

    private boolean accept(Frame frame) {
        int at = DirectMessage.dataOffset(frame);
        int bytes = DirectMessage.dataBytes(frame);
        return DirectMessage.kind(frame) == DirectMessage.WRITE ? write(frame, at, bytes) : send(frame, at, bytes);
    }

    private boolean send(Frame frame, int at, int bytes) {
        ScatterList into = receive.scatter();
        if (!receive.open()
                || bytes > into.bytes
                || (into.count > 1 && core.memory.checkLocal(into, p.receiveDomain(), true) != MemoryVerdict.OK)
                || core.memory.scatter(into, p.receiveDomain(), 0, frame.slot, at, bytes) != MemoryVerdict.OK) {
            return false;
        }
        complete(frame, WcOpcode.RECV, bytes);
        return true;
    }

    private boolean write(Frame frame, int at, int bytes) {
        int right = Access.REMOTE_WRITE.bit();
        int rkey = DirectMessage.rkey(frame);
        long address = DirectMessage.address(frame);
        boolean tells = (DirectMessage.flags(frame) & DirectMessage.WITH_IMMEDIATE) != 0;
        int all = DirectMessage.bytes(frame);
        if (all > 0 && refusesKeys) {
            return false;
        }
        if (all > 0
                && core.memory.checkRemote(rkey, p.protectionDomain, p.qpn, address, all, right) != MemoryVerdict.OK) {
            refusesKeys = true;
            return false;
        }
        if ((p.access & right) == 0 || (tells && !receive.open())) {
            return false;
        }
        if (bytes > 0
                && core.memory.write(rkey, p.protectionDomain, p.qpn, address, frame.slot, at, bytes, right)
                        != MemoryVerdict.OK) {
            return false; // withdrawn at this moment
        }
        if (tells) {
            complete(frame, WcOpcode.RECV_RDMA_WITH_IMM, all);
        }
        return true;
    }

    private void complete(Frame frame, WcOpcode opcode, long bytes) {
        int flags = DirectMessage.flags(frame);
        int allFlags = (flags & DirectMessage.WITH_IMMEDIATE) != 0 ? CompletionAccess.WITH_IMM : 0;
        boolean isSolicited = (flags & DirectMessage.SOLICITED) != 0;
        receive.complete(opcode, bytes, DirectMessage.immediate(frame), allFlags, isSolicited);
    }

    // ---- answers

    boolean owesAnswer() {
        return owesAnswer;
    }

    /// Returns whether the answer that is owed declines.
    boolean declines() {
        return run == Run.DECLINED;
    }

    /// Returns whether [#expected] is known.
    boolean knowsRun() {
        return run != Run.UNKNOWN;
    }

    /// Returns the same as [#expected], for a message of this side, which answers with it. A declined message needs
    /// an answer of its own.
    int tellExpected() {
        owesAnswer &= declines();
        return expected;
    }

    /// Notes that the owed answer is given.
    void answered() {
        owesAnswer = false;
    }

    int expected() {
        return expected;
    }
}
