package verbena.nic.link.sharing;

import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import verbena.foreign.linux.LinuxAbi;
import verbena.nic.link.Envelope;
import verbena.wire.Frame;

/// The choice of the link of a shared address that gets an arrival, which is passed on to it.
///
/// The kernel hands a packet to any of the sockets. A packet with a number of another link's slot goes to that link,
/// in an [Envelope]. A packet is passed on only once. A packet that has waited too long is not passed on, because a
/// stopped process would send packets that are long out of date.
///
/// For one thread at a time, except the counters.
final class Relay {
    /// The time that a packet may have waited in the socket. A busy process needs far less, and sequence numbers
    /// take far longer to wrap around (2^24 packets).
    static final long LATE_MILLIS = 1_000;

    /// The paths to neighbours.
    interface Ways {
        /// Accepts the links that have just connected.
        void letNeighboursIn();

        /// Sends a frame with a sealed envelope; returns 1, or the system's negated error.
        int send(PeerSocket to, Frame frame);

        /// Called when a packet for a neighbour has arrived here.
        void onMisdirected();
    }

    private final Presence presence;
    private final Services services;
    private final Ways ways;
    private final LongSupplier wallMillis;

    // Written here, read by any thread.
    private final AtomicLong forwarded = new AtomicLong();
    private final AtomicLong full = new AtomicLong();
    private final AtomicLong gone = new AtomicLong();
    private final AtomicLong late = new AtomicLong();

    /// @param wallMillis milliseconds of the wall clock, with which the kernel stamps arrivals
    Relay(Presence presence, Services services, Ways ways, LongSupplier wallMillis) {
        this.presence = presence;
        this.services = services;
        this.ways = ways;
        this.wallMillis = wallMillis;
    }

    /// Returns whether this link has nothing more to do with a packet that is not for its slot. False when this
    /// link has to judge the packet: it is for several links, for a service of this link, or for a slot that no
    /// link has.
    ///
    /// @param frame has its addresses; its packet may be moved to its own slot
    /// @param addressee of the frame: a slot, [Addressee#SERVICE] or [Addressee#EVERY_LINK]
    /// @param arrivalMillis when the packet came to this host, by the wall clock; 0 when unknown
    boolean passesOn(Frame frame, int addressee, LongSupplier arrivalMillis) {
        assert addressee != presence.slot() && addressee != Addressee.ANY_LINK : addressee;
        if (addressee == Addressee.SERVICE && services.isServedHere(frame)) {
            return false;
        }
        if (!isReachable(addressee)) {
            return services.keep(frame);
        }
        if (!isInTime(arrivalMillis.getAsLong())) {
            return true;
        }
        frame.moveToOwn(); // the envelope goes before the packet
        Envelope.seal(frame);
        return switch (addressee) {
            case Addressee.SERVICE -> services.forward(frame) || services.keep(frame);
            case Addressee.EVERY_LINK -> {
                sendToAll(frame);
                yield false;
            }
            default -> {
                sendTo(addressee, frame);
                yield true;
            }
        };
    }

    /// Returns whether a neighbour has this slot, or, for every link, whether there are neighbours; one may have
    /// connected just now.
    private boolean isReachable(int addressee) {
        if (hasNeighbour(addressee)) {
            return true;
        }
        ways.letNeighboursIn();
        return hasNeighbour(addressee);
    }

    private boolean hasNeighbour(int addressee) {
        return addressee >= 0 ? presence.neighbour(addressee) != null : presence.count() > 0;
    }

    private boolean isInTime(long arrivalMillis) {
        if (Math.abs(wallMillis.getAsLong() - arrivalMillis) <= LATE_MILLIS) {
            return true;
        }
        late.incrementAndGet();
        return false;
    }

    private void sendTo(int slot, Frame frame) {
        PeerSocket to = presence.neighbour(slot);
        if (to != null && count(ways.send(to, frame))) {
            ways.onMisdirected();
        }
    }

    private void sendToAll(Frame frame) {
        for (int slot = 0; slot < Presence.SLOTS; slot++) {
            PeerSocket to = presence.neighbour(slot);
            if (to != null) {
                count(ways.send(to, frame));
            }
        }
    }

    /// Counts what happened to a packet that was sent to another link; returns whether that link will get it.
    ///
    /// @param result 1, or the system's negated error
    boolean count(int result) {
        boolean isSent = result > 0;
        boolean isFull = result == 0 || result == -LinuxAbi.EAGAIN || result == -LinuxAbi.ENOBUFS;
        (isSent ? forwarded : isFull ? full : gone).incrementAndGet();
        return isSent;
    }

    /// Adds the counters of this object. Any thread.
    void addCounters(Map<String, Long> to) {
        to.merge("shared.forwarded", forwarded.get(), Long::sum);
        to.merge("shared.dropped.full", full.get(), Long::sum);
        to.merge("shared.dropped.gone", gone.get(), Long::sum);
        to.merge("shared.dropped.late", late.get(), Long::sum);
    }
}
