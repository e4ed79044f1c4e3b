package verbena.messages.protocol;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The calls of another end to this one, without input and output. Each is answered once, also when its caller has
/// given up: only then the caller may begin another one in its place. Guarded by the worker.
public final class PeerCalls {
    /// A call of the peer. Its message goes where the program says.
    public abstract static class Request implements Incoming {
        private final PeerCalls calls;
        private final int number;
        private volatile boolean isCancelled;
        private boolean isBegun;

        /// @param tag of its message
        protected Request(PeerCalls calls, long tag) {
            this.calls = calls;
            this.number = OwnCalls.number(tag);
        }

        /// Begins the call when its request is there: [PeerCalls#answer] follows.
        protected abstract void begin();

        /// Interrupts the call, for whose answer its caller does not wait. Called after [#begin()], perhaps
        /// often.
        protected abstract void interrupt();

        /// Gives back what it has: it does not begin. Nothing when it has nothing.
        protected abstract void drop();

        /// Returns whether its caller has given up. Any thread may ask.
        public final boolean isCancelled() {
            return isCancelled;
        }

        @Override
        public final void done(PeerOwner from, long tag, long length) {
            if (isCancelled) { // the caller may have changed what was read
                drop();
                calls.cancelled(this);
            } else {
                isBegun = true;
                begin();
            }
        }

        @Override
        public final void failed(String why) {
            calls.calls.remove(number, this);
            drop();
        }
    }

    private final Peer peer;
    private final int places;
    private final Map<Integer, Request> calls = new HashMap<>();

    /// @param places of calls under way from the peer
    public PeerCalls(Peer peer, int places) {
        this.peer = peer;
        this.places = places;
    }

    /// Returns the time that the caller waits, in milliseconds; 0 for no limit.
    ///
    /// @param tag of a call
    public static long limitMillis(long tag) {
        return tag & 0xFFFF_FFFFL;
    }

    /// Handles a call that has come. Returns empty when it exceeds the limit, or has the number of another.
    public Optional<Incoming> onCall(Request request) {
        if (calls.size() >= 2 * places || calls.putIfAbsent(request.number, request) != null) {
            return Optional.empty();
        }
        return Optional.of(request);
    }

    /// Handles a call whose caller has given up. Its answer may be on its way.
    public Incoming onCancel(long tag) {
        Request request = calls.get(OwnCalls.number(tag));
        if (request != null && !request.isCancelled) {
            request.isCancelled = true;
            if (request.isBegun) {
                request.interrupt();
            } else if (peer.drop(request)) {
                request.drop();
                cancelled(request);
            }
        }
        return Incoming.NOWHERE;
    }

    private void cancelled(Request request) {
        answer(request, Kind.FAULT, fault("it was cancelled"));
    }

    /// Sends the answer to a call, once. Does nothing when the peer is lost.
    ///
    /// @param kind [Kind#ANSWER] or [Kind#FAULT]
    public void answer(Request request, Kind kind, MemorySegment answer) {
        if (!calls.remove(request.number, request)) {
            return;
        }
        peer.send(new Plain(kind, OwnCalls.tag(request.number, 0), answer) {
            @Override
            public void failed(String why) { // by the memory of the program
                if (!peer.isLost() && kind == Kind.ANSWER) {
                    peer.send(new Plain(Kind.FAULT, tag, fault(why)));
                }
            }
        });
    }

    /// Returns the text of a failure in the form in which it is sent.
    public static MemorySegment fault(String why) {
        byte[] text = why.getBytes(StandardCharsets.UTF_8);
        return MemorySegment.ofArray(text).asSlice(0, Math.min(text.length, OwnCalls.FAULT_BYTES_MAX));
    }

    /// Interrupts all calls of the peer, which is lost.
    public void lose() {
        var all = List.copyOf(calls.values());
        calls.clear();
        for (Request each : all) {
            if (each.isBegun) {
                each.interrupt();
            }
        }
    }

    /// Calls that are not answered.
    public int size() {
        return calls.size();
    }
}
