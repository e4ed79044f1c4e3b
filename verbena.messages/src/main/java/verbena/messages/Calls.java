package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import verbena.messages.protocol.Incoming;
import verbena.messages.protocol.Kind;
import verbena.messages.protocol.OwnCalls;
import verbena.messages.rail.Remote;
import verbena.verbs.Pending;
import verbena.verbs.waiting.TimeLimits;

/// The calls of this worker to one peer, by [OwnCalls]: those that wait for a place, the timer, and memory.
final class Calls {
    /// An observer of calls of this side.
    @FunctionalInterface
    interface Beginning {
        /// Observes a call that begins, and returns its request with a header.
        MemorySegment begin(PendingOperation<?> result, MemorySegment request);
    }

    private final Remote remote;
    private final Traffic traffic;
    private final ScheduledExecutorService timer;
    private final int maxAnswerBytes;
    private final long maxRequestBytes;
    private final Beginning beginning;

    // Under the lock of the worker.
    private final OwnCalls asked;
    /// The calls that wait for a place, the oldest first.
    private final LinkedHashSet<Asked<?>> queued = new LinkedHashSet<>();
    /// Those of them that have a time limit; first the one whose time is over first.
    private final TreeSet<Asked<?>> limited = new TreeSet<>(Calls::inOrderOfLimits);
    /// The number of calls that have waited for a place.
    private long turns;
    /// Whether the calls of the queue are being begun.
    private boolean isBeginning;
    /// Whether a look at the time limits is to come, and when the next one is.
    private boolean isTimed;

    private long nextLook;

    /// @param places that both ends have agreed on
    /// @param maxAnswerBytes of an answer without memory for it
    /// @param maxRequestBytes that the peer takes, with a header
    /// @param beginning sees each call
    Calls(
            Remote remote,
            Traffic traffic,
            ScheduledExecutorService timer,
            int places,
            int maxAnswerBytes,
            long maxRequestBytes,
            Beginning beginning) {
        this.remote = remote;
        this.traffic = traffic;
        this.timer = timer;
        this.maxAnswerBytes = maxAnswerBytes;
        this.maxRequestBytes = maxRequestBytes;
        this.beginning = beginning;
        this.asked = new OwnCalls(remote.peer(), places, this::beginQueued);
    }

    // ---- this side calls

    /// A call of this side.
    private abstract class Asked<T> extends OwnCalls.Asked {
        final PendingOperation<T> pending = new PendingOperation<>(traffic.readers);
        /// Zero for none.
        final Duration timeLimit;
        /// The time limit in nanoseconds, zero for none.
        private final long limitNanos;
        private final long begun = System.nanoTime();
        /// Its number among the calls that have waited for a place.
        private long turn;

        private MemorySegment request = MemorySegment.NULL;
        private boolean isRequestBound;
        private MemorySegment answer = MemorySegment.NULL;

        Asked(Duration timeLimit) {
            this.timeLimit = timeLimit;
            this.limitNanos = Math.min(TimeUnit.NANOSECONDS.convert(timeLimit), OwnCalls.LIMIT_NANOS_MAX);
        }

        /// Returns the rest of the time limit, at least 1; `Long.MAX_VALUE` without a limit.
        private long left(long now) {
            return limitNanos == 0 ? Long.MAX_VALUE : Math.max(1, limitNanos - (now - begun));
        }

        private boolean isLate(long now) {
            return limitNanos > 0 && now - begun >= limitNanos;
        }

        private void begin() {
            Calls.this.begin(this);
        }

        /// Returns the length of the longest answer, in bytes.
        abstract long takes();

        /// Returns memory for an answer of so many bytes.
        abstract MemorySegment memoryFor(long length);

        /// Completes the call with the answer, which is in the memory for it.
        abstract void complete(MemorySegment answer, long length);

        /// Releases the memory for an answer, which is needed no more.
        void answerDone() {}

        /// Registers the memory of a request, so that the other end may read it there.
        void bind(MemorySegment request) {
            isRequestBound = timeLimit.isZero()
                    && remote.peer().isLong(request.byteSize())
                    && traffic.devices.longMessages.isRegistrable(request);
        }

        @Override
        protected void requestDone() {
            isRequestBound = false;
        }

        @Override
        protected boolean isBound() {
            return isRequestBound;
        }

