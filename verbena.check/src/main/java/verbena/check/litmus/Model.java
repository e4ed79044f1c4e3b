package verbena.check.litmus;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import verbena.check.litmus.Machine.Action;
import verbena.check.litmus.Machine.Piece;
import verbena.check.litmus.Machine.Request;
import verbena.check.litmus.Step.Verb;

/// The executable model: it walks through every order in which the steps of the threads and of the devices can
/// happen, and collects how the program can end.
///
/// The processors are x86: stores wait in a buffer of their thread and leave it in order, loads look there first, and
/// posting is a full fence. Plain loads and stores of Java may change places with plain ones of other words.
///
/// A request goes through a few stages, each word of it by itself: its local bytes are gathered, it takes effect at
/// the peer, what it wrote becomes visible there, what it read lands here, and it completes. The freedoms say which
/// of these have to be in order.
final class Model {
    /// The flags of a piece.
    private static final int GATHERED = 1;

    private static final int EFFECTIVE = 2;
    private static final int VISIBLE = 4;
    private static final int LANDED = 8;
    /// The flags of a request: an atomic that has read, a message whose receive is complete, a complete request.
    private static final int READ = 1;

    private static final int DELIVERED = 2;
    private static final int COMPLETE = 4;
    /// The states of a step: a store is done when it has left its buffer.
    private static final int BUFFERED = 1;

    private static final int DONE = 2;
    /// The number of states at which a program is too large.
    private static final int MOST_STATES = 3_000_000;

    private final Set<ModelFreedom> freedoms;
    private final Machine machine;
    private final Set<State> seen = new HashSet<>();
    private final ArrayDeque<byte[]> open = new ArrayDeque<>();
    private final SortedSet<Ending> outcomes = new TreeSet<>();
    private final int[] asked;
    private boolean isStuck;
    private boolean hasMoved;

    /// The outcomes of a program.
    ///
    /// @param outcomes all of them
    /// @param states how many states were visited
    /// @param isStuck whether some order leads to a wait that never ends
    record Result(SortedSet<Ending> outcomes, int states, boolean isStuck) {}

    @SuppressWarnings("ArrayRecordComponent") // compared by their bytes
    private record State(byte[] bytes) {
        @Override
        public boolean equals(Object other) {
            return other instanceof State(byte[] its) && Arrays.equals(bytes, its);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(bytes);
        }
    }

    private Model(Program program, Set<ModelFreedom> freedoms) {
        this.freedoms = freedoms;
        machine = new Machine(program, freedoms);
        asked = program.condition().names().stream().mapToInt(machine::placeOf).toArray();
    }

    /// Returns how a program can end on devices that take these freedoms.
    ///
    /// @throws IllegalArgumentException when it has too many states, or waits for a request that no thread posts
    static Result explore(Program program, Set<ModelFreedom> freedoms) {
        return new Model(program, freedoms).explore();
    }

    private Result explore() {
        add(machine.initial.clone());
        while (!open.isEmpty()) {
            byte[] state = open.removeLast();
            hasMoved = false;
            for (List<Action> thread : machine.threads) {
                for (Action action : thread) {
                    step(state, thread, action);
                }
            }
            for (Request request : machine.requests) {
                if (isPosted(state, request) && !isOver(state, request)) {
                    advance(state, request);
                }
            }
            if (!hasMoved) {
                end(state);
            }
        }
        return new Result(outcomes, seen.size(), isStuck);
    }

    private void add(byte[] state) {
        hasMoved = true;
        settle(state);
        if (seen.add(new State(state))) {
            if (seen.size() > MOST_STATES) {
                throw new IllegalArgumentException("program: has more than " + MOST_STATES + " states");
            }
            open.addLast(state);
        }
    }

    private void end(byte[] state) {
        boolean isOver = machine.threads.stream().flatMap(List::stream).allMatch(action -> state[action.at()] == DONE)
                && machine.requests.stream().allMatch(request -> isOver(state, request));
        if (isOver) {
            outcomes.add(new Ending(
                    Arrays.stream(asked).map(at -> state[at] & 0xff).boxed().toList()));
        } else {
            isStuck = true;
        }
    }

    // ---- threads

    private void step(byte[] state, List<Action> thread, Action action) {
        if (state[action.at()] == BUFFERED) {
            drain(state, thread, action);
        } else if (state[action.at()] == 0 && isNext(state, thread, action)) {
            carryOut(state, thread, action);
        }
    }

    // A step comes after those before it in the text; plain ones of different words may change places.
    private boolean isNext(byte[] state, List<Action> thread, Action action) {
        for (Action before : thread.subList(0, action.number())) {
            if (state[before.at()] == 0 && !Step.areExchangeable(before.step(), action.step())) {
                return false;
            }
        }
        return true;
    }

