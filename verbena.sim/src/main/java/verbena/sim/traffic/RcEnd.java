package verbena.sim.traffic;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
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
import verbena.verbs.QpState;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.ReceiveBatch;
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

    private static final int WORDS = 4;
    private static final int INLINE_MAX = 64;
    private static final int CANARY_BYTES = 32;

    private final World world;
    private final SplittableRandom random;
    final SimDevice device;
    private final Tape tape;
    private final int mtu;
    private final int lengthMax;
    /// Bytes of a slot: the longest message, and canaries behind it.
    private final int slotBytes;

    private final ProtectionDomain domain;
    private final CompletionQueue sendCq;
    private final CompletionQueue receiveCq;
    private final WorkCompletion wc = new WorkCompletion();
    QueuePair qp;

    /// What we send from and the peer reads.
    private final MemoryRegion source;
    /// Where messages are received.
    private final MemoryRegion inbox;
    /// Where the peer writes to, and what has to be there.
    private final MemorySegment board;
    private final MemorySegment image;
    private final long boardAddress;
    private MemoryRegion boardRegion;
    /// Where results of READs and atomics go.
    private final MemoryRegion sink;
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
    private long receivesPosted;
    private long receivesEnded;
    private long messagesSeen;
    private long receivesFrom;
    private boolean receiveFailed;

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

    RcEnd(World world, SimDevice device, Tape tape, int mtu) {
        this.world = world;
        this.random = world.random();
        this.device = device;
        this.tape = tape;
        this.mtu = mtu;
        lengthMax = 3 * mtu + 16;
        slotBytes = (lengthMax + CANARY_BYTES + 7) & ~7;
        var context = device.context();
        domain = context.allocateProtectionDomain();
        sendCq = context.createCompletionQueue(SLOTS);
        receiveCq = context.createCompletionQueue(SLOTS);
        source = domain.register(tape.bytes, device.nextAddress(), EnumSet.of(Access.REMOTE_READ));
        inbox = device.register(domain, (long) SLOTS * slotBytes, Access.local());
        sink = device.register(domain, (long) SLOTS * slotBytes, Access.local());
        words = device.register(
                domain, WORDS * Long.BYTES, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_ATOMIC, Access.REMOTE_WRITE));
        board = Arena.ofAuto().allocate((long) SLOTS * slotBytes, 64).fill(Tape.CANARY);
        image = Arena.ofAuto().allocate((long) SLOTS * slotBytes, 64).fill(Tape.CANARY);
        boardAddress = device.nextAddress();
        boardRegion = registerBoard();
        window = domain.allocateWindow(2);
        qp = makeQueuePair();
        for (int i = 0; i < SLOTS; i++) {
            requests[i] = new Request();
            messages[i] = requests[i];
        }
    }

    private QueuePair makeQueuePair() {
        return domain.createQueuePair(QueuePairOptions.rc(sendCq)
                .withReceiveCq(receiveCq)
                .withDepth(SLOTS, SLOTS)
                .withSge(3, 3)
                .withInline(INLINE_MAX)
                .withExtensions(EnumSet.of(Capability.ATOMIC_WRITE, Capability.FLUSH)));
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
        if (world.nowNanos() < receivesFrom || receivesPosted - receivesEnded == SLOTS) {
            return;
        }
        int n = (int) (SLOTS - (receivesPosted - receivesEnded));
        if (slowNanos > 0) {
            n = 1 + random.nextInt(n);
            long late = random.nextLong(slowNanos);
            receivesFrom = world.nowNanos() + late;
            world.stepAfter(late);
        }
        try (ReceiveBatch batch = qp.receive()) {
            for (int i = 0; i < n; i++) {
                long at = slot(receivesPosted);
                inbox.segment().asSlice(at, slotBytes).fill(Tape.CANARY);
                batch.receive(receivesPosted++);
                int first = random.nextInt(lengthMax);
                batch.sge(inbox, at, first).sge(inbox, at + first, lengthMax - first);
            }
            batch.submit();
        }
    }

    void pollReceives(RcEnd peer) {
        while (device.poll(receiveCq, wc)) {
            long number = receivesEnded++;
            check(wc.wrId() == number, "completes receive", wc.wrId(), "and not", number);
            if (wc.ok()) {
                check(!receiveFailed, "receives after an error:", wc);
                onMessage(peer, number);
            } else {
                check(mayFail(), "a receive fails:", wc);
                broken = true;
                receiveFailed = true;
                long at = slot(number);
                int common = messagesSeen < peer.messagesPosted && wc.status() != WcStatus.LOC_ACCESS_ERR
                        ? commonWith(peer.messages[(int) (messagesSeen % SLOTS)], at)
                        : 0;
                check(
                        Tape.isCanary(inbox.segment(), at + common, slotBytes - common),
                        "the failed receive",
                        number,
                        "holds what nobody sent");
            }
        }
    }

    private int commonWith(Request message, long at) {
        return message.kind.isWrite() ? 0 : tape.common(inbox.segment(), at, message.place, message.length);
    }

    private void onMessage(RcEnd peer, long number) {
        check(messagesSeen < peer.messagesPosted, "receives what nobody sent:", wc);
        Request message = peer.messages[(int) (messagesSeen % SLOTS)];
        check(message.message == messagesSeen, "the model is confused about", message);
        messagesSeen++;
        boolean isWrite = message.kind == Kind.WRITE_IMMEDIATE;
        check(wc.opcode() == (isWrite ? WcOpcode.RECV_RDMA_WITH_IMM : WcOpcode.RECV), wc, "for", message);
        check(wc.byteLength() == message.length, wc, "for", message);
        check(wc.hasImmediate() == message.kind.hasImmediate(), wc, "for", message);
        check(!wc.hasImmediate() || wc.immediate() == message.immediate, wc, "for", message);
        check(wc.hasInvalidate() == (message.kind == Kind.SEND_INVALIDATE), wc, "for", message);
        if (wc.hasInvalidate()) {
            check(wc.invalidatedRkey() == message.key && windowState == WindowState.ENDING, wc, "for", message);
            windowState = WindowState.FREE;
        }
        long at = slot(number);
        int length = isWrite ? 0 : message.length;
        check(tape.common(inbox.segment(), at, message.place, length) == length, "received damaged:", message);
        check(Tape.isCanary(inbox.segment(), at + length, slotBytes - length), "received too much:", message);
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
        request.length = request.kind.isAtomic() ? Long.BYTES : length();
        request.place = random.nextInt(Tape.BYTES - request.length);
        request.immediate = random.nextInt();
        request.key = 0;
        if (request.kind.isMessage) {
            request.message = messagesPosted;
            messages[(int) (messagesPosted++ % SLOTS)] = request;
        }
        try (SendBatch batch = qp.send()) {
            begin(batch, request, peer);
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
                request.key = boardKey(peer);
                data(batch.write(number, peer.boardAddress + slot(number), request.key), request);
            }
            case WRITE_IMMEDIATE -> {
                request.key = boardKey(peer);
                long at = peer.boardAddress + slot(number);
                data(batch.writeWithImmediate(number, at, request.key, request.immediate), request);
            }
            case READ -> {
                sink.segment().asSlice(slot(number), slotBytes).fill(Tape.CANARY);
                batch.read(number, peer.source.address() + request.place, peer.source.rkey());
                entries(batch, sink, slot(number), request.length);
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
    private int boardKey(RcEnd peer) {
        return peer.windowState == WindowState.BOUND && random.nextBoolean()
                ? peer.window.rkey()
                : peer.boardRegion.rkey();
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
                check(request.signaled, wc, "of an unsignalled request");
                check(wc.opcode() == request.kind.opcode, wc, "for", request);
                succeed(request, peer);
            } else {
                check(succeeded != ended ? wc.status() == WcStatus.WR_FLUSH_ERR : mayFail(), wc, "for", request);
                broken = true;
                failed++;
                ended++;
            }
        }
    }

    private void succeed(Request request, RcEnd peer) {
        succeeded++;
        ended++;
        completed++;
        answered += request.kind == Kind.BIND || request.kind == Kind.INVALIDATE ? 0 : 1;
        switch (request.kind) {
            case SEND, SEND_IMMEDIATE, SEND_INVALIDATE, WRITE_IMMEDIATE ->
                check(peer.messagesSeen > request.message, "acknowledged, but not received:", request);
            case WRITE -> peer.checkWritten(request);
            case READ ->
                checkResult(
                        request,
                        tape.common(sink.segment(), slot(request.number), request.place, request.length)
                                == request.length);
            case FETCH_ADD, COMPARE_SWAP ->
                checkResult(request, sink.segment().get(ValueLayout.JAVA_LONG, slot(request.number)) == request.before);
            case ATOMIC_WRITE, FLUSH -> {} // the words are compared by the next atomic, and at the end
            case BIND -> windowState = WindowState.BOUND;
            case INVALIDATE -> windowState = WindowState.FREE;
        }
    }

    private void checkResult(Request request, boolean isRight) {
        long at = slot(request.number);
        check(isRight, "a wrong result of", request);
        check(
                Tape.isCanary(sink.segment(), at + request.length, slotBytes - request.length),
                "more than was asked for:",
                request);
    }

    // ---- breaking and mending

    /// Whether the error at hand may be the first.
    private boolean mayFail() {
        return wc.status() == WcStatus.WR_FLUSH_ERR ? broken || !allowed.isEmpty() : allowed.contains(wc.status());
    }

    /// From now on this may be the first error.
    void allow(WcStatus... statuses) {
        allowed.addAll(Set.of(statuses));
    }

    /// The program ends the queue pair, in one way or another.
    void kill() {
        if (random.nextBoolean()) {
            device.note("moves queue pair 0x" + Integer.toHexString(qp.qpn()) + " to ERR");
            qp.modify(new Transition.ToError());
        } else {
            device.note("closes queue pair 0x" + Integer.toHexString(qp.qpn()));
            qp.close();
            closed = true;
        }
        broken = true;
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
        if (!closed && qp.state() != QpState.ERR) {
            qp.modify(new Transition.ToError());
        }
    }

    /// Whether nothing is outstanding.
    boolean isIdle() {
        return closed || (ended == posted && receivesEnded == receivesPosted);
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
        closed = false;
        broken = false;
        receiveFailed = false;
        renewWindow();
        succeeded = ended = posted = 0;
        messagesPosted = messagesSeen = 0;
        receivesPosted = receivesEnded = 0;
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
                + ": requests " + posted + " posted, " + ended + " ended, " + succeeded + " succeeded; receives "
                + receivesPosted + " posted, " + receivesEnded + " ended; messages " + messagesPosted + " sent, "
                + messagesSeen + " received";
    }

    private void check(boolean holds, Object... what) {
        Broken.unless(holds, this, what);
    }
}