        @Override
        protected MemorySegment memory(Kind kind, long length) {
            if (kind == Kind.FAULT) {
                answer = MemorySegment.ofArray(new byte[(int) length]);
            } else if (length <= takes()) {
                answer = memoryFor(length);
            }
            return answer;
        }

        @Override
        protected void answered(Kind kind, long length, boolean isWaiting) {
            if (isWaiting) {
                if (kind == Kind.FAULT) {
                    String text = new String(answer.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
                    fail(CallException.Reason.FAILED, "the peer: " + text);
                } else if (length > takes()) {
                    fail(CallException.Reason.FAILED, "an answer of " + length + " bytes, of at most " + takes());
                } else {
                    complete(answer, length);
                }
            }
            answerDone();
        }

        @Override
        protected void unanswered() {
            answerDone();
        }

        @Override
        protected void failed(String why) {
            MessageCounters.FAILED_CALLS.increment();
            pending.fail(remote.lost("call", why));
        }

        void fail(CallException.Reason reason, String why) {
            MessageCounters.FAILED_CALLS.increment();
            pending.fail(new CallException(reason, "call: " + remote + ": " + why));
        }
    }

    /// @param timeLimit zero for none
    Pending<byte[]> begin(MemorySegment request, Duration timeLimit) {
        return start(request, new Asked<byte[]>(timeLimit) {
            @Override
            long takes() {
                return maxAnswerBytes;
            }

            @Override
            MemorySegment memoryFor(long length) {
                return MemorySegment.ofArray(new byte[(int) length]);
            }

            @Override
            void complete(MemorySegment answer, long length) {
                pending.complete((byte[]) answer.heapBase().orElseThrow());
            }
        });
    }

    /// @param timeLimit zero for none
    Pending<Long> begin(MemorySegment request, MemorySegment into, Duration timeLimit) {
        traffic.devices.longMessages.requireWritable("into", into);
        return start(request, new IntoMemory(into, timeLimit));
    }

    /// A call whose answer goes into memory of the program. Of a call that may be given up a long answer is read
    /// into memory of the worker first.
    private final class IntoMemory extends Asked<Long> {
        private final MemorySegment into;
        private MemorySegment buffer = MemorySegment.NULL;
        private boolean isAnswerBound;

        IntoMemory(MemorySegment into, Duration timeLimit) {
            super(timeLimit);
            this.into = into;
        }

        @Override
        long takes() {
            return Long.MAX_VALUE;
        }

        @Override
        protected boolean isBound() {
            return isAnswerBound || super.isBound();
        }

        @Override
        MemorySegment memoryFor(long length) {
            long bytes = Math.min(length, into.byteSize());
            boolean isRead = remote.peer().isLong(length) && bytes > 0;
            if (isRead && timeLimit.isZero() && traffic.devices.longMessages.isRegistrable(into)) {
                isAnswerBound = true;
            } else if (isRead) {
                buffer = traffic.devices.longMessages.buffers.take(bytes);
                return buffer.asSlice(0, bytes);
            }
            return into;
        }

        @Override
        void complete(MemorySegment answer, long length) {
            try {
                if (buffer.byteSize() > 0) {
                    long bytes = answer.byteSize();
                    MemorySegment.copy(answer, ValueLayout.JAVA_BYTE, 0, into, ValueLayout.JAVA_BYTE, 0, bytes);
                }
                pending.complete(length);
            } catch (IllegalStateException e) { // the program has closed its memory
                pending.fail(e);
            }
        }

        @Override
        void answerDone() {
            isAnswerBound = false;
            if (buffer.byteSize() > 0) {
                traffic.devices.longMessages.buffers.give(buffer);
                buffer = MemorySegment.NULL;
            }
        }
    }

    private <T> Pending<T> start(MemorySegment memory, Asked<T> call) {
        try {
            MemorySegment request = beginning.begin(call.pending, memory);
            call.request = traffic.devices.longMessages.forAllThreads(request);
            traffic.locked(call, Asked::begin);
        } catch (Throwable e) { // the observer hears of the end of each call that it has seen begin
            call.pending.cancelled();
            throw e;
        }
        return call.pending;
    }

