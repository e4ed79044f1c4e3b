package verbena.messages.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import verbena.sim.explore.Fingerprint;
import verbena.sim.explore.SmallWorld;
import verbena.sim.explore.Step;

/// An end that calls, with a time limit, and one that answers when its handler likes: neither a late handler nor a
/// late frame ends anything. The caller uses the memory of a request for something else when it has been told.
final class CallsWorld implements SmallWorld {
    /// What is wrong on purpose.
    enum Plant {
        NOTHING,
        /// A caller that gives up has its place again, without end.
        FORGETS_WHAT_IS_UNDER_WAY,
        /// A call that was given up is not answered.
        ANSWERS_NO_CANCELLED_CALL,
        /// A request is read from the memory of its caller.
        EXPOSES_WHAT_MAY_CHANGE,
        /// An answer goes out twice.
        ANSWERS_TWICE
    }

    private static final int PLACES = 1;
    private static final long LIMIT = 1_000_000;
    private static final int SHORT = 2;
    private static final int LONG = 60;
    private static final byte CHANGED = -1;

    /// A call, what its caller was told, and what the handler saw.
    private static final class Asked extends OwnCalls.Asked {
        private final byte number;
        private final byte[] request;
        private byte[] answer = {};
        private String told = "";
        private int times;

        Asked(int number, int bytes) {
            this.number = (byte) number;
            this.request = new byte[bytes];
            Arrays.fill(request, this.number);
        }

        private void tell(String what) {
            told = what;
            times++;
            Arrays.fill(request, CHANGED); // the memory is the program's
        }

        @Override
        protected MemorySegment memory(Kind kind, long length) {
            answer = new byte[(int) length];
            return MemorySegment.ofArray(answer);
        }

        @Override
        protected void answered(Kind kind, long length, boolean isWaiting) {
            if (isWaiting) {
                tell(kind.name());
            }
        }

        @Override
        protected void unanswered() {}

        @Override
        protected void failed(String why) {
            tell("LOST");
        }
    }

    /// A call at its handler.
    private static final class Request extends PeerCalls.Request {
        private final byte[] memory;
        private boolean isBegun;

        Request(PeerCalls calls, long tag, long length) {
            super(calls, tag);
            this.memory = new byte[(int) length];
        }

        @Override
        public MemorySegment memory() {
            return MemorySegment.ofArray(memory);
        }

        @Override
        protected void begin() {
            isBegun = true;
        }

        @Override
        protected void interrupt() {}

        @Override
        protected void drop() {}
    }

    private final class End extends ExploredEnd {
        final OwnCalls own;
        final PeerCalls theirs;
        final List<Request> requests = new ArrayList<>();

        End(String name) {
            super(name, new PeerLimits(FRAME_BYTES, 2, 1 << 20, 4, 4, 1));
            this.own = new OwnCalls(peer, plant == Plant.FORGETS_WHAT_IS_UNDER_WAY ? 100 : PLACES, () -> {});
            this.theirs = new PeerCalls(peer, PLACES);
        }

        @Override
        public Optional<Incoming> incoming(Kind kind, long tag, long length) {
            return switch (kind) {
                case CALL -> {
                    var request = new Request(theirs, tag, length);
                    requests.add(request);
                    yield theirs.onCall(request);
                }
                case ANSWER, FAULT -> own.onAnswer(kind, tag, length);
                case CANCEL -> {
                    if (plant == Plant.ANSWERS_NO_CANCELLED_CALL) {
                        requests.clear();
                        yield Optional.of(Incoming.NOWHERE);
                    }
                    yield Optional.of(theirs.onCancel(tag));
                }
                case TAGGED, ACTIVE -> Optional.empty();
            };
        }
    }

    private final Plant plant;
    private final int calls;
    private final int requestBytes;
    private final int answerBytes;
    private final boolean mayDie;
    private final End a;
    private final End b;
    private final List<Asked> asked = new ArrayList<>();
    private long now = Fingerprint.BEGINNING;

