package verbena.messages;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.Incoming;
import verbena.messages.protocol.Kind;
import verbena.messages.protocol.Outgoing;
import verbena.messages.protocol.Peer;

/// The calls between this worker and one peer, both ways. A call's number is in the upper half of the tag of all its
/// messages; the lower half of the call's own has the time limit in ms, 0 for none.
final class Calls {
    private static final int FAULT_BYTES_MAX = 1000;

    /// Memory for what is not wanted any more.
    static final Incoming NOWHERE = new Incoming() {
        @Override
        public MemorySegment memory() {
            return MemorySegment.NULL;
        }

        @Override
        public void done(Peer from, long tag, long length) {}

        @Override
        public void failed(String why) {}
    };

    /// A call of this side. Under the lock.
    private abstract static class Asked {
        /// Null for none.
        @Nullable
        Duration timeLimit;

        /// With a limit: when it fails, by [System#nanoTime].
        long deadline;

        /// The longest answer, in bytes.
        abstract long takes();

        /// Memory for an answer of so many bytes.
        abstract MemorySegment memory(long length);

        abstract void answered(MemorySegment answer, long length);

        abstract void fail(RuntimeException why);
    }

    private final RemoteWorker remote;
    private final Worker worker;
    private final Traffic traffic;
    private final WorkerOptions options;
    private final Semaphore room;

    // Under the lock of the traffic.
    private final Map<Integer, Asked> asked = new HashMap<>();
    private final Map<Integer, Request> answering = new HashMap<>();
    private int last;
    /// Whether a look at the time limits is to come, and when the next one is.
    private boolean isTimed;

    private long nextLook;

    Calls(RemoteWorker remote, Worker worker, Traffic traffic, WorkerOptions options) {
        this.remote = remote;
        this.worker = worker;
        this.traffic = traffic;
        this.options = options;
        this.room = new Semaphore(options.maxCalls());
    }

    // ---- this side calls

    Pending<byte[]> begin(MemorySegment request, Duration timeLimit) throws InterruptedException {
        var pending = new Pending<byte[]>(traffic.readers);
        var call = new Asked() {
            @Override
            long takes() {
                return options.maxCallBytes();
            }

            @Override
            MemorySegment memory(long length) {
                return MemorySegment.ofArray(new byte[(int) length]);
            }

            @Override
            void answered(MemorySegment answer, long length) {
                pending.complete((byte[]) answer.heapBase().orElseThrow());
            }

            @Override
            void fail(RuntimeException why) {
                pending.fail(why);
            }
        };
        start(call, pending, request, timeLimit);
        return pending;
    }

    Pending<Long> begin(MemorySegment request, MemorySegment into, Duration timeLimit) throws InterruptedException {
        traffic.longMessages.requireWritable("into", into);
        var pending = new Pending<Long>(traffic.readers);
        var call = new Asked() {
            @Override
            long takes() {
                return Long.MAX_VALUE;
            }

            @Override
            MemorySegment memory(long length) {
                return into;
            }

            @Override
            void answered(MemorySegment answer, long length) {
                pending.complete(length);
            }

            @Override
            void fail(RuntimeException why) {
                pending.fail(why);
            }
        };
        start(call, pending, request, timeLimit);
        return pending;
    }

    private void start(Asked call, Pending<?> pending, MemorySegment memory, Duration timeLimit)
            throws InterruptedException {
        MemorySegment request = remote.forAllThreads(memory);
        if (timeLimit.isNegative()) {
            throw new IllegalArgumentException("timeLimit: zero or more, got " + timeLimit);
        }
        traffic.readers.requireMayWait();
        room.acquire();
        long millis = timeLimit.isZero() ? 0 : Math.clamp(timeLimit.toMillis(), 1, Integer.MAX_VALUE);
        long nanos = millis == Integer.MAX_VALUE ? TimeUnit.MILLISECONDS.toNanos(millis) : timeLimit.toNanos();
        traffic.lock.lock();
        try {
            int number = ++last;
            asked.put(number, call);
            pending.withdrawnBy(() -> {
                boolean isTaken = giveUp(number);
                if (isTaken) {
                    pending.cancelled();
                }
                return isTaken;
            });
            if (millis > 0) {
                call.timeLimit = timeLimit;
                call.deadline = System.nanoTime() + nanos;
                lookAt(call.deadline);
            }
            remote.post(new Plain(Kind.CALL, tag(number, millis), request) {
                @Override
                public void failed(String why) {
                    Asked waiting = finish(number);
                    if (waiting != null) {
                        waiting.fail(remote.lost("call", why));
                    }
                }
            });
        } finally {
            traffic.lock.unlock();
        }
    }

