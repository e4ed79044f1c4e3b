package verbena.nic.link;

import java.lang.foreign.Arena;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;
import verbena.wire.Frame;

/// The services of a [ShmLink], which may be claimed at each of its addresses by itself: [Services] for each, over
/// one store of requests that came early.
///
/// For one thread at a time, except [#due()] and [#waiting()].
final class ShmServices implements EarlyRequests.Servers {
    private final Services.Ways ways;
    private final EarlyRequests early;
    private final Map<Gid, Services> here = new HashMap<>();
    /// At addresses where this link has claimed nothing.
    private final Services elsewhere;

    ShmServices(Services.Ways ways, Arena arena) {
        this.ways = ways;
        this.early = new EarlyRequests(arena, System::nanoTime);
        this.elsewhere = new Services(ways, early);
    }

    /// The name at which the link listens that has claimed a service at an address.
    static String name(long serviceId, Gid address) {
        return at(Services.name(serviceId), address);
    }

    /// The same of a service by its own name.
    static String at(String name, Gid address) {
        return name + "@" + address;
    }

    private Services of(Frame frame) {
        return here.isEmpty()
                ? elsewhere
                : here.getOrDefault(new Gid(frame.destinationHigh, frame.destinationLow), elsewhere);
    }

    // --- services of this link

    boolean isClaimed(long serviceId, Gid local) {
        Services services = here.get(local);
        return services != null && services.isClaimed(serviceId);
    }

    /// Notes that this link listens at the service's name.
    void claim(long serviceId, Gid local, PeerSocket socket) {
        here.computeIfAbsent(local, _ -> new Services(ways, early)).claim(serviceId, socket);
    }

    void open(long serviceId, Gid local) {
        Services services = here.get(local);
        if (services != null) {
            services.open(serviceId);
        }
    }

    /// Closes and releases the service; returns the socket with its name, which the caller has to close, or null.
    @Nullable
    PeerSocket release(long serviceId, Gid local) {
        Services services = here.get(local);
        return services == null ? null : services.release(serviceId);
    }

    // --- requests

    /// Whether a request goes to another link, or waits; false when it is for this link, which may refuse it.
    boolean takes(Frame frame) {
        long serviceId = Addressee.service(frame);
        Services services = of(frame);
        return !services.isServedHere(serviceId) && (services.forward(frame, serviceId) || services.keep(frame));
    }

    /// Keeps a request that no link serves yet, as [Services#keep] says.
    boolean keep(Frame frame) {
        return of(frame).keep(frame);
    }

    @Override
    public boolean isServedHere(Frame frame, long serviceId) {
        return of(frame).isServedHere(serviceId);
    }

    @Override
    public boolean passOn(Frame frame, long serviceId) {
        return of(frame).passOn(frame, serviceId);
    }

    /// Fills `frames[from]` and its successors with requests that have waited and are now for this link, at most
    /// `count`; returns how many.
    int handOut(Frame[] frames, int from, int count) {
        return early.handOut(frames, from, count, this);
    }

    boolean isDue() {
        return early.isDue();
    }

    /// When [#handOut] has something to do; [Long#MAX_VALUE] when no request waits. Any thread.
    long due() {
        return early.due();
    }

    /// How many requests wait. Any thread.
    long waiting() {
        return early.size();
    }
}
