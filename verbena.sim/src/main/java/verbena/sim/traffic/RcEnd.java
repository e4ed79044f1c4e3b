package verbena.sim.traffic;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import verbena.sim.SimDevice;
import verbena.sim.World;
import verbena.sim.traffic.Request.Kind;
import verbena.verbs.Access;
import verbena.verbs.Capability;
import verbena.verbs.CompletionQueue;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QpModification;
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.SendBatch;
import verbena.verbs.Transition;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;

/// One end of an [RcTraffic]: posts requests at random, polls, and compares with the model what comes.
///
/// The model: requests succeed in order, each once. A message that has succeeded was received, as sent, in order, each
/// once. The peer's board is what WRITEs that succeeded have made of it and nothing else; a WRITE that failed has
/// written a first part of its data, perhaps none. An atomic returns what the one before has left. Every byte that no
/// request names keeps its canary.
final class RcEnd {
    /// Requests, and receives, that can be outstanding. Each has a slot of its own in every memory.
    static final int SLOTS = 32;

    /// Of them, READs of more than a window's half, which have memory of their own.
    private static final int LONG_READS = 4;
    private static final int LONG_PACKETS = 100;
    private static final int WORDS = 4;
    private static final int INLINE_MAX = 64;
    private static final int CANARY_BYTES = 32;
    /// A drained send queue goes on within this time.
    private static final long REST_NANOS = 2_000_000;

    private final World world;
    private final SplittableRandom random;
    final SimDevice device;
    private final Tape tape;
    private final int mtu;
    private final int lengthMax;
    /// Bytes of a slot: the longest message, and canaries behind it.
    private final int slotBytes;

    private final Rules rules;
    private final Inbox inbox;
    private final ProtectionDomain domain;
    private final CompletionQueue sendCq;
    private final WorkCompletion wc = new WorkCompletion();
    /// Sends; and receives, unless there is a target.
    QueuePair qp;
    /// Of an extended connection: what receives.
    private Optional<QueuePair> target;
    /// The other end; until they have met, this one.
    private RcEnd peer = this;

    /// What we send from and the peer reads.
    private final MemoryRegion source;
    /// Where the peer writes to, and what has to be there.
    private final MemorySegment board;
    private final MemorySegment image;
    private final long boardAddress;
    private MemoryRegion boardRegion;
    /// Where results of READs and atomics go.
    private final MemoryRegion sink;
    /// And those of long READs; without them, nothing.
    private final Optional<MemoryRegion> longSink;
    private final int longMax;
    /// Long READs that are outstanding.
    private int longReads;
    private long longPosted;
    /// What the peer's atomics change, and the values that they have for the model after everything posted.
    private final MemoryRegion words;
    private final long[] values = new long[WORDS];

    private enum WindowState {
        FREE,
        BINDING,
        /// The peer may write through it.
        BOUND,
        /// The peer writes no more through it, and has asked or asks for its end.
        ENDING
    }

    private MemoryWindow window;
    private WindowState windowState = WindowState.FREE;

    // As a requester. Requests in this order: succeeded <= ended <= posted.
    private final Request[] requests = new Request[SLOTS];
    private long succeeded;
    private long ended;
    private long posted;
    /// Messages posted, by number in this ring.
    private final Request[] messages = new Request[SLOTS];
    private long messagesPosted;

    // As a receiver.
    private long messagesSeen;
    private boolean receiveFailed;

    private enum Draining {
        NO,
        /// What has been started is to end.
        ASKED,
        /// Nothing is to end before the send queue goes on.
        DONE
    }

    private Draining draining = Draining.NO;
    private boolean drainsTraffic;
    private long resumeFrom;

    /// Errors that may come first: what the network and we ourselves may do.
    private final Set<WcStatus> allowed = EnumSet.noneOf(WcStatus.class);
    /// Something has failed, and everything else will.
    boolean broken;
    /// Without an end that completions come from.
    private boolean closed;

    // Figures.
    long completed;
    /// Of these, those that the peer has answered.
    long answered;
    long failed;

