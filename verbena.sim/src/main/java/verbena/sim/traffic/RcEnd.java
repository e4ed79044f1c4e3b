package verbena.sim.traffic;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import verbena.sim.SimDevice;
import verbena.sim.World;
import verbena.sim.traffic.RcMemory.WindowState;
import verbena.sim.traffic.Request.Kind;
import verbena.verbs.Capability;
import verbena.verbs.CompletionQueue;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.Transition;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;

/// One end of an [RcTraffic]: posts requests at random, polls, and compares with the model what comes.
///
/// The model: requests succeed in order, each once. A message that has succeeded was received, as sent, in order,
/// each once. The peer's board is what WRITEs that succeeded have made of it and nothing else; a WRITE that failed
/// has written a first part of its data, perhaps none. An atomic returns what the one before has left. Every byte
/// that no request names keeps its canary.
final class RcEnd implements Inbox.Receiver, RcPoster.Peer {
    /// A drained send queue goes on within this time.
    private static final long REST_NANOS = 2_000_000;

    private final World world;
    private final SplittableRandom random;
    final SimDevice device;
    private final Tape tape;
    private final Rules rules;
    private final Inbox inbox;
    private final ProtectionDomain domain;
    private final CompletionQueue sendCq;
    private final WorkCompletion wc = new WorkCompletion();
    /// The queue pair that sends; it also receives, unless there is a target.
    QueuePair qp;
    /// The queue pair that receives, of an extended connection.
    private Optional<QueuePair> target;
    /// The other end; until they have met, this one.
    private RcEnd peer = this;

    private final RcMemory memory;
    private final RcResults results;
    private final RequestRing requests = new RequestRing(Slots.COUNT);
    private final RcPoster poster;

    // As a receiver.
    private long messagesSeen;
    private boolean receiveFailed;

    private enum Draining {
        NO,
        /// A drain that was asked for: all started requests are to end.
        ASKED,
        /// A drain that is done: no request is to end before the send queue goes on.
        DONE
    }

    private Draining draining = Draining.NO;
    private boolean drainsTraffic;
    private long resumeFrom;

    /// Errors that may come first: what the network and the program may do.
    private final Set<WcStatus> allowed = EnumSet.noneOf(WcStatus.class);
    /// Something has failed, and everything else will.
    boolean broken;
    /// Without an end that completions come from.
    private boolean closed;

    // Figures.
    long completed;
    /// The number of these requests that the peer has answered.
    long answered;
    long failed;

    RcEnd(World world, Inbox inbox, Tape tape, int mtu, Rules rules) {
        this.world = world;
        this.random = world.random();
        this.inbox = inbox;
        this.device = inbox.device;
        this.tape = tape;
        this.rules = rules;
        domain = inbox.domain;
        sendCq = device.context().createCompletionQueue(Slots.COUNT);
        memory = new RcMemory(this, device, domain, tape, Slots.bytes(mtu));
        results = new RcResults(device, domain, mtu, Slots.bytes(mtu), rules.have(Feature.READ_PIECES));
        poster = new RcPoster(random, inbox, tape, mtu, memory, results, requests);
        qp = makeQueuePair();
        target = inbox.target();
        inbox.join(this);
    }

    void meet(RcEnd other) {
        peer = other;
    }

    private QueuePair makeQueuePair() {
        var options = inbox.options(sendCq).withInline(RcPoster.INLINE_MAX);
        return domain.createQueuePair(
                inbox.isExtended()
                        ? options
                        : options.withExtensions(EnumSet.of(Capability.ATOMIC_WRITE, Capability.FLUSH)));
    }

    /// Returns the queue pair that the peer's requests go to.
    @Override
    public QueuePair receiver() {
        return target.orElse(qp);
    }

    @Override
    public Inbox inbox() {
        return inbox;
    }

    @Override
    public RcMemory memory() {
        return memory;
    }

    @Override
    public RequestRing requests() {
        return requests;
    }

    // ---- receiving

    /// Posts receives, if it is time.
    void postReceives(long slowNanos) {
        inbox.post(this, slowNanos);
    }