    /// Begins a call when its turn comes. Under the lock.
    private void begin(Asked<?> call) {
        if (call.request.byteSize() > maxRequestBytes) {
            call.fail(
                    CallException.Reason.FAILED,
                    "a request of " + call.request.byteSize() + " bytes, of at most " + maxRequestBytes);
            return;
        }
        call.pending.withdrawnBy(() -> cancel(call));
        if (queued.isEmpty() && mayBegin()) {
            beginNow(call);
        } else {
            enqueue(call);
        }
        traffic.pump(remote);
        if (call.limitNanos > 0 && !call.pending.isDone()) {
            long now = System.nanoTime();
            lookWithin(call.left(now), now);
        }
    }

    /// Begins the calls of the queue for which there are places. The caller sends them. Under the lock.
    private void beginQueued() {
        if (isBeginning) {
            return; // a lost peer fails a call as it begins, which makes a place
        }
        isBeginning = true;
        try {
            while (!queued.isEmpty() && mayBegin()) {
                Asked<?> next = queued.getFirst();
                boolean _ = dequeue(next);
                beginNow(next);
            }
        } finally {
            isBeginning = false;
        }
    }

    private boolean mayBegin() {
        return asked.hasPlace() || remote.peer().isLost();
    }

    private void beginNow(Asked<?> call) {
        MemorySegment request = call.request;
        call.request = MemorySegment.NULL; // the message has it now
        call.bind(request);
        MessageCounters.CALLS.increment();
        long now = System.nanoTime();
        asked.begin(call, request, call.limitNanos == 0 ? 0 : call.left(now), now);
    }

    private void enqueue(Asked<?> call) {
        call.turn = ++turns;
        queued.addLast(call);
        if (call.limitNanos > 0) {
            limited.add(call);
        }
    }

    /// Takes a call out of the queue; returns false when it is not there.
    private boolean dequeue(Asked<?> call) {
        limited.remove(call);
        return queued.remove(call);
    }

    private static int inOrderOfLimits(Asked<?> a, Asked<?> b) {
        long later = a.begun + a.limitNanos - (b.begun + b.limitNanos); // a difference of times may pass the largest
        return later == 0 ? Long.compare(a.turn, b.turn) : Long.signum(later);
    }

    private boolean cancel(Asked<?> call) {
        return traffic.ask(() -> {
            boolean isGivenUp = dequeue(call) || asked.giveUp(call);
            if (isGivenUp) {
                call.pending.cancelled();
                traffic.pump(remote);
            }
            return isGivenUp;
        });
    }

    // ---- time limits

    /// Schedules a look at the time limits by then. Calls are answered long before that, so a timer for each would
    /// cost more than the call. One look serves all that begin until then.
    private void lookWithin(long nanos, long now) {
        long planned = now + nanos;
        if (!isTimed || planned - nextLook < 0) {
            isTimed = true;
            nextLook = planned;
            var _ = timer.schedule(() -> traffic.locked(planned, this::look), nanos, TimeUnit.NANOSECONDS);
        }
    }

    /// Ends the calls whose time is over, under the lock.
    private void look(long planned) {
        if (!isTimed || planned != nextLook) {
            return; // an earlier look has come in its place
        }
        isTimed = false;
        long now = System.nanoTime();
        for (OwnCalls.Asked each : asked.onDeadline(now)) {
            if (each instanceof Asked<?> late) {
                late.fail(CallException.Reason.TIMEOUT, "no answer within " + TimeLimits.text(late.timeLimit));
            }
        }
        while (!limited.isEmpty() && limited.first().isLate(now)) {
            Asked<?> late = limited.first();
            boolean _ = dequeue(late);
            late.fail(CallException.Reason.TIMEOUT, "no place for it within " + TimeLimits.text(late.timeLimit));
        }
        long next = asked.nanosToDeadline(now);
        if (!limited.isEmpty()) {
            long left = limited.first().left(now);
            next = next < 0 ? left : Math.min(next, left);
        }
        if (next >= 0) {
            lookWithin(next, now);
        }
        traffic.pump(remote);
    }

    // ---- arrivals

    /// Returns the destination of an answer, or empty when it breaks the rules.
    Optional<Incoming> onAnswer(Kind kind, long tag, long length) {
        return asked.onAnswer(kind, tag, length);
    }

    // ---- the end

    /// Fails the calls to a peer that is lost. Under the lock.
    void lose(String why) {
        List<Asked<?>> waiting = List.copyOf(queued);
        queued.clear();
        limited.clear();
        asked.lose(why);
        waiting.forEach(each -> each.failed(why));
    }

    /// Calls to the peer that it has not answered. Under the lock.
    int unanswered() {
        return asked.unanswered();
    }
}