    // A store leaves the buffer behind those before it.
    private void drain(byte[] state, List<Action> thread, Action action) {
        for (Action before : thread.subList(0, action.number())) {
            if (state[before.at()] == BUFFERED && !Step.areExchangeable(before.step(), action.step())) {
                return;
            }
        }
        byte[] next = state.clone();
        next[action.at()] = DONE;
        next[action.word()] = state[action.at() + 1];
        next[action.at() + 1] = 0;
        add(next);
    }

    private void carryOut(byte[] state, List<Action> thread, Action action) {
        byte[] next = state.clone();
        next[action.at()] = DONE;
        switch (action.step()) {
            case Step.Load _ -> next[action.at() + 1] = load(state, thread, action);
            case Step.Store store -> {
                next[action.at()] = BUFFERED;
                next[action.at() + 1] = (byte) value(state, store.value());
            }
            case Step.Add add -> {
                if (hasBuffered(state, thread)) {
                    return;
                }
                next[action.at() + 1] = state[action.word()];
                next[action.word()] += (byte) add.number();
            }
            case Step.Fence _ -> {
                if (hasBuffered(state, thread)) {
                    return;
                }
            }
            case Step.Await await -> {
                if ((load(state, thread, action) & 0xff) != await.number()) {
                    return;
                }
            }
            case Step.Need need -> {
                if (!need.comparison().holds(name -> state[machine.placeOf(name)] & 0xff)) {
                    hasMoved = true; // the run does not count
                    return;
                }
            }
            case Step.Poll _ -> {
                if ((state[machine.requests.get(action.request()).at()] & COMPLETE) == 0) {
                    return;
                }
            }
            case Step.Take _ -> {
                if ((state[machine.requests.get(action.request()).at()] & DELIVERED) == 0) {
                    return;
                }
            }
            case Step.Done _ ->
                next[action.at() + 1] =
                        (byte) ((state[machine.requests.get(action.request()).at()] & COMPLETE) == 0 ? 0 : 1);
            case Step.Post _ -> {
                if (hasBuffered(state, thread)) {
                    return;
                }
                post(next, machine.requests.get(action.request()));
            }
        }
        add(next);
    }

    private static boolean hasBuffered(byte[] state, List<Action> thread) {
        return thread.stream().anyMatch(each -> state[each.at()] == BUFFERED);
    }

    // The youngest store to the word in the thread's own buffer, or memory.
    private static byte load(byte[] state, List<Action> thread, Action action) {
        for (Action before : thread.subList(0, action.number()).reversed()) {
            if (before.word() == action.word() && state[before.at()] == BUFFERED) {
                return state[before.at() + 1];
            }
        }
        return state[action.word()];
    }

    private int value(byte[] state, Value value) {
        return value.number() + (value.isNumber() ? 0 : state[machine.placeOf(value.name())] & 0xff);
    }

    private void post(byte[] next, Request request) {
        if (!request.verb().isPlaced()) {
            return;
        }
        if (request.post().local().isEmpty()) {
            int perWord = request.pieces().size() / request.post().values().size();
            for (int i = 0; i < request.pieces().size(); i++) {
                Piece piece = request.pieces().get(i);
                int value = value(next, request.post().values().get(i / perWord));
                next[piece.at()] = (byte) (value & piece.mask());
                next[piece.at() + 1] |= GATHERED;
            }
        } else if (request.isStable()
                || (!may(ModelFreedom.LOCAL_BUFFERS) && !request.post().fenced())) {
            gatherAll(next, request);
        }
    }

    // ---- devices

    private void advance(byte[] state, Request request) {
        if (request.verb().isPlaced()) {
            gather(state, request);
        }
        if (mayTakeEffect(state, request)) {
            switch (request.verb()) {
                case WRITE, WRITE_IMM, SEND -> takeEffect(state, request, this::place);
                case READ -> takeEffect(state, request, Model::sample);
                case FETCH_ADD, CMP_SWAP -> atomic(state, request);
                case FLUSH -> takeEffect(state, request, (_, _) -> {});
            }
        }
        if (request.verb().isPlaced()) {
            show(state, request);
        } else {
            land(state, request);
        }
        if (request.verb() == Verb.READ && may(ModelFreedom.RESAMPLED)) {
            repeat(state, request);
        }
        if (isLateToComplete(request) && isReadyToComplete(state, request)) {
            byte[] next = state.clone();
            next[request.at()] |= COMPLETE;
            add(next);
        }
    }

    private void gather(byte[] state, Request request) {
        if (request.post().fenced() && !isFenceOpen(state, request)) {
            return;
        }
        if (!may(ModelFreedom.LOCAL_BUFFERS)) {
            if (!has(state, request.pieces().getFirst(), GATHERED)) {
                byte[] next = state.clone();
                gatherAll(next, request);
                add(next);
            }
            return;
        }
        for (Piece piece : request.pieces()) {
            if (!has(state, piece, GATHERED)) {
                byte[] next = state.clone();
                gather(next, piece);
                add(next);
            }
        }
    }

