package verbena.messages;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.Incoming;
import verbena.messages.protocol.Kind;
import verbena.messages.protocol.PeerCalls;
import verbena.messages.rail.Recipient;
import verbena.messages.rail.Remote;

/// The messages of a peer that are for no receive: its calls, by [PeerCalls], the answers to calls of this worker,
/// and active messages.
final class PeerRequests implements Recipient {
    private final Remote remote;
    private final RemoteWorker from;
    private final Traffic traffic;
    private final Handlers handlers;
    private final Calls calls;
    private final PeerCalls answering;
    private final WorkerOptions options;
    private final CallHeaders headers;

    /// @param places of calls that both ends have agreed on
    PeerRequests(
            Remote remote,
            RemoteWorker from,
            Traffic traffic,
            Handlers handlers,
            Calls calls,
            int places,
            WorkerOptions options,
            CallHeaders headers) {
        this.remote = remote;
        this.from = from;
        this.traffic = traffic;
        this.handlers = handlers;
        this.calls = calls;
        this.answering = new PeerCalls(remote.peer(), places);
        this.options = options;
        this.headers = headers;
    }

    @Override
    public Optional<Incoming> incoming(Kind kind, long tag, long length) {
        return switch (kind) {
            case CALL ->
                length > (long) options.maxCallBytes() + headers.bytesMax()
                        ? Optional.empty()
                        : answering.onCall(new Request(tag, length));
            case ANSWER, FAULT -> calls.onAnswer(kind, tag, length);
            case CANCEL -> Optional.of(answering.onCancel(tag));
            case TAGGED, ACTIVE -> Optional.empty();
        };
    }

    @Override
    public boolean active(int number, MemorySegment frame, int at, int headerBytes, long dataBytes) {
        return handlers.arrived(remote, number, frame, at, headerBytes, dataBytes);
    }

    @Override
    public Optional<Incoming> active(int number, byte[] header, long length) {
        return handlers.offered(remote, number, header, length);
    }

    @Override
    public void lost(String why) {
        calls.lose(why);
        answering.lose();
        from.lost.complete(remote.lost("whenLost", why));
    }

    /// A call of the peer, whose memory is claimed when there is room for it.
    private final class Request extends PeerCalls.Request {
        private final long length;
        private final Optional<Duration> limit;
        /// The thread of the call; null before it has begun, and when the reader answers.
        private @Nullable Thread thread;

        private MemorySegment memory = MemorySegment.NULL;
        private boolean isClaimed;
        private Kind kind = Kind.ANSWER;
        private MemorySegment answer = MemorySegment.NULL;

        Request(long tag, long length) {
            super(answering, tag);
            this.length = length;
            this.limit = Optional.of(PeerCalls.limitMillis(tag))
                    .filter(millis -> millis > 0)
                    .map(Duration::ofMillis);
        }

        /// Returns memory for the answer: native when it is long, so that the device puts it there.
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
            Handlers.Answering how = handlers.answering();
            if (how.isAtOnce()) {
                handlers.answerAtOnce(() -> run(how.by()));
            } else {
                thread = Thread.ofVirtual().name("verbena-call").start(() -> run(how.by()));
                handlers.hasBegunCall();
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
                handle(handler);
                traffic.locked(this, Request::answer);
            } finally {
                drop();
            }
        }

        private void handle(CallHandler handler) {
            try {
                if (!isCancelled()) {
                    MemorySegment result = headers.handle(handler, from, memory, limit);
                    answer = traffic.devices.longMessages.forAllThreads(
                            Objects.requireNonNull(result, "the handler has returned no answer"));
                }
            } catch (Throwable e) { // whatever the program's code does is the caller's to know
                kind = Kind.FAULT;
                MessageCounters.FAULTS.increment();
                answer = PeerCalls.fault(String.valueOf(e));
            }
        }

        private void answer() {
            MessageCounters.ANSWERED_CALLS.increment();
            answering.answer(this, kind, answer);
            answer = MemorySegment.NULL; // the message has it now
            traffic.pump(remote);
        }

        @Override
        protected void drop() {
            if (isClaimed) {
                isClaimed = false;
                traffic.release(length);
            }
        }
    }
}
