package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.Incoming;
import verbena.messages.protocol.PeerOwner;
import verbena.messages.rail.FrameInHand;
import verbena.messages.rail.Rail;
import verbena.messages.rail.Remote;

/// The handlers of active messages, the messages that wait for them, and calls that are answered at once. They come
/// while the reader holds the lock of [Traffic]; the reader runs their handlers when it has given the lock back,
/// before it reads on. A message that lies in a frame stays there until its handler has returned; only then its
/// sender gets a credit for it.
final class Handlers {
    /// The handler of calls, and whether the thread that reads runs it.
    record Answering(CallHandler by, boolean isAtOnce) {}

    private final Traffic traffic;
    private final int maxBytes;
    private volatile Answering answering = new Answering(
            _ -> {
                throw new UnsupportedOperationException("no handler for calls");
            },
            false);
    private final AtomicReferenceArray<@Nullable ActiveHandler> handlers =
            new AtomicReferenceArray<>(RemoteWorker.NUMBERS);
    private ArrayList<ActiveMessage> waiting = new ArrayList<>();
    /// Messages of the reader, which runs their handlers.
    private ArrayList<ActiveMessage> running = new ArrayList<>();
    /// Calls to answer, and those that the reader answers.
    private ArrayList<Runnable> calls = new ArrayList<>();

    private ArrayList<Runnable> answered = new ArrayList<>();
    /// Messages in frames, used again and again.
    private final ArrayList<ActiveMessage> spare = new ArrayList<>();
    private long dropped;
    /// Whether threads of calls were started that the reader has not given way to.
    private boolean hasBegunCalls;

    /// @param maxBytes of an active message
    Handlers(Traffic traffic, int maxBytes) {
        this.traffic = traffic;
        this.maxBytes = maxBytes;
    }

    /// Sets what answers calls.
    void answer(CallHandler by, boolean isAtOnce) {
        answering = new Answering(by, isAtOnce);
    }

    Answering answering() {
        return answering;
    }

    void set(int number, ActiveHandler handler) {
        if (number < 0 || number >= RemoteWorker.NUMBERS) {
            throw new IllegalArgumentException("number: 0 to " + (RemoteWorker.NUMBERS - 1) + ", got " + number);
        }
        handlers.set(number, handler);
    }

    private boolean isKnown(int number) {
        boolean isKnown = number >= 0 && number < RemoteWorker.NUMBERS && handlers.get(number) != null;
        if (!isKnown) {
            dropped++;
        }
        return isKnown;
    }

    long dropped() {
        return dropped;
    }

    // ---- arrivals, under the lock

    /// Handles a whole message; returns false when it is dropped.
    boolean arrived(Remote from, int number, MemorySegment frame, int at, int headerBytes, long dataBytes) {
        if (!isKnown(number)) {
            return false;
        }
        ActiveMessage message = spare.isEmpty() ? new ActiveMessage(traffic) : spare.removeLast();
        FrameInHand inHand = traffic.devices.frame;
        message.set(from, number, inHand.rail(), inHand.slot(), frame, at, headerBytes, dataBytes);
        inHand.keep();
        waiting.add(message);
        return true;
    }

    /// Returns the destination of a long message; empty to refuse it.
    Optional<Incoming> offered(Remote from, int number, byte[] header, long length) {
        if (length > maxBytes || length == 0) {
            return Optional.empty();
        }
        return Optional.of(isKnown(number) ? new Reading(from, number, header, length) : Incoming.NOWHERE);
    }

    /// A message that is read.
    private final class Reading implements Incoming {
        private final Remote from;
        private final int number;
        private final byte[] header;
        private final long length;
        private MemorySegment buffer = MemorySegment.NULL;

        Reading(Remote from, int number, byte[] header, long length) {
            this.from = from;
            this.number = number;
            this.header = header;
            this.length = length;
        }

        @Override
        public MemorySegment memory() {
            traffic.budget.take(length);
            buffer = traffic.devices.longMessages.buffers.take(length);
            return buffer.asSlice(0, length);
        }

        @Override
        public void done(PeerOwner peer, long tag, long bytes) {
            var message = new ActiveMessage(traffic);
            message.set(from, number, MemorySegment.ofArray(header), buffer, length, length);
            waiting.add(message);
        }

        @Override
        public void failed(String why) {
            if (buffer.byteSize() > 0) {
                traffic.devices.longMessages.buffers.give(buffer);
                traffic.release(length);
            }
        }
    }

    /// Makes the reader answer a call.
    void answerAtOnce(Runnable call) {
        calls.add(call);
    }

    /// Counts a thread for a call that was started.
    void hasBegunCall() {
        hasBegunCalls = true;
    }

    private void take() {
        ArrayList<ActiveMessage> come = waiting;
        waiting = running;
        running = come;
        ArrayList<Runnable> called = calls;
        calls = answered;
        answered = called;
    }

    /// Returns the frames of messages whose handlers have returned, so that they can be used again.
    private void handled() {
        for (int i = 0; i < running.size(); i++) {
            ActiveMessage message = running.get(i);
            Rail rail = message.inbox();
            if (rail != null) {
                if (!rail.isClosed) {
                    rail.give(message.slot());
                }
                message.sender().peer().handled();
            }
        }
        for (int i = 0; i < running.size(); i++) {
            if (running.get(i).inbox() != null) {
                traffic.pump(running.get(i).sender());
            }
        }
        for (int i = 0; i < running.size(); i++) {
            ActiveMessage message = running.get(i);
            message.end();
            if (message.slot() >= 0) {
                spare.add(message);
            }
        }
        running.clear();
    }

    // ---- the reader, without the lock

    /// Runs the handlers of all that has come, and gives way to the threads of calls that have begun.
    void run() {
        if (!waiting.isEmpty() || !calls.isEmpty()) { // what comes at this moment is told after it
            handle();
        }
        giveWayToCalls();
    }

    /// Their threads may need this processor.
    @SuppressWarnings("ThreadPriorityCheck") // correct without the hint
    private void giveWayToCalls() {
        if (hasBegunCalls) {
            hasBegunCalls = false;
            Thread.yield();
        }
    }

    private void handle() {
        traffic.locked(this, Handlers::take);
        int n = running.size();
        for (int i = 0; i < n; i++) {
            ActiveMessage message = running.get(i);
            ActiveHandler handler = handlers.get(message.number());
            try {
                if (handler != null) {
                    handler.handle(message);
                }
            } catch (Throwable e) { // the code of the program may throw anything
                traffic.lose(message.sender(), "a handler of active messages has failed: " + e);
            }
        }
        if (n > 0) {
            traffic.locked(this, Handlers::handled);
        }
        for (int i = 0; i < answered.size(); i++) {
            answered.get(i).run();
        }
        answered.clear();
    }
}