    private static void gatherAll(byte[] next, Request request) {
        request.pieces().forEach(piece -> gather(next, piece));
    }

    private static void gather(byte[] next, Piece piece) {
        next[piece.at()] = (byte) (next[piece.local()] & piece.mask());
        next[piece.at() + 1] |= GATHERED;
    }

    private boolean isFenceOpen(byte[] state, Request request) {
        return request.queueBefore().stream()
                .map(machine.requests::get)
                .allMatch(before -> !before.verb().isAnswered() || hasAll(state, before, LANDED));
    }

    // Whether all that has to be carried out before a request is.
    private boolean mayTakeEffect(byte[] state, Request request) {
        if (request.post().fenced() && !isFenceOpen(state, request)) {
            return false;
        }
        for (int number : request.before()) {
            Request before = machine.requests.get(number);
            if (request.verb().isPlaced()) {
                boolean overtakes =
                        (before.verb().isAnswered() && may(ModelFreedom.UNFENCED)) || isExchangeable(before, request);
                if (!overtakes && !hasAll(state, before, EFFECTIVE)) {
                    return false;
                }
            } else if (!hasAll(state, before, EFFECTIVE)
                    || (before.verb().isPlaced() && !hasAll(state, before, VISIBLE))) {
                return false; // it makes visible what was written before
            }
        }
        return true;
    }

    // Whether two messages to the same peer may become visible in the other order.
    private boolean isExchangeable(Request before, Request request) {
        return before.verb().isPlaced()
                && before.end().equals(request.end())
                && (may(ModelFreedom.UNORDERED_WRITES) || (request.isRelaxed() && may(ModelFreedom.RELAXED_ORDERING)));
    }

    private interface Effect {
        void on(byte[] next, Piece piece);
    }

    private void takeEffect(byte[] state, Request request, Effect effect) {
        for (Piece piece : request.pieces()) {
            boolean isReady = !request.verb().isPlaced() || has(state, piece, GATHERED);
            if (isReady && isNext(state, request, piece, EFFECTIVE)) {
                byte[] next = state.clone();
                next[piece.at() + 1] |= EFFECTIVE;
                effect.on(next, piece);
                add(next);
            }
        }
    }

    // Whether a piece can come now: in the order of addresses, but halves of a word in any.
    private boolean isNext(byte[] state, Request request, Piece piece, int flag) {
        if (has(state, piece, flag)) {
            return false;
        }
        for (Piece before : request.pieces()) {
            if (before == piece || may(ModelFreedom.TORN)) {
                return true;
            }
            if (!has(state, before, flag) && before.remote() != piece.remote()) {
                return false;
            }
        }
        return true;
    }

    private void place(byte[] next, Piece piece) {
        if (!may(ModelFreedom.LATE_VISIBILITY)) {
            makeVisible(next, piece);
        }
    }

    private static void makeVisible(byte[] next, Piece piece) {
        next[piece.at() + 1] |= VISIBLE;
        next[piece.remote()] = (byte) ((next[piece.remote()] & ~piece.mask()) | (next[piece.at()] & piece.mask()));
        next[piece.at()] = 0;
    }

    private static void sample(byte[] next, Piece piece) {
        next[piece.at()] = (byte) (next[piece.remote()] & piece.mask());
    }

    // Bytes become visible in the order of the messages and of addresses, unless a freedom says otherwise.
    private void show(byte[] state, Request request) {
        for (int number : request.before()) {
            Request before = machine.requests.get(number);
            if (before.verb().isPlaced() && !isExchangeable(before, request) && !hasAll(state, before, VISIBLE)) {
                return;
            }
        }
        for (Piece piece : request.pieces()) {
            if (has(state, piece, EFFECTIVE) && isNext(state, request, piece, VISIBLE)) {
                byte[] next = state.clone();
                makeVisible(next, piece);
                add(next);
            }
        }
    }

    // An atomic locks out all others at its node until it has written, which may be after its result is here.
    private void atomic(byte[] state, Request request) {
        Piece piece = request.pieces().getFirst();
        if (has(state, piece, EFFECTIVE)) {
            return;
        }
        byte[] next = state.clone();
        if ((state[request.at()] & READ) == 0) {
            boolean isLocked = machine.requests.stream()
                    .anyMatch(other -> other != request
                            && other.verb().isAtomic()
                            && other.peer().equals(request.peer())
                            && (state[other.at()] & READ) != 0
                            && !has(state, other.pieces().getFirst(), EFFECTIVE));
            if (isLocked) {
                return;
            }
            next[request.at()] |= READ;
            next[piece.at()] = state[piece.remote()];
            if (!may(ModelFreedom.SPLIT_ATOMICS)) {
                change(next, request, piece);
            }
        } else {
            change(next, request, piece);
        }
        add(next);
    }