    void pollReceives() {
        inbox.poll();
    }

    @Override
    public void onReceive(WorkCompletion received, MemorySegment into, int queue) {
        if (received.ok()) {
            check(!receiveFailed, "receives after an error:", received);
            onMessage(received, into, queue);
            return;
        }
        check(mayFail(received), "a receive fails:", received);
        broken = true;
        receiveFailed = true;
        int common = messagesSeen < peer.requests.messagesPosted() && received.status() != WcStatus.LOC_ACCESS_ERR
                ? commonWith(peer.requests.message(messagesSeen), into)
                : 0;
        check(Inbox.isUntouched(into, common), "a failed receive holds what was not sent:", received);
    }

    private int commonWith(Request message, MemorySegment into) {
        return message.kind.isWrite() ? 0 : tape.common(into, 0, message.place, message.length);
    }

    private void onMessage(WorkCompletion received, MemorySegment into, int queue) {
        check(messagesSeen < peer.requests.messagesPosted(), "receives what was not sent:", received);
        Request message = peer.requests.message(messagesSeen);
        check(message.message == messagesSeen, "the model is confused about", message);
        messagesSeen++;
        check(message.queue == queue, "receives from queue", queue, "what names another:", message);
        boolean isWrite = message.kind == Kind.WRITE_IMMEDIATE;
        check(received.opcode() == (isWrite ? WcOpcode.RECV_RDMA_WITH_IMM : WcOpcode.RECV), received, "for", message);
        check(received.byteLength() == message.length, received, "for", message);
        check(received.hasImmediate() == message.kind.hasImmediate(), received, "for", message);
        check(!received.hasImmediate() || received.immediate() == message.immediate, received, "for", message);
        check(received.hasInvalidate() == (message.kind == Kind.SEND_INVALIDATE), received, "for", message);
        if (received.hasInvalidate()) {
            check(
                    received.invalidatedRkey() == message.key && memory.windowState == WindowState.ENDING,
                    received,
                    "for",
                    message);
            memory.windowState = WindowState.FREE;
        }
        int length = isWrite ? 0 : message.length;
        check(tape.common(into, 0, message.place, length) == length, "received damaged:", message);
        check(Inbox.isUntouched(into, length), "received too much:", message);
        if (inbox.isShared() && inbox.hasSeveral()) {
            rules.tally().count(inbox.isExtended() ? Feature.XRC : Feature.SRQ);
        }
        if (isWrite) {
            memory.checkWritten(message);
        }
    }

    // ---- sending

    boolean hasRoom() {
        return requests.hasRoom() && !broken;
    }

    /// Posts one request, drawn at random.
    ///
    /// @param signaled whether it has to be
    void post(boolean signaled) {
        poster.post(qp, peer, signaled);
    }

    // ---- completing

    void pollSends() {
        while (device.poll(sendCq, wc)) {
            check(!requests.isEmpty(), "completes what was not posted:", wc);
            if (!requests.hasFailed()) {
                // Unsignalled requests before it have succeeded with it.
                while (requests.oldest().number != wc.wrId()) {
                    Request silent = requests.oldest();
                    boolean isLast = requests.ended() + 1 == requests.posted();
                    check(!silent.signaled && !isLast, wc, "comes instead of", silent);
                    succeed(silent);
                }
            }
            Request request = requests.oldest();
            check(request.number == wc.wrId(), wc, "comes instead of", request);
            if (wc.ok()) {
                check(!requests.hasFailed(), wc, "succeeds after an error");
                check(draining != Draining.DONE, wc, "in a send queue that is drained");
                check(request.signaled, wc, "of an unsignalled request");
                check(wc.opcode() == request.kind.opcode, wc, "for", request);
                succeed(request);
            } else {
                boolean isAllowed = requests.hasFailed() ? wc.status() == WcStatus.WR_FLUSH_ERR : mayFail(wc);
                check(isAllowed, wc, "for", request);
                broken = true;
                failed++;
                requests.fail();
            }
        }
    }

