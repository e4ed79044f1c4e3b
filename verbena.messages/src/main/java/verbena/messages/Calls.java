package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import verbena.messages.protocol.Incoming;
import verbena.messages.protocol.Kind;
import verbena.messages.protocol.OwnCalls;
import verbena.messages.rail.Remote;

/// The calls of this worker to one peer, by [OwnCalls]: threads that wait for a place, the timer, and memory.
final class Calls {
    /// An observer of calls of this side.
    @FunctionalInterface
    interface Beginning {
        /// Observes a call that begins, and returns its request with a header.
        MemorySegment begin(Pending<?> result, MemorySegment request);
    }

    private final Remote remote;
    private final Traffic traffic;
    private final ScheduledExecutorService timer;
    private final int maxAnswerBytes;
    private final long maxRequestBytes;
    private final Beginning beginning;
    /// A call may begin that could not.
    private final Condition freed;

    // Under the lock of the worker.
    private final OwnCalls asked;
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
        this.freed = traffic.newCondition();
        this.asked = new OwnCalls(remote.peer(), places, freed::signal);
    }

    // ---- this side calls

    /// A call of this side.
    private abstract class Asked<T> extends OwnCalls.Asked {
        final Pending<T> pending = new Pending<>(traffic.readers);
        /// Zero for none.
        final Duration timeLimit;
        private MemorySegment request = MemorySegment.NULL;
        private long begun;
        private boolean isRequestBound;
        private MemorySegment answer = MemorySegment.NULL;

        Asked(Duration timeLimit) {
            this.timeLimit = timeLimit;
        }

        private void begin() throws InterruptedException {
            MemorySegment memory = request;
            request = MemorySegment.NULL; // the message has it now
            Calls.this.begin(this, memory);
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
    Pending<byte[]> begin(MemorySegment request, Duration timeLimit) throws InterruptedException {
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
    Pending<Long> begin(MemorySegment request, MemorySegment into, Duration timeLimit) throws InterruptedException {
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

    private <T> Pending<T> start(MemorySegment memory, Asked<T> call) throws InterruptedException {
        traffic.readers.requireMayWait();
        call.begun = System.nanoTime();
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

    /// Waits for a place, but not longer than the caller wants to wait for the answer. Under the lock.
    private void begin(Asked<?> call, MemorySegment request) throws InterruptedException {
        long nanos = Math.min(TimeUnit.NANOSECONDS.convert(call.timeLimit), OwnCalls.LIMIT_NANOS_MAX);
        try {
            if (request.byteSize() > maxRequestBytes) {
                call.fail(
                        CallException.Reason.FAILED,
                        "a request of " + request.byteSize() + " bytes, of at most " + maxRequestBytes);
                return;
            }
            while (!asked.hasPlace() && !remote.peer().isLost()) {
                if (nanos == 0) {
                    freed.await();
                } else if (freed.awaitNanos(nanos - (System.nanoTime() - call.begun)) <= 0) {
                    call.fail(CallException.Reason.TIMEOUT, "no place for it within " + call.timeLimit);
                    return;
                }
            }
            call.pending.withdrawnBy(() -> cancel(call));
            long now = System.nanoTime();
            long left = nanos == 0 ? 0 : Math.max(1, nanos - (now - call.begun));
            call.bind(request);
            MessageCounters.CALLS.increment();
            asked.begin(call, request, left, now);
            traffic.pump(remote);
            if (left > 0 && !call.pending.isDone()) {
                lookWithin(left, now);
            }
        } finally {
            if (asked.hasPlace()) {
                freed.signal(); // this thread may have taken the word from another
            }
        }
    }

    private boolean cancel(Asked<?> call) {
        return traffic.ask(() -> {
            boolean isGivenUp = asked.giveUp(call);
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
                late.fail(CallException.Reason.TIMEOUT, "no answer within " + late.timeLimit);
            }
        }
        long next = asked.nanosToDeadline(now);
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
        asked.lose(why);
        freed.signalAll();
    }

    /// Calls to the peer that it has not answered. Under the lock.
    int unanswered() {
        return asked.unanswered();
    }
}
