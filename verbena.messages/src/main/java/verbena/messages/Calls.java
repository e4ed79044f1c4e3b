package verbena.messages;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.Incoming;
import verbena.messages.protocol.Kind;
import verbena.messages.protocol.OwnCalls;
import verbena.messages.protocol.PeerCalls;

/// The calls between this worker and one peer, both ways, by [OwnCalls] and [PeerCalls]: threads that wait for a place,
/// the timer, memory, and the handlers of this end.
final class Calls {
    private final RemoteWorker remote;
    private final Worker worker;
    private final Traffic traffic;
    private final WorkerOptions options;
    /// A call may begin that could not.
    private final Condition freed;

    // Under the lock of the traffic.
    private final OwnCalls asked;
    private final PeerCalls answering;
    /// Whether a look at the time limits is to come, and when the next one is.
    private boolean isTimed;

    private long nextLook;

    /// @param places that both ends have agreed on
    Calls(RemoteWorker remote, Worker worker, Traffic traffic, WorkerOptions options, int places) {
        this.remote = remote;
        this.worker = worker;
        this.traffic = traffic;
        this.options = options;
        this.freed = traffic.lock.newCondition();
        this.asked = new OwnCalls(remote.peer(), places, freed::signal);
        this.answering = new PeerCalls(remote.peer(), places);
    }

    // ---- this side calls

    /// A call of this side.
    private abstract class Asked<T> extends OwnCalls.Asked {
        final Pending<T> pending = new Pending<>(traffic.readers);
        final Duration timeLimit;
        private boolean isRequestBound;
        private MemorySegment answer = MemorySegment.NULL;

        Asked(Duration timeLimit) {
            this.timeLimit = timeLimit;
        }

        /// The longest answer, in bytes.
        abstract long takes();

        /// Memory for an answer of so many bytes.
        abstract MemorySegment memoryFor(long length);

        /// The answer is in the memory that was for it.
        abstract void complete(MemorySegment answer, long length);

        /// Its memory for an answer is needed no more.
        void answerDone() {}

        /// The other end may read the request where the program has it.
        void bind(MemorySegment request) {
            isRequestBound = timeLimit.isZero()
                    && remote.peer().isLong(request.byteSize())
                    && traffic.longMessages.isRegistrable(request);
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
                    String text = new String(RemoteWorker.bytes(answer), StandardCharsets.UTF_8);
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
            pending.fail(remote.lost("call", why));
        }

        void fail(CallException.Reason reason, String why) {
            pending.fail(new CallException(reason, "call: " + remote + ": " + why));
        }
    }