    RcEnd(World world, Inbox inbox, Tape tape, int mtu, Rules rules) {
        this.world = world;
        this.random = world.random();
        this.inbox = inbox;
        this.device = inbox.device;
        this.tape = tape;
        this.mtu = mtu;
        this.rules = rules;
        lengthMax = lengthMax(mtu);
        slotBytes = slotBytes(mtu);
        var context = device.context();
        domain = inbox.domain;
        sendCq = context.createCompletionQueue(SLOTS);
        source = domain.register(tape.bytes, device.nextAddress(), EnumSet.of(Access.REMOTE_READ));
        sink = device.register(domain, (long) SLOTS * slotBytes, Access.local());
        longMax = Math.min(LONG_PACKETS * mtu, Tape.BYTES / 2);
        longSink = rules.have(Feature.READ_PIECES)
                ? Optional.of(device.register(domain, (long) LONG_READS * longSlotBytes(), Access.local()))
                : Optional.empty();
        words = device.register(
                domain, WORDS * Long.BYTES, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_ATOMIC, Access.REMOTE_WRITE));
        board = Arena.ofAuto().allocate((long) SLOTS * slotBytes, 64).fill(Tape.CANARY);
        image = Arena.ofAuto().allocate((long) SLOTS * slotBytes, 64).fill(Tape.CANARY);
        boardAddress = device.nextAddress();
        boardRegion = registerBoard();
        window = domain.allocateWindow(2);
        qp = makeQueuePair();
        target = inbox.target();
        inbox.join(this);
        for (int i = 0; i < SLOTS; i++) {
            requests[i] = new Request();
            messages[i] = requests[i];
        }
    }

    static int lengthMax(int mtu) {
        return 3 * mtu + 16;
    }

    static int slotBytes(int mtu) {
        return (lengthMax(mtu) + CANARY_BYTES + 7) & ~7;
    }

    private int longSlotBytes() {
        return longMax + CANARY_BYTES;
    }

    void meet(RcEnd other) {
        peer = other;
    }

    private QueuePair makeQueuePair() {
        var options = inbox.options(sendCq).withInline(INLINE_MAX);
        return domain.createQueuePair(
                inbox.isExtended()
                        ? options
                        : options.withExtensions(EnumSet.of(Capability.ATOMIC_WRITE, Capability.FLUSH)));
    }

    /// What the peer's requests go to.
    QueuePair receiver() {
        return target.orElse(qp);
    }

    private MemoryRegion registerBoard() {
        return domain.register(
                board,
                boardAddress,
                EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.MW_BIND, Access.FLUSH_GLOBAL));
    }

    // ---- receiving

    /// Posts receives, if it is time.
    void postReceives(long slowNanos) {
        inbox.post(this, slowNanos);
    }

    void pollReceives() {
        inbox.poll();
    }

    /// A receive has ended.
    ///
    /// @param memory what was posted
    /// @param queue to which of the shared queues
    void onReceive(WorkCompletion received, MemorySegment memory, int queue) {
        if (received.ok()) {
            check(!receiveFailed, "receives after an error:", received);
            onMessage(received, memory, queue);
            return;
        }
        check(mayFail(received), "a receive fails:", received);
        broken = true;
        receiveFailed = true;
        int common = messagesSeen < peer.messagesPosted && received.status() != WcStatus.LOC_ACCESS_ERR
                ? commonWith(peer.messages[(int) (messagesSeen % SLOTS)], memory)
                : 0;
        check(Inbox.isUntouched(memory, common), "a failed receive holds what nobody sent:", received);
    }

    private int commonWith(Request message, MemorySegment memory) {
        return message.kind.isWrite() ? 0 : tape.common(memory, 0, message.place, message.length);
    }

    private void onMessage(WorkCompletion received, MemorySegment memory, int queue) {
        check(messagesSeen < peer.messagesPosted, "receives what nobody sent:", received);
        Request message = peer.messages[(int) (messagesSeen % SLOTS)];
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
                    received.invalidatedRkey() == message.key && windowState == WindowState.ENDING,
                    received,
                    "for",
                    message);
            windowState = WindowState.FREE;
        }
        int length = isWrite ? 0 : message.length;
        check(tape.common(memory, 0, message.place, length) == length, "received damaged:", message);
        check(Inbox.isUntouched(memory, length), "received too much:", message);
        if (inbox.isShared() && inbox.hasSeveral()) {
            rules.tally().count(inbox.isExtended() ? Feature.XRC : Feature.SRQ);
        }
        if (isWrite) {
            checkWritten(message);
        }
    }

    /// The peer's WRITE is done.
    private void checkWritten(Request write) {
        long at = slot(write.number);
        MemorySegment.copy(tape.bytes, write.place, image, at, write.length);
        check(
                MemorySegment.mismatch(board, at, at + slotBytes, image, at, at + slotBytes) < 0,
                "the board is not as written by",
                write);
    }

    // ---- sending

    boolean hasRoom() {
        return posted - ended < SLOTS && !broken;
    }

    /// Posts one request, drawn at random.
    ///
    /// @param signaled whether it has to be: the last one of all is, because no later one can tell of it
    void post(RcEnd peer, boolean signaled) {
        Request request = requests[(int) (posted % SLOTS)];
        request.number = posted;
        request.kind = draw(peer);
        request.signaled = signaled || posted - succeeded >= SLOTS / 2 || random.nextInt(4) != 0;
        request.longSlot = -1;
        request.throughWindow = false;
        request.length = request.kind.isAtomic() ? Long.BYTES : length();
        if (request.kind == Kind.READ && longSink.isPresent() && longReads < LONG_READS && random.nextBoolean()) {
            longReads++;
            request.longSlot = (int) (longPosted++ % LONG_READS);
            request.length = longMax - random.nextInt(longMax / 4);
        }
        request.place = random.nextInt(Tape.BYTES - request.length);
        request.immediate = random.nextInt();
        request.queue = inbox.isExtended() ? random.nextInt(inbox.kind.queues) : 0;
        request.key = 0;
        if (request.kind.isMessage) {
            request.message = messagesPosted;
            messages[(int) (messagesPosted++ % SLOTS)] = request;
        }
        try (SendBatch batch = qp.send()) {
            begin(batch, request, peer);
            if (inbox.isExtended()) {
                batch.to(peer.inbox.number(request.queue));
            }
            if (request.signaled) {
                batch.signaled();
            }
            if (random.nextInt(16) == 0) {
                batch.fenced();
            }
            batch.submit();
        }
        posted++;
    }

    private Kind draw(RcEnd peer) {
        if (inbox.isExtended()) { // no window gives access through a target, and it has no extensions
            return switch (random.nextInt(12)) {
                case 0, 1, 2 -> Kind.SEND;
                case 3, 4 -> Kind.SEND_IMMEDIATE;
                case 5, 6 -> Kind.WRITE;
                case 7, 8 -> Kind.WRITE_IMMEDIATE;
                case 9 -> Kind.READ;
                case 10 -> Kind.FETCH_ADD;
                default -> Kind.COMPARE_SWAP;
            };
        }
        if (windowState == WindowState.FREE && random.nextInt(8) == 0) {
            return Kind.BIND;
        }
        if (windowState == WindowState.BOUND && random.nextInt(32) == 0 && !peer.names(window.rkey())) {
            return Kind.INVALIDATE;
        }
        if (peer.windowState == WindowState.BOUND && random.nextInt(16) == 0) {
            return Kind.SEND_INVALIDATE;
        }
        return switch (random.nextInt(16)) {
            case 0, 1, 2 -> Kind.SEND;
            case 3, 4 -> Kind.SEND_IMMEDIATE;
            case 5, 6 -> Kind.WRITE;
            case 7, 8 -> Kind.WRITE_IMMEDIATE;
            case 9, 10 -> Kind.READ;
            case 11, 12 -> Kind.FETCH_ADD;
            case 13 -> Kind.COMPARE_SWAP;
            case 14 -> Kind.ATOMIC_WRITE;
            default -> Kind.FLUSH;
        };
    }

    /// Whether a request that is outstanding carries this key of a window.
    private boolean names(int key) {
        for (long i = ended; i < posted; i++) {
            if (requests[(int) (i % SLOTS)].key == key) {
                return true;
            }
        }
        return false;
    }

    private int length() {
        return switch (random.nextInt(8)) {
            case 0 -> 0;
            case 1, 2, 3 -> 1 + random.nextInt(INLINE_MAX);
            case 4, 5, 6 -> (1 + random.nextInt(3)) * mtu - 4 + random.nextInt(8);
            default -> random.nextInt(lengthMax + 1);
        };
    }

    private void begin(SendBatch batch, Request request, RcEnd peer) {
        long number = request.number;
        switch (request.kind) {
            case SEND -> data(batch.send(number), request);
            case SEND_IMMEDIATE -> data(batch.sendWithImmediate(number, request.immediate), request);
            case SEND_INVALIDATE -> {
                request.key = peer.window.rkey();
                peer.windowState = WindowState.ENDING;
                data(batch.sendWithInvalidate(number, request.key), request);
            }
            case WRITE -> {
                request.key = boardKey(request, peer);
                data(batch.write(number, peer.boardAddress + slot(number), request.key), request);
            }
            case WRITE_IMMEDIATE -> {
                request.key = boardKey(request, peer);
                long at = peer.boardAddress + slot(number);
                data(batch.writeWithImmediate(number, at, request.key, request.immediate), request);
            }
            case READ -> {
                result(request).fill(Tape.CANARY);
                batch.read(number, peer.source.address() + request.place, peer.source.rkey());
                entries(batch, resultRegion(request), resultAt(request), request.length);
            }
            case FETCH_ADD, COMPARE_SWAP, ATOMIC_WRITE -> atomic(batch, request, peer);
            case FLUSH ->
                batch.flush(number, peer.boardAddress, peer.boardRegion.rkey(), slotBytes, false, true, false);
            case BIND -> {
                windowState = WindowState.BINDING;
                request.signaled = true;
                batch.bindWindow(
                        number,
                        window,
                        window.nextRkey(),
                        boardRegion,
                        boardAddress,
                        boardRegion.length(),
                        EnumSet.of(Access.REMOTE_WRITE));
            }
            case INVALIDATE -> {
                windowState = WindowState.ENDING;
                request.signaled = true;
                batch.localInvalidate(number, window.rkey());
            }
        }
    }

    /// The board's own key, or that of the window when there is one.
    private int boardKey(Request request, RcEnd peer) {
        request.throughWindow = peer.windowState == WindowState.BOUND && random.nextBoolean();
        return request.throughWindow ? peer.window.rkey() : peer.boardRegion.rkey();
    }

    /// Where the result of a READ or atomic goes.
    private MemoryRegion resultRegion(Request request) {
        return request.longSlot < 0 ? sink : longSink.orElseThrow();
    }

    private long resultAt(Request request) {
        return request.longSlot < 0 ? slot(request.number) : (long) request.longSlot * longSlotBytes();
    }

    private MemorySegment result(Request request) {
        return resultRegion(request)
                .segment()
                .asSlice(resultAt(request), request.longSlot < 0 ? slotBytes : longSlotBytes());
    }

    private void data(SendBatch batch, Request request) {
        if (request.length <= INLINE_MAX && random.nextInt(4) == 0) {
            batch.inline(tape.bytes.asSlice(request.place, request.length));
        } else {
            entries(batch, source, request.place, request.length);
        }
    }

    /// One to three entries, some perhaps empty.
    private void entries(SendBatch batch, MemoryRegion region, long at, int length) {
        int first = random.nextInt(length + 1);
        int second = random.nextBoolean() ? 0 : random.nextInt(length - first + 1);
        batch.sge(region, at, first);
        if (second > 0) {
            batch.sge(region, at + first, second);
        }
        if (length > first + second) {
            batch.sge(region, at + first + second, length - first - second);
        }
    }

    private void atomic(SendBatch batch, Request request, RcEnd peer) {
        int word = random.nextInt(WORDS);
        long address = peer.words.address() + (long) word * Long.BYTES;
        long before = peer.values[word];
        long operand = random.nextLong();
        request.word = word;
        request.before = before;
        sink.segment().asSlice(slot(request.number), slotBytes).fill(Tape.CANARY);
        int rkey = peer.words.rkey();
        switch (request.kind) {
            case FETCH_ADD -> {
                request.after = before + operand;
                batch.fetchAdd(request.number, address, rkey, operand);
            }
            case COMPARE_SWAP -> {
                boolean fits = random.nextBoolean();
                request.after = fits ? operand : before;
                batch.compareSwap(request.number, address, rkey, fits ? before : ~before, operand);
            }
            default -> {
                request.after = operand;
                batch.atomicWrite(request.number, address, rkey, operand);
            }
        }
        peer.values[word] = request.after;
        if (request.kind != Kind.ATOMIC_WRITE) {
            batch.sge(sink, slot(request.number), Long.BYTES);
        }
    }

    // ---- completing

    void pollSends(RcEnd peer) {
        while (device.poll(sendCq, wc)) {
            check(ended < posted, "completes what was not posted:", wc);
            if (succeeded == ended) {
                // Unsignalled requests before it have succeeded with it.
                while (requests[(int) (ended % SLOTS)].number != wc.wrId()) {
                    Request silent = requests[(int) (ended % SLOTS)];
                    check(!silent.signaled && ended + 1 < posted, wc, "comes instead of", silent);
                    succeed(silent, peer);
                }
            }
            Request request = requests[(int) (ended % SLOTS)];
            check(request.number == wc.wrId(), wc, "comes instead of", request);
            if (wc.ok()) {
                check(succeeded == ended, wc, "succeeds after an error");
                check(draining != Draining.DONE, wc, "in a send queue that is drained");
                check(request.signaled, wc, "of an unsignalled request");
                check(wc.opcode() == request.kind.opcode, wc, "for", request);
                succeed(request, peer);
            } else {
                check(succeeded != ended ? wc.status() == WcStatus.WR_FLUSH_ERR : mayFail(wc), wc, "for", request);
                broken = true;
                failed++;
                ended++;
            }
        }
    }

    /// In ERR everything that was not done is flushed, with a completion, and that has been taken. What is left has
    /// succeeded without one, and no later request tells of it.
    void endSilently(RcEnd peer) {
        while (!closed && ended < posted) {
            Request silent = requests[(int) (ended % SLOTS)];
            check(!silent.signaled && succeeded == ended, "in ERR nothing tells of", silent);
            succeed(silent, peer);
        }
    }

    private void succeed(Request request, RcEnd peer) {
        succeeded++;
        ended++;
        completed++;
        answered += request.kind == Kind.BIND || request.kind == Kind.INVALIDATE ? 0 : 1;
        if (request.longSlot >= 0) {
            longReads--;
        }
        if (request.throughWindow) {
            rules.tally().count(Feature.WINDOWS);
        }
        switch (request.kind) {
            case SEND, SEND_IMMEDIATE, SEND_INVALIDATE, WRITE_IMMEDIATE ->
                check(peer.messagesSeen > request.message, "acknowledged, but not received:", request);
            case WRITE -> peer.checkWritten(request);
            case READ ->
                checkResult(request, tape.common(result(request), 0, request.place, request.length) == request.length);
            case FETCH_ADD, COMPARE_SWAP -> {
                checkResult(request, result(request).get(ValueLayout.JAVA_LONG, 0) == request.before);
                rules.tally().count(Feature.ATOMICS);
            }
            case ATOMIC_WRITE, FLUSH -> {} // the words are compared by the next atomic, and at the end
            case BIND -> windowState = WindowState.BOUND;
            case INVALIDATE -> windowState = WindowState.FREE;
        }
    }

    private void checkResult(Request request, boolean isRight) {
        check(isRight, "a wrong result of", request);
        check(Inbox.isUntouched(result(request), request.length), "more than was asked for:", request);
    }

    // ---- breaking and mending

    /// Whether the error at hand may be the first.
    private boolean mayFail(WorkCompletion error) {
        return error.status() == WcStatus.WR_FLUSH_ERR
                ? broken || !allowed.isEmpty()
                : allowed.contains(error.status());
    }

    /// A queue pair that has nothing outstanding may break down too: by its keep-alive, or by what the peer sends.
    void noticeError() {
        if (!broken && (qp.state() == QpState.ERR || receiver().state() == QpState.ERR)) {
            check(!allowed.isEmpty(), "has broken down");
            broken = true;
        }
    }

    // ---- draining, and changes of size

    /// Whether it may be asked to drain.
    boolean isSending() {
        return !broken && draining == Draining.NO;
    }

    /// To SQD: what has been started ends, and nothing is started.
    void drain() {
        device.note("drains queue pair 0x" + Integer.toHexString(qp.qpn()));
        drainsTraffic = ended < posted;
        draining = Draining.ASKED;
        qp.modify(new Transition.ToSqd(true));
    }

    /// Everything that has completed until now has been taken.
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

    /// Back to RTS, when it is time.
    ///
    /// @param readsMax READs and atomics that the peer serves at once
    void resume(int readsMax) {
        if (draining != Draining.DONE || broken || world.nowNanos() < resumeFrom) {
            return;
        }
        if (rules.have(Feature.RESIZE)) {
            int reads = 1 + random.nextInt(readsMax);
            device.note("has at most " + reads + " READs at once");
            qp.modify(new QpModification().state(QpState.SQD).maxReadAtomic(reads));
        }
        draining = Draining.NO;
        qp.modify(new Transition.Resume());
        if (drainsTraffic) {
            rules.tally().count(Feature.SQD);
        }
    }

    /// Other capacities of its completion queues.
    void resize() {
        if (ended < posted) {
            rules.tally().count(Feature.RESIZE);
        }
        sendCq.resize(SLOTS + random.nextInt(3 * SLOTS));
        inbox.resize();
    }

    /// From now on the peer is asked whether it lives when it has said nothing for so long.
    void keepAlive(long nanos) {
        device.context().keepAlive(qp, Duration.ofNanos(nanos));
    }

    /// From now on this may be the first error.
    void allow(WcStatus... statuses) {
        allowed.addAll(Set.of(statuses));
    }

    /// The program ends the queue pair, in one way or another.
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

    /// The program takes the board's memory from its peer, and gives it back under another key.
    void withdraw() {
        device.note("withdraws the board's key 0x" + Integer.toHexString(boardRegion.rkey()));
        renewWindow();
        boardRegion.close();
        boardRegion = registerBoard();
    }

    private void renewWindow() {
        window.close();
        window = domain.allocateWindow(2);
        windowState = WindowState.FREE;
    }

    /// The other end has broken: this one is to.
    void breakDown() {
        broken = true;
        draining = Draining.NO;
        if (!closed && qp.state() != QpState.ERR) {
            qp.modify(new Transition.ToError());
        }
        target.filter(each -> !each.isClosed() && each.state() != QpState.ERR)
                .ifPresent(each -> each.modify(new Transition.ToError()));
    }

    /// Whether nothing is outstanding.
    boolean isIdle() {
        return closed || (ended == posted && inbox.isEmpty());
    }

    /// Whether no request is outstanding.
    boolean hasAnswers() {
        return ended == posted;
    }

    /// Nothing is outstanding: the model learns how far the failed requests have come, and checks that they did
    /// nothing else.
    void settle(RcEnd peer) {
        boolean[] wordSettled = new boolean[WORDS];
        for (long i = succeeded; i < posted; i++) {
            Request request = requests[(int) (i % SLOTS)];
            if (request.kind.isWrite()) {
                peer.settleWrite(request);
            } else if (request.kind.isAtomic() && !wordSettled[request.word]) {
                wordSettled[request.word] = true;
                peer.settleWord(request, this, i);
            }
        }
    }

    private void settleWrite(Request write) {
        long at = slot(write.number);
        int written = tape.common(board, at, write.place, write.length);
        MemorySegment.copy(tape.bytes, write.place, image, at, written);
        check(
                MemorySegment.mismatch(board, at, at + slotBytes, image, at, at + slotBytes) < 0,
                "the board holds neither what was there nor a beginning of",
                write);
    }

    /// The word has the value before the first failed atomic on it, or after one of them.
    private void settleWord(Request first, RcEnd requester, long index) {
        long actual = words.segment().get(ValueLayout.JAVA_LONG, (long) first.word * Long.BYTES);
        boolean found = actual == first.before;
        for (long i = index; i < requester.posted; i++) {
            Request request = requester.requests[(int) (i % SLOTS)];
            found |= request.kind.isAtomic() && request.word == first.word && actual == request.after;
        }
        check(found, "word", first.word, "has a value that no failed atomic gave it:", actual);
        values[first.word] = actual;
    }

    /// Everything that the model knows about memory holds now; nothing is under way.
    void checkMemory() {
        long mismatch = board.mismatch(image);
        check(mismatch < 0, "the board differs at", mismatch);
        for (int i = 0; i < WORDS; i++) {
            long actual = words.segment().get(ValueLayout.JAVA_LONG, (long) i * Long.BYTES);
            check(actual == values[i], "word", i, "is", actual, "and not", values[i]);
        }
    }

    /// A new life, in RESET: of the same queue pair, or of a new one.
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
        renewWindow();
        succeeded = ended = posted = 0;
        messagesPosted = messagesSeen = 0;
        longReads = 0;
        inbox.renew();
    }

    /// Gives everything back; what it was made from refuses to end while anything is left.
    void close() {
        qp.close();
        target.ifPresent(QueuePair::close);
        sendCq.close();
        window.close();
        boardRegion.close();
        source.close();
        sink.close();
        longSink.ifPresent(MemoryRegion::close);
        words.close();
    }

    // ---- leaves

    private long slot(long number) {
        return number % SLOTS * slotBytes;
    }

    /// Where it stands, for reports.
    @Override
    public String toString() {
        return device.name() + ", queue pair 0x" + Integer.toHexString(qp.qpn()) + " in "
                + (closed ? "its grave" : qp.state())
                + ": requests " + posted + " posted, " + ended + " ended, " + succeeded + " succeeded; "
                + (draining == Draining.NO ? "" : "drained: " + draining + "; ") + inbox
                + "; messages " + messagesPosted + " sent, "
                + messagesSeen + " received";
    }

    private void check(boolean holds, Object... what) {
        Broken.unless(holds, this, what);
    }
}
