package verbena.messages.protocol;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.verbs.RemoteMemory;

/// Two ends that call each other, without devices and threads. The test moves frames, READs, handlers and the
/// time.
final class CallEnds {
    static final int FRAME_BYTES = 64;

    /// A call of an end, with what its caller was told.
    static final class Asked extends OwnCalls.Asked {
        final List<String> told = new ArrayList<>();
        byte[] memory = {};
        boolean isBound;
        boolean isRequestDone;

        @Override
        protected MemorySegment memory(Kind kind, long length) {
            memory = new byte[(int) length];
            return MemorySegment.ofArray(memory);
        }

        @Override
        protected void answered(Kind kind, long length, boolean isWaiting) {
            if (isWaiting) {
                told.add(
                        kind == Kind.FAULT
                                ? "fault " + new String(memory, StandardCharsets.UTF_8)
                                : "answer " + memory.length);
            }
        }

        @Override
        protected void unanswered() {}

        @Override
        protected void requestDone() {
            isRequestDone = true;
        }

        @Override
        protected void failed(String why) {
            told.add("failed: " + why);
        }

        @Override
        protected boolean isBound() {
            return isBound;
        }
    }

    /// A call that has come to an end.
    static final class Request extends PeerCalls.Request {
        final byte[] memory;
        boolean isBegun;
        boolean isInterrupted;
        boolean isDropped;

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
        protected void interrupt() {
            isInterrupted = true;
        }

        @Override
        protected void drop() {
            isDropped = true;
        }
    }

    /// One end.
    final class End implements PeerOwner {
        final Peer peer;
        final OwnCalls own;
        final PeerCalls theirs;
        final ArrayDeque<byte[]> frames = new ArrayDeque<>();
        final ArrayDeque<Peer.Read> reads = new ArrayDeque<>();
        final Map<Long, MemorySegment> exposed = new HashMap<>();
        final List<Request> requests = new ArrayList<>();
        final List<Asked> asked = new ArrayList<>();
        boolean hasRoom = true;
        int timesFreed;

        @Nullable
        String wrong;

        End(int places) {
            this.peer = new Peer(this, new Matching(1 << 20), new PeerLimits(FRAME_BYTES, 4, 1 << 20, 16, 16, 1));
            this.own = new OwnCalls(peer, places, () -> timesFreed++);
            this.theirs = new PeerCalls(peer, places);
        }

        /// Begins a call.
        Asked call(int bytes, long limitNanos) {
            var call = new Asked();
            asked.add(call);
            own.begin(call, MemorySegment.ofArray(new byte[bytes]), limitNanos, now);
            return call;
        }

        void answer(Request request, int bytes) {
            theirs.answer(request, Kind.ANSWER, MemorySegment.ofArray(new byte[bytes]));
        }

        /// Sends the next frame, if there is one.
        boolean send() {
            byte[] frame = new byte[FRAME_BYTES];
            int bytes = peer.poll(MemorySegment.ofArray(frame));
            if (bytes > 0) {
                frames.add(java.util.Arrays.copyOf(frame, bytes));
            }
            return bytes > 0;
        }

        /// Receives the next frame of the other end, if there is one.
        boolean receive() {
            byte[] frame = other(this).frames.poll();
            if (frame != null && wrong == null) {
                wrong = peer.onFrame(MemorySegment.ofArray(frame), frame.length);
            }
            return frame != null;
        }

        /// Begins the next READ, if there is one.
        boolean beginRead() {
            Peer.Read next = peer.pollRead();
            if (next != null) {
                reads.add(next);
            }
            return next != null;
        }

        /// Ends the oldest READ, if there is one.
        boolean endRead() {
            Peer.Read read = reads.poll();
            if (read != null) {
                MemorySegment from =
                        other(this).exposed.get(read.at().getFirst().address());
                MemorySegment.copy(from, 0, read.into(), 0, read.into().byteSize());
                peer.onRead(read);
            }
            return read != null;
        }

        @Override
        public Optional<Incoming> incoming(Kind kind, long tag, long length) {
            return switch (kind) {
                case CALL -> {
                    requests.add(new Request(theirs, tag, length));
                    yield theirs.onCall(requests.getLast());
                }
                case ANSWER, FAULT -> own.onAnswer(kind, tag, length);
                case CANCEL -> Optional.of(theirs.onCancel(tag));
                case TAGGED, ACTIVE -> Optional.empty();
            };
        }

        @Override
        public boolean active(int handler, MemorySegment frame, int at, int headerBytes, long bytes) {
            return false;
        }

        @Override
        public Optional<Incoming> active(int handler, byte[] header, long length) {
            return Optional.empty();
        }

        @Override
        public boolean admits(long length) {
            return hasRoom;
        }

        @Override
        public List<RemoteMemory> expose(int offer, MemorySegment data, boolean mayChange) {
            exposed.put((long) offer, mayChange ? MemorySegment.ofArray(data.toArray(JAVA_BYTE)) : data);
            return List.of(new RemoteMemory(offer, 7, data.byteSize()));
        }

        @Override
        public void withdraw(int offer, boolean isRead) {
            exposed.remove((long) offer);
        }

        void lose(String why) {
            peer.lose(why, List.copyOf(reads));
            reads.clear();
            own.lose(why);
            theirs.lose();
        }
    }

    final End a;
    final End b;
    long now;

    CallEnds(int placesOfA, int placesOfB) {
        this.a = new End(placesOfA);
        this.b = new End(placesOfB);
    }

    private End other(End of) {
        return of == a ? b : a;
    }

    /// Moves all that can move, but handlers and the time.
    void settle() {
        boolean isBusy = true;
        while (isBusy) {
            isBusy = false;
            for (End each : List.of(a, b)) {
                isBusy |= each.send();
                isBusy |= each.receive();
                isBusy |= each.beginRead();
                isBusy |= each.endRead();
            }
        }
    }

    /// Lets the time pass, and tells those whose limit has passed with it.
    List<OwnCalls.Asked> pass(long nanos) {
        now += nanos;
        return a.own.onDeadline(now);
    }
}
