package verbena.check.rules;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import verbena.check.CallPlace;
import verbena.check.Checker;
import verbena.check.Findings;
import verbena.check.Rule;
import verbena.check.TrackedPair;
import verbena.check.TrackedRequest;
import verbena.check.TrackedRequest.Flag;
import verbena.check.TrackedRequest.Piece;
import verbena.check.Watcher;
import verbena.check.races.Intervals;
import verbena.verbs.QpType;
import verbena.verbs.spi.SendOperation;

/// Watches the local bytes of outstanding requests: they belong to the device, and to one request.
final class Buffers extends Watcher {
    /// Bytes of a piece that are all looked at; of a longer one, as many at each end.
    private static final long WHOLE = 64 << 10;
    /// The same for a receive.
    private static final long WHOLE_RECEIVE = 4 << 10;

    private final Checker checker;
    private final Findings findings;
    /// The outstanding requests that fill bytes, and those that send them. Each under its own monitor.
    private final Intervals<TrackedRequest> fills = new Intervals<>();

    private final Intervals<TrackedRequest> gathers = new Intervals<>();

    Buffers(Checker checker) {
        super(Set.of(Event.POST, Event.SUBMIT, Event.END, Event.DROP));
        this.checker = checker;
        this.findings = checker.findings();
    }

    private static boolean gathers(TrackedRequest request) {
        SendOperation operation = request.operation();
        return operation != null && operation.carriesData() && !request.isInline() && !request.has(Flag.FAULTY);
    }

    @Override
    public void onPost(TrackedRequest request) {
        if (request.fillsMemory()) {
            checkPieces(request);
            visit(fills, request, other -> twoFill(request, other));
            visit(gathers, request, other -> fillsWhatIsSent(request, other));
            add(fills, request);
            if (request.isReceive()) {
                request.note(sum(request, WHOLE_RECEIVE));
            }
        } else if (gathers(request)) {
            visit(fills, request, other -> sendsWhatIsFilled(request, other));
            add(gathers, request);
            request.note(sum(request, WHOLE));
        }
    }

    private void checkPieces(TrackedRequest request) {
        Piece[] pieces = request.pieces();
        for (int i = 1; i < pieces.length; i++) {
            for (int j = 0; j < i; j++) {
                if (pieces[i].overlaps(pieces[j])) {
                    findings.tell(
                            Rule.TARGET_SHARED,
                            "two pieces of a " + name(request) + " have the same bytes.",
                            request.place(),
                            "the other is of the same request",
                            request.place());
                    return;
                }
            }
        }
    }

    @Override
    public void onSubmit(TrackedPair pair, List<TrackedRequest> requests) {
        boolean isMeeting = pair.options().type() == QpType.RC && Credits.hasMessage(requests);
        TrackedPair peer = isMeeting ? checker.peer(pair).orElse(null) : null;
        if (peer != null && !peer.queues().receives().isShared()) {
            Credits.eachMet(peer.queues().receives(), requests, pair.messages(), this::checkUntouched);
        }
    }

    /// Tells of a receive whose bytes are not what they were when it was posted. The device has not written there:
    /// the message that it is for is only now being posted.
    private void checkUntouched(TrackedRequest message, TrackedRequest receive) {
        if (receive.isNoted() && !receive.isShared() && receive.note() != sum(receive, WHOLE_RECEIVE)) {
            receive.share();
            findings.tell(
                    Rule.TARGET_WRITTEN,
                    "bytes of a posted receive changed before the " + name(message) + " that it is for was posted.",
                    message.place(),
                    "the receive was posted",
                    receive.place());
        }
    }

    private boolean twoFill(TrackedRequest request, TrackedRequest other) {
        request.share();
        other.share();
        findings.tell(
                Rule.TARGET_SHARED,
                "a " + name(request) + " fills bytes that an outstanding " + name(other) + " fills too.",
                request.place(),
                "the other was posted",
                other.place());
        return true;
    }

