package verbena.messages;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import verbena.messages.protocol.Incoming;
import verbena.messages.protocol.PeerOwner;

/// The handlers of active messages, the messages that wait for them, and calls that are answered at once. They come
/// while the reader holds the lock of [Traffic]; the reader runs their handlers when it has given the lock back, before
/// it reads on. A message that lies in a frame stays there until its handler has returned; only then its sender gets a
/// credit for it.
final class Handlers {
    /// Numbers of handlers are below.
    static final int NUMBERS = 1024;

    private final Traffic traffic;
    private final WorkerOptions options;
    private final AtomicReferenceArray<@Nullable ActiveHandler> handlers = new AtomicReferenceArray<>(NUMBERS);
    private ArrayList<ActiveMessage> waiting = new ArrayList<>();
    /// Of the reader: those whose handlers it runs.
    private ArrayList<ActiveMessage> running = new ArrayList<>();
    /// Calls to answer, and those that the reader answers.
    private ArrayList<Runnable> calls = new ArrayList<>();

    private ArrayList<Runnable> answered = new ArrayList<>();
    /// Messages in frames, used again and again.
    private final ArrayList<ActiveMessage> spare = new ArrayList<>();
    /// The slot of the frame that is being taken apart; negative for none, or when a message has it.
    private int arriving = -1;

    private @Nullable Rail rail;
    private long dropped;

    Handlers(Traffic traffic, WorkerOptions options) {
        this.traffic = traffic;
        this.options = options;
    }

    void set(int number, ActiveHandler handler) {
        if (number < 0 || number >= NUMBERS) {
            throw new IllegalArgumentException("number: 0 to " + (NUMBERS - 1) + ", got " + number);
        }
        handlers.set(number, handler);
    }

    private boolean isKnown(int number) {
        boolean isKnown = number >= 0 && number < NUMBERS && handlers.get(number) != null;
        if (!isKnown) {
            dropped++;
        }
        return isKnown;
    }

    long dropped() {
        return dropped;
    }

    // ---- arrivals, under the lock

    /// A frame is about to be taken apart.
    void frame(Rail itsRail, int slot) {
        rail = itsRail;
        arriving = slot;
    }

    /// Whether a message stays in the frame.
    boolean hasFrame() {
        return arriving < 0;
    }

    /// A whole message; false when it is dropped.
    boolean arrived(RemoteWorker from, int number, MemorySegment frame, int at, int headerBytes, long dataBytes) {
        if (!isKnown(number)) {
            return false;
        }
        ActiveMessage message = spare.isEmpty() ? new ActiveMessage(traffic) : spare.removeLast();
        message.set(from, number, rail, arriving, frame, at, headerBytes, dataBytes);
        arriving = -1;
        waiting.add(message);
        return true;
    }

    /// Where a long message goes; empty to refuse it.
    Optional<Incoming> offered(RemoteWorker from, int number, byte[] header, long length) {
        if (length > options.maxCallBytes() || length == 0) {
            return Optional.empty();
        }
        return Optional.of(isKnown(number) ? new Reading(from, number, header, length) : Incoming.NOWHERE);
    }

    /// A message that is read.
    private final class Reading implements Incoming {
        private final RemoteWorker from;
        private final int number;
        private final byte[] header;
        private final long length;
        private MemorySegment buffer = MemorySegment.NULL;

        Reading(RemoteWorker from, int number, byte[] header, long length) {
            this.from = from;
            this.number = number;
            this.header = header;
            this.length = length;
        }

        @Override
        public MemorySegment memory() {
            traffic.budget.take(length);
            buffer = traffic.longMessages.buffers.take(length);
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
                traffic.longMessages.buffers.give(buffer);
                traffic.release(length);
            }
        }
    }

    /// A call that the reader answers.
    void answer(Runnable call) {
        calls.add(call);
    }

    // ---- the reader, without the lock

    /// Runs the handlers of all that has come.
    void run() {
        if (waiting.isEmpty() && calls.isEmpty()) { // what comes at this moment is told after it
            return;
        }
        traffic.lock.lock();
        try {
            ArrayList<ActiveMessage> come = waiting;
            waiting = running;
            running = come;
            ArrayList<Runnable> called = calls;
            calls = answered;
            answered = called;
        } finally {
            traffic.lock.unlock();
        }
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
            traffic.handled(running);
            running.clear();
        }
        for (int i = 0; i < answered.size(); i++) {
            answered.get(i).run();
        }
        answered.clear();
    }

    /// Messages whose handlers have returned. Under the lock.
    void recycle(List<ActiveMessage> messages) {
        for (int i = 0; i < messages.size(); i++) {
            ActiveMessage message = messages.get(i);
            message.end();
            if (message.slot() >= 0) {
                spare.add(message);
            }
        }
    }
}