    private void change(byte[] next, Request request, Piece piece) {
        List<Value> values = request.post().values();
        int before = next[piece.at()] & 0xff;
        if (request.verb() == Verb.FETCH_ADD) {
            next[piece.remote()] = (byte) (before + value(next, values.getFirst()));
        } else if (before == (value(next, values.getFirst()) & 0xff)) {
            next[piece.remote()] = (byte) value(next, values.getLast());
        }
        next[piece.at() + 1] |= EFFECTIVE;
        if (has(next, piece, LANDED)) {
            next[piece.at()] = 0;
        }
    }

    // Results land in local memory: in the order of the requests, unless local memory is the device's.
    private void land(byte[] state, Request request) {
        if (!may(ModelFreedom.LOCAL_BUFFERS) && !isFenceOpen(state, request)) {
            return;
        }
        for (Piece piece : request.pieces()) {
            boolean isRead = has(state, piece, EFFECTIVE) || (state[request.at()] & READ) != 0;
            if (isRead && isNext(state, request, piece, LANDED)) {
                byte[] next = state.clone();
                next[piece.at() + 1] |= LANDED;
                if (piece.local() >= 0) {
                    next[piece.local()] =
                            (byte) ((state[piece.local()] & ~piece.mask()) | (state[piece.at()] & piece.mask()));
                }
                if (has(state, piece, EFFECTIVE)) {
                    next[piece.at()] = 0;
                }
                add(next);
            }
        }
    }

    // A lost response: the READ is carried out again from the first piece that has not landed, and so are the READs
    // behind it. Their results have not been taken either.
    private void repeat(byte[] state, Request request) {
        if (!hasAll(state, request, EFFECTIVE) || hasAll(state, request, LANDED)) {
            return;
        }
        byte[] next = state.clone();
        for (Request each : machine.requests) {
            if (each != request && !each.queueBefore().contains(request.number())) {
                continue;
            }
            for (Piece piece : each.pieces()) {
                if (each != request && has(state, piece, LANDED)) {
                    return;
                }
                if (each.verb() == Verb.READ && !has(state, piece, LANDED)) {
                    next[piece.at() + 1] &= ~EFFECTIVE;
                    next[piece.at()] = 0;
                }
            }
        }
        add(next);
    }

    // ---- completions

    // Completes requests and receives as soon as they can be: a program cannot tell that from later.
    private void settle(byte[] state) {
        for (Request request : machine.requests) {
            if (!isPosted(state, request)) {
                continue;
            }
            if (request.verb().isMessage() && isReadyToDeliver(state, request)) {
                state[request.at()] |= DELIVERED;
            }
            if (!isLateToComplete(request) && isReadyToComplete(state, request)) {
                state[request.at()] |= COMPLETE;
            }
        }
    }

    private boolean isLateToComplete(Request request) {
        return request.isWatched() && may(ModelFreedom.LATE_COMPLETIONS);
    }

    private boolean isReadyToComplete(byte[] state, Request request) {
        return (state[request.at()] & COMPLETE) == 0
                && hasAll(state, request, request.verb().isPlaced() ? EFFECTIVE : LANDED)
                && request.queueBefore().stream()
                        .allMatch(before -> (state[machine.requests.get(before).at()] & COMPLETE) != 0);
    }

    private boolean isReadyToDeliver(byte[] state, Request request) {
        return (state[request.at()] & DELIVERED) == 0
                && hasAll(state, request, VISIBLE)
                && request.before().stream()
                        .map(machine.requests::get)
                        .filter(before -> before.verb().isPlaced())
                        .allMatch(before -> hasAll(state, before, VISIBLE)
                                && (!before.verb().isMessage() || (state[before.at()] & DELIVERED) != 0));
    }

    private static boolean isOver(byte[] state, Request request) {
        return (state[request.at()] & COMPLETE) != 0
                && hasAll(state, request, EFFECTIVE)
                && (!request.verb().isPlaced() || hasAll(state, request, VISIBLE))
                && (!request.verb().isMessage() || (state[request.at()] & DELIVERED) != 0);
    }

    private boolean isPosted(byte[] state, Request request) {
        return state[machine.posts.get(request.number()).at()] == DONE;
    }

    private boolean may(ModelFreedom freedom) {
        return freedoms.contains(freedom);
    }

    private static boolean has(byte[] state, Piece piece, int flag) {
        return (state[piece.at() + 1] & flag) != 0;
    }

    private static boolean hasAll(byte[] state, Request request, int flag) {
        for (Piece piece : request.pieces()) {
            if (!has(state, piece, flag)) {
                return false;
            }
        }
        return true;
    }
}