    CallsWorld(int calls, boolean areLong, boolean mayDie, Plant plant) {
        this.plant = plant;
        this.calls = calls;
        this.requestBytes = areLong ? LONG : SHORT;
        this.answerBytes = areLong ? LONG : SHORT;
        this.mayDie = mayDie;
        this.a = new End("a");
        this.b = new End("b");
        a.exposesWhatMayChange = plant == Plant.EXPOSES_WHAT_MAY_CHANGE;
    }

    static Fingerprint fingerprint() {
        return new Fingerprint();
    }

    @Override
    public List<Step> steps() {
        var steps = new ArrayList<Step>();
        if (asked.size() < calls && a.own.hasPlace()) {
            steps.add(Step.usual(() -> "a calls " + asked.size(), this::call));
        }
        a.addSteps(steps, b);
        b.addSteps(steps, a);
        for (Request each : b.requests) {
            if (each.isBegun) {
                steps.add(Step.usual(() -> "the handler of b returns from " + each.memory[0], () -> answer(each)));
            }
        }
        long left = a.own.nanosToDeadline(now);
        if (left == 0) {
            steps.add(Step.usual(() -> "a looks at its time limits", this::look));
        } else if (left > 0) {
            steps.add(Step.time(() -> "time passes", () -> now += left));
        }
        for (Asked each : asked) {
            if (each.times == 0) {
                steps.add(Step.fault(() -> "a cancels " + each.number, () -> cancel(each)));
            }
        }
        if (mayDie && !a.isDead) {
            steps.add(Step.fault(() -> "the connection ends", this::end));
        }
        return steps;
    }

    private void call() {
        var call = new Asked(asked.size(), requestBytes);
        asked.add(call);
        a.own.begin(call, MemorySegment.ofArray(call.request), LIMIT, now);
    }

    private void answer(Request request) {
        b.requests.remove(request);
        assertThat(request.memory).as("what the handler sees").containsOnly(request.memory[0]);
        assertThat(request.memory[0]).as("what the handler sees").isNotEqualTo(CHANGED);
        byte[] answer = new byte[answerBytes];
        Arrays.fill(answer, request.memory[0]);
        b.theirs.answer(request, Kind.ANSWER, MemorySegment.ofArray(answer));
        if (plant == Plant.ANSWERS_TWICE) {
            b.peer.send(new Plain(Kind.ANSWER, OwnCalls.tag(request.memory[0] + 1, 0), MemorySegment.ofArray(answer)));
        }
    }

    private void look() {
        for (OwnCalls.Asked each : a.own.onDeadline(now)) {
            ((Asked) each).tell("TIMEOUT");
        }
    }

    private void cancel(Asked call) {
        if (a.own.giveUp(call)) {
            call.tell("CANCELLED");
        }
    }

    private void end() {
        a.lose();
        a.own.lose("it has ended");
        b.lose();
        b.theirs.lose();
        b.requests.clear();
    }

    @Override
    public void check() {
        assertThat(a.wrong).as("a ends the peer").isNull();
        assertThat(b.wrong).as("b ends the peer").isNull();
        assertThat(b.theirs.size()).isLessThanOrEqualTo(2 * PLACES);
        for (Asked each : asked) {
            assertThat(each.times)
                    .as("times that the caller of %d was told", each.number)
                    .isLessThanOrEqualTo(1);
            if (each.told.equals("ANSWER")) {
                assertThat(each.answer).hasSize(answerBytes).containsOnly(each.number);
            }
        }
    }

    @Override
    public void checkAtRest() {
        for (Asked each : asked) {
            assertThat(each.times)
                    .as("times that the caller of %d was told", each.number)
                    .isOne();
        }
        assertThat(a.own.unanswered()).as("calls that are outstanding for ever").isZero();
        if (!a.isDead) {
            assertThat(asked).hasSize(calls);
            assertThat(b.theirs.size()).isZero();
            assertThat(a.peer.isIdle()).isTrue();
            assertThat(b.peer.isIdle()).isTrue();
        }
    }

    @Override
    public long now() {
        return now;
    }
}