    private boolean fillsWhatIsSent(TrackedRequest request, TrackedRequest sent) {
        sent.share();
        boolean isOrdered = !request.isReceive() && request.poster() == sent.poster();
        if (!isOrdered) {
            findings.tell(
                    Rule.SEND_OVERLAP,
                    "a " + name(request) + " fills bytes that an outstanding " + name(sent) + " still sends.",
                    request.place(),
                    "the bytes were sent",
                    sent.place());
        }
        return false; // each of them is shared
    }

    private boolean sendsWhatIsFilled(TrackedRequest request, TrackedRequest filled) {
        request.share();
        if (filled.isReceive() || filled.poster() != request.poster()) {
            findings.tell(
                    Rule.SEND_OVERLAP,
                    "a " + name(request) + " sends bytes that an outstanding " + name(filled) + " fills.",
                    request.place(),
                    "the bytes are filled",
                    filled.place());
        } else if (!request.has(Flag.FENCED)) {
            findings.tell(
                    Rule.READ_UNFENCED,
                    "a " + name(request) + " sends the result of an outstanding " + name(filled)
                            + ", and has no fence.",
                    request.place(),
                    "the result was asked for",
                    filled.place());
        }
        return true;
    }

    private static String name(TrackedRequest request) {
        SendOperation operation = request.operation();
        return operation == null ? "receive" : operation.name();
    }

    @Override
    public void onEnd(TrackedRequest request, boolean isOk) {
        if (isOk) {
            expectUnchanged(request);
        }
        TrackedPair pair = TrackedPair.of(request);
        if (request.isReceive() && pair != null && isSentOnce(pair.options().type())) {
            for (TrackedRequest each : pair.sendsUnderWay()) {
                expectUnchanged(each);
                each.share();
            }
        }
        onDrop(request);
    }

    /// Returns whether a device reads the bytes of a request once. What arrives later may be the answer to them, and
    /// a program that has an answer knows that its bytes have left. A reliable device may still have to send them
    /// again.
    private static boolean isSentOnce(QpType type) {
        return type == QpType.UD || type == QpType.UC;
    }

    private void expectUnchanged(TrackedRequest request) {
        if (gathers(request) && !request.isShared() && request.note() != sum(request, WHOLE)) {
            findings.tell(
                    Rule.SEND_CHANGED,
                    "bytes of a " + name(request) + " changed between its posting and its completion.",
                    CallPlace.here(),
                    "it was posted",
                    request.place());
        }
    }

    @Override
    public void onDrop(TrackedRequest request) {
        if (request.fillsMemory()) {
            remove(fills, request);
        } else if (gathers(request)) {
            remove(gathers, request);
        }
    }

    private static void add(Intervals<TrackedRequest> to, TrackedRequest request) {
        synchronized (to) {
            for (Piece each : request.pieces()) {
                if (each.memory() != null && each.length() > 0) {
                    to.add(each.memory().address(), each.length(), request);
                }
            }
        }
    }

    private static void remove(Intervals<TrackedRequest> from, TrackedRequest request) {
        synchronized (from) {
            for (Piece each : request.pieces()) {
                if (each.memory() != null && each.length() > 0) {
                    from.remove(each.memory().address(), each.length(), request);
                }
            }
        }
    }

    /// Finds the requests that have a byte of `request`.
    ///
    /// @param isEnough is asked of each, and ends the search
    private static void visit(
            Intervals<TrackedRequest> in, TrackedRequest request, Predicate<TrackedRequest> isEnough) {
        synchronized (in) {
            for (Piece each : request.pieces()) {
                if (each.memory() != null
                        && each.length() > 0
                        && in.overlapping(each.memory().address(), each.length(), isEnough)) {
                    return;
                }
            }
        }
    }

    private static long sum(TrackedRequest request, long whole) {
        long sum = 0;
        for (Piece each : request.pieces()) {
            MemorySegment memory = each.memory();
            if (memory != null) {
                sum = Sums.of(memory, whole, sum);
            }
        }
        return sum;
    }
}