    Pending<byte[]> begin(MemorySegment request, Duration timeLimit) throws InterruptedException {
        return start(request, new Asked<byte[]>(timeLimit) {
            @Override
            long takes() {
                return options.maxCallBytes();
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

    Pending<Long> begin(MemorySegment request, MemorySegment into, Duration timeLimit) throws InterruptedException {
        traffic.longMessages.requireWritable("into", into);
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
            if (isRead && timeLimit.isZero() && traffic.longMessages.isRegistrable(into)) {
                isAnswerBound = true;
            } else if (isRead) {
                buffer = traffic.longMessages.buffers.take(bytes);
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
                traffic.longMessages.buffers.give(buffer);
                buffer = MemorySegment.NULL;
            }
        }
    }

    /// Waits for a place, but not longer than the caller wants to wait for the answer.
    private <T> Pending<T> start(MemorySegment memory, Asked<T> call) throws InterruptedException {
        if (call.timeLimit.isNegative()) {
            throw new IllegalArgumentException("timeLimit: zero or more, got " + call.timeLimit);
        }
        MemorySegment request = remote.forAllThreads(memory);
        traffic.readers.requireMayWait();
        long begun = System.nanoTime();
        long nanos = Math.min(TimeUnit.NANOSECONDS.convert(call.timeLimit), OwnCalls.LIMIT_NANOS_MAX);
        traffic.lock.lock();
        try {
            if (request.byteSize() > remote.maxActiveBytes()) {
                call.fail(
                        CallException.Reason.FAILED,
                        "a request of " + request.byteSize() + " bytes, of at most " + remote.maxActiveBytes());
                return call.pending;
            }
            while (!asked.hasPlace() && !remote.peer().isLost()) {
                if (nanos == 0) {
                    freed.await();
                } else if (freed.awaitNanos(nanos - (System.nanoTime() - begun)) <= 0) {
                    call.fail(CallException.Reason.TIMEOUT, "no place for it within " + call.timeLimit);
                    return call.pending;
                }
            }
            call.pending.withdrawnBy(() -> cancel(call));
            long now = System.nanoTime();
            long left = nanos == 0 ? 0 : Math.max(1, nanos - (now - begun));
            call.bind(request);
            asked.begin(call, request, left, now);
            traffic.departures.pump(remote);
            if (left > 0 && !call.pending.isDone()) {
                lookWithin(left, now);
            }
            return call.pending;
        } finally {
            if (asked.hasPlace()) {
                freed.signal(); // this thread may have taken the word from another
            }
            traffic.lock.unlock();
        }
    }

    private boolean cancel(Asked<?> call) {
        traffic.lock.lock();
        try {
            boolean isGivenUp = asked.giveUp(call);
            if (isGivenUp) {
                call.pending.cancelled();
                traffic.departures.pump(remote);
            }
            return isGivenUp;
        } finally {
            traffic.lock.unlock();
        }
    }

    // ---- time limits

    /// Has the time limits looked at by then. Calls are answered long before that, so a timer for each would cost
    /// more than the call. One look serves all that begin until then.
    private void lookWithin(long nanos, long now) {
        long planned = now + nanos;
        if (!isTimed || planned - nextLook < 0) {
            isTimed = true;
            nextLook = planned;
            var _ = worker.timer().schedule(() -> look(planned), nanos, TimeUnit.NANOSECONDS);
        }
    }

    private void look(long planned) {
        traffic.lock.lock();
        try {
            if (!isTimed || planned != nextLook) {
                return; // an earlier look has come in its place
            }
            isTimed = false;
            long now = System.nanoTime();
            for (OwnCalls.Asked each : asked.onDeadline(now)) {
                if (each instanceof Asked<?> late) {
                    late.fail(CallException.Reason.TIMEOUT, "no answer within " + late.timeLimit);
                }
            }
            long next = asked.nanosToDeadline(now);
            if (next >= 0) {
                lookWithin(next, now);
            }
            traffic.departures.pump(remote);
        } finally {
            traffic.lock.unlock();
        }
    }

    // ---- arrivals

    /// Where a message goes. Empty when it breaks the rules.
    Optional<Incoming> incoming(Kind kind, long tag, long length) {
        return switch (kind) {
            case CALL ->
                length > options.maxCallBytes() ? Optional.empty() : answering.onCall(new Request(tag, length));
            case ANSWER, FAULT -> asked.onAnswer(kind, tag, length);
            case CANCEL -> Optional.of(answering.onCancel(tag));
            case TAGGED, ACTIVE -> Optional.empty();
        };
    }

    // ---- the peer calls

    /// A call of the peer, whose memory is claimed when there is room for it.
    private final class Request extends PeerCalls.Request {
        private final long length;
        private final Optional<Duration> limit;
        /// Its own; null before it has begun, and when the reader answers.
        private @Nullable Thread thread;

        private MemorySegment memory = MemorySegment.NULL;
        private boolean isClaimed;

        Request(long tag, long length) {
            super(answering, tag);
            this.length = length;
            this.limit = Optional.of(PeerCalls.limitMillis(tag))
                    .filter(millis -> millis > 0)
                    .map(Duration::ofMillis);
        }

        /// Native when it is long, so that the device puts it there.
        @Override
        public MemorySegment memory() {
            traffic.budget.take(length);
            isClaimed = true;
            memory = length > options.frameBytes()
                    ? Arena.ofAuto().allocate(length, Long.BYTES)
                    : MemorySegment.ofArray(new byte[(int) length]);
            return memory;
        }

        @Override
        protected void begin() {
            Worker.Answering how = worker.answering();
            if (how.isAtOnce()) {
                traffic.handlers.answer(() -> run(how.by()));
            } else {
                thread = Thread.ofVirtual().name("verbena-call").start(() -> run(how.by()));
                traffic.hasBegunCalls = true;
            }
        }

        @Override
        protected void interrupt() {
            if (thread != null) {
                thread.interrupt();
            }
        }

        private void run(CallHandler handler) {
            try {
                answer(this, handler);
            } finally {
                drop();
            }
        }

        @Override
        protected void drop() {
            if (isClaimed) {
                isClaimed = false;
                traffic.release(length);
            }
        }
    }

    private void answer(Request request, CallHandler handler) {
        Kind kind = Kind.ANSWER;
        MemorySegment answer;
        try {
            answer = request.isCancelled()
                    ? MemorySegment.NULL
                    : remote.forAllThreads(handler.handle(new Call(remote, request.memory, request.limit)));
        } catch (Throwable e) { // whatever the program's code does is the caller's to know
            kind = Kind.FAULT;
            answer = PeerCalls.fault(String.valueOf(e));
        }
        traffic.lock.lock();
        try {
            answering.answer(request, kind, answer);
            traffic.departures.pump(remote);
        } finally {
            traffic.lock.unlock();
        }
    }

    // ---- the end

    /// The peer is lost. Under the lock.
    void lose(String why) {
        asked.lose(why);
        answering.lose();
        freed.signalAll();
    }

    /// Calls to the peer that it has not answered. Under the lock.
    int unanswered() {
        return asked.unanswered();
    }
}