    /// Ends requests that succeeded without a completion. In ERR every unfinished request was flushed, with a
    /// completion that has been taken. The remaining requests have succeeded without a completion, and no later
    /// request reports them.
    void endSilently() {
        while (!closed && !requests.isEmpty()) {
            Request silent = requests.oldest();
            check(!silent.signaled && !requests.hasFailed(), "in ERR nothing tells of", silent);
            succeed(silent);
        }
    }

    private void succeed(Request request) {
        requests.succeed();
        results.free(request);
        completed++;
        answered += request.kind == Kind.BIND || request.kind == Kind.INVALIDATE ? 0 : 1;
        if (request.throughWindow) {
            rules.tally().count(Feature.WINDOWS);
        }
        switch (request.kind) {
            case SEND, SEND_IMMEDIATE, SEND_INVALIDATE, WRITE_IMMEDIATE ->
                check(peer.messagesSeen > request.message, "acknowledged, but not received:", request);
            case WRITE -> peer.memory.checkWritten(request);
            case READ ->
                checkResult(
                        request, tape.common(results.of(request), 0, request.place, request.length) == request.length);
            case FETCH_ADD, COMPARE_SWAP -> {
                checkResult(request, results.of(request).get(ValueLayout.JAVA_LONG, 0) == request.before);
                rules.tally().count(Feature.ATOMICS);
            }
            case ATOMIC_WRITE, FLUSH -> {} // the words are compared by the next atomic, and at the end
            case BIND -> memory.windowState = WindowState.BOUND;
            case INVALIDATE -> memory.windowState = WindowState.FREE;
        }
    }

    private void checkResult(Request request, boolean isRight) {
        check(isRight, "a wrong result of", request);
        check(Inbox.isUntouched(results.of(request), request.length), "more than was asked for:", request);
    }

    // ---- breaking and mending

    /// Returns whether this error may be the first.
    private boolean mayFail(WorkCompletion error) {
        return error.status() == WcStatus.WR_FLUSH_ERR
                ? broken || !allowed.isEmpty()
                : allowed.contains(error.status());
    }

    /// Handles the error of a queue pair that has nothing outstanding: its keep-alive may break it, or a message of
    /// the peer.
    void noticeError() {
        if (!broken && (qp.state() == QpState.ERR || receiver().state() == QpState.ERR)) {
            check(!allowed.isEmpty(), "has broken down");
            broken = true;
        }
    }

    // ---- draining, and changes of size

    /// Returns whether it may be asked to drain.
    boolean isSending() {
        return !broken && draining == Draining.NO;
    }

    /// Drains the send queue (SQD): started requests end, and no request starts.
    void drain() {
        device.note("drains queue pair 0x" + Integer.toHexString(qp.qpn()));
        drainsTraffic = !requests.isEmpty();
        draining = Draining.ASKED;
        qp.modify(new Transition.ToSqd(true));
    }

    /// Handles the end of a drain: every completion until now has been taken.
    void onDrained(QueuePair whose) {
        if (whose != qp || broken) {
            return;
        }
        check(draining == Draining.ASKED, "is drained, which it was not asked to be");
        draining = Draining.DONE;
        long rest = random.nextLong(REST_NANOS);
        resumeFrom = world.nowNanos() + rest;
        world.stepAfter(rest);
    }

    /// Resumes RTS, when it is time.
    ///
    /// @param readsMax READs and atomics that the peer serves at once
    void resume(int readsMax) {
        if (draining != Draining.DONE || broken || world.nowNanos() < resumeFrom) {
            return;
        }
        if (rules.have(Feature.RESIZE)) {
            int reads = 1 + random.nextInt(readsMax);
            device.note("has at most " + reads + " READs at once");
            qp.modify(new QpModification().withState(QpState.SQD).withMaxReadAtomic(reads));
        }
        draining = Draining.NO;
        qp.modify(new Transition.Resume());
        if (drainsTraffic) {
            rules.tally().count(Feature.SQD);
        }
    }

    /// Changes the capacities of its completion queues.
    void resize() {
        if (!requests.isEmpty()) {
            rules.tally().count(Feature.RESIZE);
        }
        sendCq.resize(Slots.COUNT + random.nextInt(3 * Slots.COUNT));
        inbox.resize();
    }

