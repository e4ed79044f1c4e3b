package verbena.cm;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.SidrRep;
import verbena.wire.cm.SidrReq;

/// Requests for the queue pairs of datagram services (IBTA 12.11): those of this side that wait for answers, and
/// those of peers. What peers leave behind has limits ([CmLimits]).
final class SidrRequests {
    /// The peer's name for a request.
    private record Name(Gid from, int requestId) {}

    private final CmOutbox outbox;
    private final CmLimits limits;
    private final Runnable decided;
    private final Map<Long, SidrInquiry.Listener> services = new HashMap<>();
    /// This side's.
    private final Map<Integer, SidrRequest> sent = new HashMap<>();
    /// Those of peers that wait for their answers, and those that have one; the oldest first.
    private final LinkedHashMap<Name, SidrInquiry> open = new LinkedHashMap<>();

    private final LinkedHashMap<Name, SidrInquiry> answered = new LinkedHashMap<>();
    /// The names of the former, by peer.
    private final Crowd<Name> waiting = new Crowd<>(Name::from);

    /// @param decided runs when a request of a peer is answered or forgotten
    SidrRequests(CmOutbox outbox, CmLimits limits, Runnable decided) {
        this.outbox = outbox;
        this.limits = limits;
        this.decided = decided;
    }

    // ---- this side asks

    @Nullable
    SidrRequest ask(
            CmRoute route,
            long serviceId,
            int responseTimeout,
            int maxRetries,
            PrivateData privateData,
            SidrRequest.Listener listener,
            long now) {
        if (sent.size() >= limits.connections()) {
            return null;
        }
        int id = outbox.newId(sent::containsKey);
        var message = new SidrReq(outbox.newTransaction(id), id, 0xFFFF, serviceId, privateData);
        long retryNanos = CmTimer.answerNanos(0, responseTimeout);
        var request = new SidrRequest(outbox, this::forget, listener, route, message, maxRetries, retryNanos);
        sent.put(id, request);
        request.begin(now);
        return request;
    }

    void onReply(SidrRep answer, CmRoute route) {
        SidrRequest request = sent.get(answer.requestId());
        if (request == null || !request.route().equals(route)) {
            outbox.count(CmCounter.STRAYS);
            return;
        }
        request.onAnswer(answer);
    }

    private void forget(SidrRequest request) {
        sent.remove(request.id(), request);
    }

    // ---- peers ask

    boolean answer(long serviceId, SidrInquiry.Listener listener) {
        return services.putIfAbsent(serviceId, listener) == null;
    }

    void unanswer(long serviceId) {
        services.remove(serviceId);
    }

    /// Returns whether a peer has asked for a service at an own address, and has no answer yet.
    boolean isAsked(long serviceId, Gid local) {
        return open.values().stream()
                .anyMatch(one -> one.request().serviceId() == serviceId
                        && one.route().local().equals(local));
    }

    void onRequest(SidrReq request, CmRoute route) {
        var name = new Name(route.remote(), request.requestId());
        SidrInquiry before = open.get(name);
        if (before == null) {
            before = answered.get(name);
        }
        if (before != null && before.request().equals(request)) {
            outbox.count(CmCounter.DUPLICATES);
            if (before.answer() != null) {
                outbox.sendAgain(route, before.answer());
            }
            return;
        }
        var inquiry = new SidrInquiry(outbox, this::answered, route, request);
        SidrInquiry.Listener listener = services.get(request.serviceId());
        if (listener == null) {
            outbox.count(CmCounter.REFUSED);
            inquiry.answer(SidrRep.NOT_SUPPORTED, 0, 0, PrivateData.NONE);
            return;
        }
        close(name);
        if (open.size() >= limits.halfOpen()) {
            outbox.count(CmCounter.SHED);
            if (waiting.of(route.remote()) >= limits.perPeer()) {
                return; // the peer asks again
            }
            Name beyond = waiting.oldestBeyond(limits.perPeer());
            close(beyond == null ? waiting.oldest() : beyond);
        }
        open.put(name, inquiry);
        boolean _ = waiting.add(name);
        listener.onRequest(inquiry);
    }

    private void close(Name name) {
        if (open.remove(name) != null) {
            boolean _ = waiting.remove(name);
            decided.run();
        }
    }

    /// Keeps a request that was answered, for a peer that does not get the answer and asks again.
    private void answered(SidrInquiry inquiry) {
        var name = new Name(inquiry.route().remote(), inquiry.request().requestId());
        if (inquiry.equals(open.get(name))) {
            close(name);
            if (answered.size() >= limits.halfOpen()) {
                answered.pollFirstEntry();
            }
            answered.putLast(name, inquiry);
        }
    }

    // ---- figures

    int services() {
        return services.size();
    }

    /// Returns the number of requests of either side without an answer.
    int open() {
        return sent.size() + open.size();
    }
}