    private static long tag(int number, long millis) {
        return (long) number << 32 | millis;
    }

    private static int number(long tag) {
        return (int) (tag >>> 32);
    }

    // ---- time limits

    /// Has the time limits looked at by then. Calls are answered long before that, so a timer for each would cost more
    /// than the call. One look serves all that begin until then.
    private void lookAt(long deadline) {
        if (!isTimed || deadline - nextLook < 0) {
            isTimed = true;
            nextLook = deadline;
            var _ = worker.timer().schedule(() -> look(deadline), deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        }
    }

    private void look(long planned) {
        var late = new HashMap<Integer, Asked>();
        traffic.lock.lock();
        try {
            if (!isTimed || planned != nextLook) {
                return; // an earlier look has come in its place
            }
            isTimed = false;
            long now = System.nanoTime();
            asked.forEach((number, call) -> {
                if (call.timeLimit != null && call.deadline - now <= 0) {
                    late.put(number, call);
                }
            });
            asked.values().stream()
                    .filter(call -> call.timeLimit != null && call.deadline - now > 0)
                    .mapToLong(call -> call.deadline - now)
                    .min()
                    .ifPresent(left -> lookAt(now + left));
        } finally {
            traffic.lock.unlock();
        }
        late.forEach((number, call) -> {
            if (giveUp(number)) {
                call.fail(new CallException(
                        CallException.Reason.TIMEOUT, "call: " + remote + ": no answer within " + call.timeLimit));
            }
        });
    }

    /// False when the answer is there, or on its way into its memory.
    private boolean giveUp(int number) {
        traffic.lock.lock();
        try {
            if (finish(number) == null) {
                return false;
            }
            remote.post(new Plain(Kind.CANCEL, tag(number, 0), MemorySegment.NULL));
            return true;
        } finally {
            traffic.lock.unlock();
        }
    }

    /// The call does not wait any more.
    private @Nullable Asked finish(int number) {
        Asked call = asked.remove(number);
        if (call != null) {
            room.release();
        }
        return call;
    }

    // ---- arrivals

    /// Where a message goes. Empty when it is too long, or one too many.
    Optional<Incoming> incoming(Kind kind, long tag, long length) {
        return switch (kind) {
            case CALL -> called(tag, length);
            case ANSWER, FAULT -> answered(kind, tag, length);
            case CANCEL -> {
                Request request = answering.get(number(tag));
                if (request != null) {
                    request.interrupt();
                }
                yield Optional.of(NOWHERE);
            }
            case TAGGED, ACTIVE -> Optional.empty();
        };
    }

    private Optional<Incoming> answered(Kind kind, long tag, long length) {
        Asked call = asked.get(number(tag));
        if (call == null) {
            return Optional.of(NOWHERE); // it was given up
        }
        if (kind == Kind.FAULT && length > FAULT_BYTES_MAX) {
            return Optional.empty();
        }
        finish(number(tag));
        if (kind == Kind.ANSWER && call.takes() < length) {
            call.fail(new CallException(
                    CallException.Reason.FAILED,
                    "call: " + remote + ": an answer of " + length + " bytes, of at most " + call.takes()));
            return Optional.of(NOWHERE);
        }
        MemorySegment memory = kind == Kind.FAULT ? MemorySegment.ofArray(new byte[(int) length]) : call.memory(length);
        return Optional.of(new Incoming() {
            @Override
            public MemorySegment memory() {
                return memory;
            }

            @Override
            public void done(Peer from, long itsTag, long bytes) {
                if (kind == Kind.FAULT) {
                    call.fail(new CallException(
                            CallException.Reason.FAILED,
                            "call: " + remote + ": the peer: "
                                    + new String(RemoteWorker.bytes(memory), StandardCharsets.UTF_8)));
                } else {
                    call.answered(memory, bytes);
                }
            }

            @Override
            public void failed(String why) {
                call.fail(remote.lost("call", why));
            }
        });
    }

    // ---- the peer calls

    private Optional<Incoming> called(long tag, long length) {
        int number = number(tag);
        if (answering.size() >= options.maxCalls() * 2 || answering.containsKey(number)) {
            return Optional.empty(); // a caller that waits for room has fewer
        }
        if (length > options.maxCallBytes()) {
            remote.peer()
                    .send(new Plain(
                            Kind.FAULT,
                            tag(number, 0),
                            fault("a request of " + length + " bytes, of at most " + options.maxCallBytes())));
            return Optional.of(NOWHERE);
        }
        long millis = tag & 0xFFFF_FFFFL;
        Optional<Duration> limit = millis == 0 ? Optional.empty() : Optional.of(Duration.ofMillis(millis));
        var request = new Request(number, length, limit);
        answering.put(number, request);
        return Optional.of(request);
    }

    /// A call of the peer, whose memory is claimed when there is room for it.
    private final class Request implements Incoming {
        private final int number;
        private final long length;
        private final Optional<Duration> limit;
        /// Its own; null before it has begun, and when the reader answers.
        private @Nullable Thread thread;

        private MemorySegment memory = MemorySegment.NULL;
        private boolean isClaimed;

        Request(int number, long length, Optional<Duration> limit) {
            this.number = number;
            this.length = length;
            this.limit = limit;
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
        public void done(Peer from, long itsTag, long bytes) {
            Worker.Answering how = worker.answering();
            if (how.isAtOnce()) {
                traffic.handlers.answer(() -> run(how.by()));
            } else {
                thread = Thread.ofVirtual().name("verbena-call").start(() -> run(how.by()));
                traffic.hasBegunCalls = true;
            }
        }

        void interrupt() {
            if (thread != null) {
                thread.interrupt();
            }
        }

        @Override
        public void failed(String why) {
            answering.remove(number, this);
            release();
        }

        private void run(CallHandler handler) {
            try {
                answer(this, handler, new Call(remote, memory, limit));
            } finally {
                release();
            }
        }

        private void release() {
            if (isClaimed) {
                traffic.release(length);
            }
        }
    }

    private void answer(Request request, CallHandler handler, Call call) {
        Kind kind = Kind.ANSWER;
        MemorySegment answer;
        try {
            answer = remote.forAllThreads(handler.handle(call));
        } catch (Throwable e) { // whatever the program's code does is the caller's to know
            kind = Kind.FAULT;
            answer = fault(String.valueOf(e));
        }
        traffic.lock.lock();
        try {
            if (answering.remove(request.number, request)) {
                remote.post(new Plain(kind, tag(request.number, 0), answer));
            }
        } finally {
            traffic.lock.unlock();
        }
    }

    private static MemorySegment fault(String why) {
        byte[] text = why.getBytes(StandardCharsets.UTF_8);
        return MemorySegment.ofArray(text).asSlice(0, Math.min(text.length, FAULT_BYTES_MAX));
    }

    /// A message that no program waits for.
    private static class Plain extends Outgoing {
        Plain(Kind kind, long tag, MemorySegment data) {
            super(kind, tag, data);
        }

        @Override
        public void done() {}

        @Override
        public void failed(String why) {}
    }

    // ---- the end

    /// The peer is lost. Under the lock.
    void lose(String why) {
        for (int number : new ArrayList<>(asked.keySet())) {
            Asked call = finish(number);
            if (call != null) {
                call.fail(remote.lost("call", why));
            }
        }
        answering.values().forEach(Request::interrupt);
        answering.clear();
    }
}
