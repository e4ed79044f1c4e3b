package verbena.messages.protocol;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The calls of this end to another, without input and output. The caller passes the time. Guarded by the worker.
///
/// **Places.** The two ends have agreed how many calls may be under way. A caller that gives up is told at once, and
/// so is the other end; but the call is under way until that has answered, however late. Calls that were given up
/// have as many places again. When they have used those up, they keep the places of others. So the other end never
/// has more than twice as many calls, and a call more than that breaks the rules.
///
/// **Memory.** A call that may be given up has memory of its caller neither in a request that the other end reads,
/// nor in an answer that is being read: the caller may use it for something else at any moment.
public final class OwnCalls {
    /// Bytes of the text of a failure, at most.
    public static final int FAULT_BYTES_MAX = 1000;

    private static final long NANOS_OF_MILLI = 1_000_000;
    /// No limit is longer, so that the difference of two times is right: 146 years.
    public static final long LIMIT_NANOS_MAX = Long.MAX_VALUE / 2;

    /// A call of this end.
    public abstract static class Asked {
        private int number;
        private boolean isTimed;
        private long deadlineNanos;
        /// The message that asks; it may still wait for its turn.
        private @Nullable Outgoing message;

        private boolean isAnswered;
        /// Whether its caller waits.
        private boolean isWaiting = true;

        /// Returns memory for an answer of so many bytes; a later answer may be in other memory.
        ///
        /// @param kind [Kind#ANSWER] or [Kind#FAULT]
        protected abstract MemorySegment memory(Kind kind, long length);

        /// Handles the answer, which is in its memory.
        ///
        /// @param length bytes of the answer, perhaps more than the memory has
        /// @param isWaiting false when the caller has given up
        protected abstract void answered(Kind kind, long length, boolean isWaiting);

        /// Handles an answer that was being read and does not come. [#failed] may have been called before, or
        /// follows.
        protected abstract void unanswered();

        /// Handles the end of the request: the other end needs its memory no more.
        protected void requestDone() {}

        /// Fails the call, for which its caller waits in vain.
        protected abstract void failed(String why);

        /// Returns whether memory of the caller is under way, so that it cannot give up. Never with a limit.
        protected boolean isBound() {
            return false;
        }
    }

    private final Peer peer;
    private final int places;
    private final Runnable freed;
    private final Map<Integer, Asked> calls = new HashMap<>();
    private int last;
    /// Calls that the other end has not answered, and those of them whose callers wait.
    private int unanswered;

    private int waiting;

    /// @param places of calls under way to the peer
    /// @param freed is run when a call may have become possible that was not
    public OwnCalls(Peer peer, int places, Runnable freed) {
        this.peer = peer;
        this.places = places;
        this.freed = freed;
    }

    /// Returns whether one more call may begin.
    public boolean hasPlace() {
        return waiting < places && unanswered < 2 * places;
    }

    /// Begins a call. Ask for [#hasPlace()] before.
    ///
    /// @param limitNanos how long the caller waits, up to [#LIMIT_NANOS_MAX]; 0 for no limit
    public void begin(Asked call, MemorySegment request, long limitNanos, long nowNanos) {
        do {
            last++;
        } while (calls.containsKey(last));
        call.number = last;
        call.isTimed = limitNanos > 0;
        call.deadlineNanos = nowNanos + limitNanos;
        long millis = limitNanos > 0 ? Math.clamp(limitNanos / NANOS_OF_MILLI, 1, Integer.MAX_VALUE) : 0;
        var message = new Outgoing(Kind.CALL, tag(last, millis), request, call.isTimed) {
            @Override
            public void done() {
                call.requestDone();
            }

            @Override
            public void failed(String why) {
                call.requestDone();
                answered(call);
                if (over(call)) {
                    call.failed(why);
                }
            }
        };
        call.message = message;
        calls.put(last, call);
        unanswered++;
        waiting++;
        peer.send(message);
    }

    static long tag(int number, long millis) {
        return (long) number << 32 | millis;
    }

    static int number(long tag) {
        return (int) (tag >>> 32);
    }

    // ---- time, and callers that give up

    /// Returns the time until [#onDeadline] is to be called; negative for never.
    ///
    /// @return nanoseconds from now on
    public long nanosToDeadline(long nowNanos) {
        long least = -1;
        for (Asked each : calls.values()) {
            if (each.isTimed && each.isWaiting) {
                long left = Math.max(0, each.deadlineNanos - nowNanos);
                least = least < 0 ? left : Math.min(least, left);
            }
        }
        return least;
    }

    /// Takes the calls whose time has passed from the others. Their callers have to be told.
    public List<Asked> onDeadline(long nowNanos) {
        var late = new ArrayList<Asked>();
        for (Asked each : calls.values()) {
            if (each.isTimed && each.isWaiting && each.deadlineNanos - nowNanos <= 0) {
                late.add(each);
            }
        }
        late.removeIf(each -> !giveUp(each));
        return late;
    }

    /// Ends the wait of the caller. Returns false when the call is over already, or its memory is under way.
    public boolean giveUp(Asked call) {
        if (!call.isWaiting) {
            return false;
        }
        if (!call.isAnswered && peer.withdraw(call.message)) {
            call.requestDone();
            answered(call);
        } else if (call.isBound()) {
            return false;
        }
        call.isWaiting = false;
        if (call.isAnswered) {
            calls.remove(call.number);
        } else {
            waiting--;
            peer.send(new Plain(Kind.CANCEL, tag(call.number, 0), MemorySegment.NULL));
            freed.run();
        }
        return true;
    }

    /// Handles a call that the other end has no more.
    private void answered(Asked call) {
        if (!call.isAnswered) {
            call.isAnswered = true;
            unanswered--;
            if (call.isWaiting) {
                waiting--;
            }
            assert 0 <= waiting && waiting <= unanswered : waiting + " of " + unanswered;
            freed.run();
        }
    }

    /// Ends a call; returns false when its caller does not wait any more.
    private boolean over(Asked call) {
        boolean wasWaiting = call.isWaiting;
        call.isWaiting = false;
        calls.remove(call.number);
        return wasWaiting;
    }

    // ---- arrivals

    /// Returns the destination of the answer to a call. Empty when it breaks the rules: it was not asked for, or
    /// comes again.
    public Optional<Incoming> onAnswer(Kind kind, long tag, long length) {
        Asked call = calls.get(number(tag));
        if (call == null || call.isAnswered || (kind == Kind.FAULT && length > FAULT_BYTES_MAX)) {
            return Optional.empty();
        }
        answered(call);
        if (!call.isWaiting) {
            calls.remove(call.number);
            return Optional.of(Incoming.NOWHERE);
        }
        MemorySegment memory = call.memory(kind, length);
        return Optional.of(new Incoming() {
            @Override
            public MemorySegment memory() {
                return memory;
            }

            @Override
            public void done(PeerOwner from, long itsTag, long bytes) {
                call.answered(kind, bytes, over(call));
            }

            @Override
            public void failed(String why) {
                call.unanswered();
                if (over(call)) {
                    call.failed(why);
                }
            }
        });
    }

    // ---- the end

    /// Fails all calls because the peer is lost. Callers that wait get the failure.
    public void lose(String why) {
        var all = List.copyOf(calls.values());
        for (Asked each : all) {
            answered(each);
            if (over(each)) {
                each.failed(why);
            }
        }
    }

    /// Calls that the other end has not answered.
    public int unanswered() {
        return unanswered;
    }
}
