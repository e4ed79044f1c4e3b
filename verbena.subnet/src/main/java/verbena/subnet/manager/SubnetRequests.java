package verbena.subnet.manager;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import verbena.subnet.Datagram;
import verbena.subnet.MadRoute;
import verbena.wire.mad.Mad;
import verbena.wire.mad.Smp;

/// The subnet management packets that a manager has sent by directed route and waits for. Each is sent again
/// until it is answered or has been sent [#TIMES]; at most [#WINDOW] are under way.
final class SubnetRequests {
    static final int WINDOW = 32;
    static final int TIMES = 4;
    static final long TIMEOUT_NANOS = 200_000_000L;

    /// A handler of the answer: the whole datagram, or null when there is none or its status is bad.
    interface Answered {
        void on(@Nullable MemorySegment mad);
    }

    private static final class Request {
        final MemorySegment mad;
        final Answered answered;
        int sent;
        long dueNanos;

        Request(MemorySegment mad, Answered answered) {
            this.mad = mad;
            this.answered = answered;
        }
    }

    private final int port;
    private final long mkey;
    private final Queue<Request> waiting = new ArrayDeque<>();
    private final Map<Long, Request> underWay = new HashMap<>();
    private final Queue<Datagram> departures;
    private long transactionId;
    private long failed;

    SubnetRequests(int port, long mkey, long firstTransactionId, Queue<Datagram> departures) {
        this.port = port;
        this.mkey = mkey;
        transactionId = firstTransactionId;
        this.departures = departures;
    }

    void get(byte[] path, int attribute, int modifier, Answered answered) {
        ask(path, Mad.METHOD_GET, attribute, modifier, _ -> {}, answered);
    }

    void ask(byte[] path, int method, int attribute, int modifier, Consumer<MemorySegment> data, Answered answered) {
        MemorySegment mad = Mad.allocate();
        transactionId++;
        Smp.writeDirected(mad, method, transactionId, attribute, modifier, mkey, path);
        data.accept(Smp.data(mad));
        waiting.add(new Request(mad, answered));
    }

    boolean isIdle() {
        return waiting.isEmpty() && underWay.isEmpty();
    }

    /// Returns the number of requests that were never answered, or with a bad status.
    long failed() {
        return failed;
    }

    /// Forgets all that is asked.
    void clear() {
        waiting.clear();
        underWay.clear();
    }

    /// Sends waiting requests as long as there is room.
    void advance(long nowNanos) {
        while (underWay.size() < WINDOW && !waiting.isEmpty()) {
            Request next = waiting.remove();
            underWay.put(Mad.transactionId(next.mad), next);
            send(next, nowNanos);
        }
    }

    private void send(Request request, long nowNanos) {
        request.sent++;
        request.dueNanos = nowNanos + TIMEOUT_NANOS;
        departures.add(new Datagram(
                MadRoute.subnet(port, Smp.PERMISSIVE_LID, Smp.PERMISSIVE_LID, 0), Mad.copyOf(request.mad)));
    }

    /// Handles the arrival of an answer. It is for this manager if its number is known and the attribute the same.
    void onAnswer(MemorySegment mad) {
        Request request = underWay.get(Mad.transactionId(mad));
        if (request != null
                && Mad.attributeId(mad) == Mad.attributeId(request.mad)
                && Mad.attributeModifier(mad) == Mad.attributeModifier(request.mad)) {
            underWay.remove(Mad.transactionId(mad));
            finish(request, Smp.status(mad) == 0 ? mad : null);
        }
    }

    private void finish(Request request, @Nullable MemorySegment mad) {
        if (mad == null) {
            failed++;
        }
        request.answered.on(mad);
    }

    long deadlineNanos() {
        long first = Long.MAX_VALUE;
        for (Request request : underWay.values()) {
            first = Math.min(first, request.dueNanos);
        }
        return first;
    }

    void onDeadline(long nowNanos) {
        for (Request request : java.util.List.copyOf(underWay.values())) {
            if (request.dueNanos <= nowNanos) {
                if (request.sent < TIMES) {
                    send(request, nowNanos);
                } else if (underWay.remove(Mad.transactionId(request.mad)) != null) {
                    finish(request, null);
                }
            }
        }
    }
}
