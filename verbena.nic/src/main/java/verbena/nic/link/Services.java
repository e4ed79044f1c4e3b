package verbena.nic.link;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.wire.Frame;

/// Which link of a shared address gets the requests of connection management for which service.
///
/// A link claims a service by listening at its name, so that one link has it. When the service is open too, requests
/// that arrive here are handed out. A request for a service of another link goes there; one for a service of no link
/// waits a moment ([EarlyRequests]).
///
/// For one thread at a time, but for [#due()] and [#waiting()].
final class Services implements EarlyRequests.Servers {
    /// What becomes of a request that is offered to another link.
    enum Offer {
        /// The link has it.
        TAKEN,
        /// The link has the service, and no room.
        NO_ROOM,
        /// No link has the service.
        UNWANTED
    }

    /// How requests get to other links.
    @FunctionalInterface
    interface Ways {
        /// Offers a request to the link that listens at the name of the service.
        Offer offer(String name, Frame frame);
    }

    private final Ways ways;
    private final EarlyRequests early;
    private final Map<Long, PeerSocket> claimed = new HashMap<>();
    private final Set<Long> open = new HashSet<>();

    Services(Ways ways, EarlyRequests early) {
        this.ways = ways;
        this.early = early;
    }

    /// Where the link listens that has claimed a service.
    static String name(long serviceId) {
        return String.format("service-%016x", serviceId);
    }

    // --- this link's

    boolean isClaimed(long serviceId) {
        return claimed.containsKey(serviceId);
    }

    /// This link has the name of the service.
    void claim(long serviceId, PeerSocket socket) {
        PeerSocket before = claimed.put(serviceId, socket);
        assert before == null : "claimed already";
    }

    /// Requests for the service are handed out from now on, those that wait as soon as possible.
    void open(long serviceId) {
        open.add(serviceId);
        early.hurry();
    }

    /// Ends both; returns the socket with the name, which is to be closed, or null.
    @Nullable
    PeerSocket release(long serviceId) {
        open.remove(serviceId);
        return claimed.remove(serviceId);
    }

    @Override
    public boolean isServedHere(long serviceId) {
        return open.contains(serviceId);
    }

    // --- those of others

    /// A request that has waited goes to the link that has the service now; false when no other link has it, or that
    /// link has no room now.
    @Override
    public boolean passOn(Frame frame, long serviceId) {
        return offer(frame, serviceId) == Offer.TAKEN;
    }

    /// Passes a request to the link that has the service, or drops it when that link has no room; false when no
    /// other link has it.
    boolean forward(Frame frame, long serviceId) {
        return offer(frame, serviceId) != Offer.UNWANTED;
    }

    private Offer offer(Frame frame, long serviceId) {
        return isClaimed(serviceId) ? Offer.UNWANTED : ways.offer(name(serviceId), frame);
    }

    // --- those of no link

    /// Keeps a request for a while that no link serves yet; false when the frame is none, when this link serves it,
    /// or when too many wait.
    boolean keep(Frame frame) {
        if (Addressee.of(frame) != Addressee.SERVICE) {
            return false;
        }
        long serviceId = Addressee.service(frame);
        return !isServedHere(serviceId) && early.hold(frame, serviceId);
    }

    /// Fills `frames[from]` and its successors with requests that have waited and are this link's now, at most
    /// `count`; returns how many.
    int handOut(Frame[] frames, int from, int count) {
        return early.handOut(frames, from, count, this);
    }

    /// Whether [#handOut] has something to do.
    boolean isDue() {
        return early.isDue();
    }

    /// When it has; [Long#MAX_VALUE] when no request waits. Any thread.
    long due() {
        return early.due();
    }

    /// How many requests wait. Any thread.
    long waiting() {
        return early.size();
    }
}