    /// Sets the time of silence after which the peer is asked whether it lives.
    void keepAlive(long nanos) {
        device.context().keepAlive(qp, Duration.ofNanos(nanos));
    }

    /// Allows this status as the first error from now on.
    void allow(WcStatus... statuses) {
        allowed.addAll(Set.of(statuses));
    }

    /// Ends the queue pair as a program does, by one of several calls.
    void kill() {
        if (target.isPresent() && random.nextBoolean()) {
            killTarget(target.get());
        } else if (random.nextBoolean()) {
            device.note("moves queue pair 0x" + Integer.toHexString(qp.qpn()) + " to ERR");
            qp.modify(new Transition.ToError());
        } else {
            device.note("closes queue pair 0x" + Integer.toHexString(qp.qpn()));
            qp.close();
            closed = true;
        }
        broken = true;
    }

    private void killTarget(QueuePair killed) {
        if (random.nextBoolean()) {
            device.note("moves target 0x" + Integer.toHexString(killed.qpn()) + " to ERR");
            killed.modify(new Transition.ToError());
        } else {
            device.note("closes target 0x" + Integer.toHexString(killed.qpn()));
            killed.close();
        }
    }

    /// Breaks this end, because the other end has broken.
    void breakDown() {
        broken = true;
        draining = Draining.NO;
        if (!closed && qp.state() != QpState.ERR) {
            qp.modify(new Transition.ToError());
        }
        target.filter(each -> !each.isClosed() && each.state() != QpState.ERR)
                .ifPresent(each -> each.modify(new Transition.ToError()));
    }

    /// Returns whether nothing is outstanding.
    boolean isIdle() {
        return closed || (requests.isEmpty() && inbox.isEmpty());
    }

    /// Returns whether no request is outstanding.
    boolean hasAnswers() {
        return requests.isEmpty();
    }

    /// Settles the model when nothing is outstanding: it learns how far the failed requests have come, and checks
    /// that they did nothing else.
    void settle() {
        boolean[] wordSettled = new boolean[RcMemory.WORDS];
        for (long i = requests.succeeded(); i < requests.posted(); i++) {
            Request request = requests.at(i);
            if (request.kind.isWrite()) {
                peer.memory.settleWrite(request);
            } else if (request.kind.isAtomic() && !wordSettled[request.word]) {
                wordSettled[request.word] = true;
                peer.memory.settleWord(request, requests, i);
            }
        }
    }

    /// Begins a new life in RESET, with the same queue pair or a new one.
    void renew() {
        if (!closed && random.nextBoolean()) {
            qp.modify(new Transition.ToReset());
        } else {
            qp.close();
            qp = makeQueuePair();
        }
        if (target.isPresent() && !target.get().isClosed() && random.nextBoolean()) {
            target.get().modify(new Transition.ToReset());
        } else {
            target.ifPresent(QueuePair::close);
            target = inbox.target();
        }
        inbox.know(this);
        closed = false;
        broken = false;
        receiveFailed = false;
        memory.renewWindow();
        requests.forgetAll();
        results.freeAll();
        messagesSeen = 0;
        inbox.renew();
    }

    /// Gives everything back; what it was made from refuses to end while anything is left.
    void close() {
        qp.close();
        target.ifPresent(QueuePair::close);
        sendCq.close();
        memory.close();
        results.close();
    }

    // ---- leaves

    /// Returns its state, for reports.
    @Override
    public String toString() {
        return device.name() + ", queue pair 0x" + Integer.toHexString(qp.qpn()) + " in "
                + (closed ? "no state, closed" : qp.state())
                + ": requests " + requests.posted() + " posted, " + requests.ended() + " ended, " + requests.succeeded()
                + " succeeded; "
                + (draining == Draining.NO ? "" : "drained: " + draining + "; ") + inbox
                + "; messages " + requests.messagesPosted() + " sent, "
                + messagesSeen + " received";
    }

    private void check(boolean holds, Object... what) {
        Broken.unless(holds, this, what);
    }
}
