package verbena.nic.link.sharing;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.wire.Frame;

/// The choice of the link that gets the requests of connection management for a service. The links meet at an
/// address, or in a host.
///
/// A link claims a service by listening at its name, so only one link has the service. When the service is open too,
/// its requests that arrive here are handed out. A request for a service of another link goes there; a request for a
/// service of no link waits for a moment ([EarlyRequests]).
///
/// For one thread at a time, except [#due()] and [#waiting()].
public final class Services implements EarlyRequests.Servers {
    /// The result for a request that is offered to another link.
    public enum Offer {
        /// The link has it.
        TAKEN,
        /// The link has the service, and no room.
        NO_ROOM,
        /// The result when no link has the service.
        UNWANTED
    }

    /// The paths to other links.
    @FunctionalInterface
    public interface Ways {
        /// Offers a request to the link that listens at the name of the service.
        Offer offer(Service service, Frame frame);
    }

    private final Ways ways;
    private final EarlyRequests early;
    private final Map<Service, PeerSocket> claimed = new HashMap<>();
    private final Set<Service> open = new HashSet<>();

    public Services(Ways ways, EarlyRequests early) {
        this.ways = ways;
        this.early = early;
    }

    // --- services of this link

    public boolean isClaimed(Service service) {
        return claimed.containsKey(service);
    }

    /// Notes that this link has the name of the service.
    public void claim(Service service, PeerSocket socket) {
        PeerSocket before = claimed.put(service, socket);
        assert before == null : "claimed already";
    }

    /// Opens the service: its requests are handed out from now on, and waiting requests as soon as possible.
    public void open(Service service) {
        open.add(service);
        early.hurry();
    }

    /// Closes and releases the service; returns the socket with its name, which the caller has to close, or null.
    @Nullable
    public PeerSocket release(Service service) {
        open.remove(service);
        return claimed.remove(service);
    }

    /// Returns whether a request is for an open service of this link.
    @Override
    public boolean isServedHere(Frame frame) {
        return open.contains(Service.of(frame));
    }

    // --- services of other links

    /// Passes a waiting request to the link that now has the service. False when no other link has it, or that link
    /// has no room now.
    @Override
    public boolean passOn(Frame frame) {
        return offer(frame) == Offer.TAKEN;
    }

    /// Passes a request to the link that has the service, or drops it when that link has no room. False when no
    /// other link has the service.
    public boolean forward(Frame frame) {
        return offer(frame) != Offer.UNWANTED;
    }

    private Offer offer(Frame frame) {
        Service service = Service.of(frame);
        return isClaimed(service) ? Offer.UNWANTED : ways.offer(service, frame);
    }

    // --- services of no link

    /// Keeps a request that no link serves yet, for a while. False when the frame is not a request, when this link
    /// serves it, or when too many requests wait.
    public boolean keep(Frame frame) {
        return Addressee.of(frame) == Addressee.SERVICE && !isServedHere(frame) && early.hold(frame);
    }

    /// Fills `frames[from]` and its successors with requests that have waited and are now for this link, at most
    /// `count`; returns how many.
    public int handOut(Frame[] frames, int from, int count) {
        return early.handOut(frames, from, count, this);
    }

    /// Returns whether [#handOut] has something to do.
    public boolean isDue() {
        return early.isDue();
    }

    /// Returns when [#handOut] has something to do; [Long#MAX_VALUE] when no request waits. Any thread.
    public long due() {
        return early.due();
    }

    /// Returns how many requests wait. Any thread.
    public long waiting() {
        return early.size();
    }
}
