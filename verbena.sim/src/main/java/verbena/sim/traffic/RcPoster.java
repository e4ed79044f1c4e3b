package verbena.sim.traffic;

import java.util.EnumSet;
import java.util.Set;
import java.util.SplittableRandom;
import verbena.sim.traffic.RcMemory.WindowState;
import verbena.sim.traffic.Request.Kind;
import verbena.verbs.Access;
import verbena.verbs.FlushTarget;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QueuePair;
import verbena.verbs.SendBatch;

/// A poster of requests drawn at random for one end, on the memory that its peer offers.
final class RcPoster {
    /// The end that the requests go to.
    interface Peer {
        RcMemory memory();

        Inbox inbox();

        RequestRing requests();
    }

    static final int INLINE_MAX = 64;

    private final SplittableRandom random;
    private final Inbox inbox;
    private final Tape tape;
    private final int mtu;
    private final int lengthMax;
    private final RcMemory own;
    private final RcResults results;
    private final RequestRing requests;

    RcPoster(
            SplittableRandom random,
            Inbox inbox,
            Tape tape,
            int mtu,
            RcMemory own,
            RcResults results,
            RequestRing requests) {
        this.random = random;
        this.inbox = inbox;
        this.tape = tape;
        this.mtu = mtu;
        this.lengthMax = Slots.lengthMax(mtu);
        this.own = own;
        this.results = results;
        this.requests = requests;
    }

    /// Posts one request, drawn at random.
    ///
    /// @param signaled whether it has to be: the last one of all is, because no later one can tell of it
    void post(QueuePair qp, Peer peer, boolean signaled) {
        Request request = requests.next();
        request.kind = draw(peer);
        request.signaled =
                signaled || requests.posted() - requests.succeeded() >= Slots.COUNT / 2 || random.nextInt(4) != 0;
        request.longSlot = -1;
        request.throughWindow = false;
        request.length = request.kind.isAtomic() ? Long.BYTES : length();
        if (request.kind == Kind.READ && results.hasLongSlot() && random.nextBoolean()) {
            request.longSlot = results.takeLongSlot();
            request.length = results.longMax - random.nextInt(results.longMax / 4);
        }
        request.place = random.nextInt(Tape.BYTES - request.length);
        request.immediate = random.nextInt();
        request.queue = inbox.isExtended() ? random.nextInt(inbox.kind.queues) : 0;
        request.key = 0;
        if (request.kind.completesAtPeer) {
            requests.nameMessage(request);
        }
        try (SendBatch batch = qp.sendBatch()) {
            begin(batch, request, peer.memory());
            if (inbox.isExtended()) {
                batch.to(peer.inbox().number(request.queue));
            }
            if (request.signaled) {
                batch.signaled();
            }
            if (random.nextInt(16) == 0) {
                batch.fenced();
            }
            batch.submit();
        }
        requests.post();
    }

    private Kind draw(Peer peer) {
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
        if (own.windowState == WindowState.FREE && random.nextInt(8) == 0) {
            return Kind.BIND;
        }
        if (own.windowState == WindowState.BOUND
                && random.nextInt(32) == 0
                && !peer.requests().names(own.window().rkey())) {
            return Kind.INVALIDATE;
        }
        if (peer.memory().windowState == WindowState.BOUND && random.nextInt(16) == 0) {
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

    private int length() {
        return switch (random.nextInt(8)) {
            case 0 -> 0;
            case 1, 2, 3 -> 1 + random.nextInt(INLINE_MAX);
            case 4, 5, 6 -> (1 + random.nextInt(3)) * mtu - 4 + random.nextInt(8);
            default -> random.nextInt(lengthMax + 1);
        };
    }

    private void begin(SendBatch batch, Request request, RcMemory peer) {
        long number = request.number;
        switch (request.kind) {
            case SEND -> data(batch.send(number), request);
            case SEND_IMMEDIATE -> data(batch.sendWithImmediate(number, request.immediate), request);
            case SEND_INVALIDATE -> {
                request.key = peer.window().rkey();
                peer.windowState = WindowState.ENDING;
                data(batch.sendWithInvalidate(number, request.key), request);
            }
            case WRITE -> {
                request.key = boardKey(request, peer);
                data(batch.write(number, peer.boardAddress + peer.slot(number), request.key), request);
            }
            case WRITE_IMMEDIATE -> {
                request.key = boardKey(request, peer);
                long at = peer.boardAddress + peer.slot(number);
                data(batch.writeWithImmediate(number, at, request.key, request.immediate), request);
            }
            case READ -> {
                results.of(request).fill(Tape.CANARY);
                batch.read(number, peer.source.address() + request.place, peer.source.rkey());
                entries(batch, results.region(request), results.at(request), request.length);
            }
            case FETCH_ADD, COMPARE_SWAP, ATOMIC_WRITE -> atomic(batch, request, peer);
            case FLUSH ->
                batch.flush(
                        number,
                        peer.boardAddress,
                        peer.boardRegion().rkey(),
                        Slots.bytes(mtu),
                        Set.of(FlushTarget.GLOBAL));
            case BIND -> {
                own.windowState = WindowState.BINDING;
                request.signaled = true;
                batch.bindWindow(
                        number,
                        own.window(),
                        own.window().nextRkey(),
                        own.boardRegion(),
                        own.boardAddress,
                        own.boardRegion().length(),
                        EnumSet.of(Access.REMOTE_WRITE));
            }
            case INVALIDATE -> {
                own.windowState = WindowState.ENDING;
                request.signaled = true;
                batch.localInvalidate(number, own.window().rkey());
            }
        }
    }

    /// Returns the board's own key, or that of the window when there is one.
    private int boardKey(Request request, RcMemory peer) {
        request.throughWindow = peer.windowState == WindowState.BOUND && random.nextBoolean();
        return request.throughWindow ? peer.window().rkey() : peer.boardRegion().rkey();
    }

    private void data(SendBatch batch, Request request) {
        if (request.length <= INLINE_MAX && random.nextInt(4) == 0) {
            batch.inline(tape.bytes.asSlice(request.place, request.length));
        } else {
            entries(batch, own.source, request.place, request.length);
        }
    }

    /// Adds one to three entries, some perhaps empty.
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

    private void atomic(SendBatch batch, Request request, RcMemory peer) {
        int word = random.nextInt(RcMemory.WORDS);
        long address = peer.wordAddress(word);
        long before = peer.value(word);
        long operand = random.nextLong();
        request.word = word;
        request.before = before;
        results.of(request).fill(Tape.CANARY);
        int rkey = peer.wordKey();
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
        peer.expect(word, request.after);
        if (request.kind != Kind.ATOMIC_WRITE) {
            batch.sge(results.region(request), results.at(request), Long.BYTES);
        }
    }
}
