package verbena.nic.link;

import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import verbena.foreign.linux.LinuxAbi;
import verbena.wire.Frame;

/// Decides which link of a shared address gets what has arrived here, and passes it on.
///
/// The kernel hands a packet to any of the sockets. A packet with a number of another link's slot goes to that link,
/// in an [Envelope]. A packet is passed on once only. A packet that has waited too long is not passed on: a process
/// that was stopped would send out what is long out of date.
///
/// For one thread at a time, but for the counters.
final class Relay {
    /// As long as a packet may have waited in the socket: by far more than a busy process needs, and by far less
    /// than sequence numbers take to come round (2^24 packets).
    static final long LATE_MILLIS = 1_000;

    /// How packets get to neighbours.
    interface Ways {
        /// Lets in the links that have just connected.
        void letNeighboursIn();

        /// Sends a frame whose envelope is sealed; 1, or the system's negated error.
        int send(PeerSocket to, Frame frame);

        /// A packet has come here that was for a neighbour.
        void onMisdirected();
    }

    private final Presence presence;
    private final Services services;
    private final Ways ways;
    private final LongSupplier wallMillis;

    // Counted here, read by any thread.
    private final AtomicLong forwarded = new AtomicLong();
    private final AtomicLong full = new AtomicLong();
    private final AtomicLong gone = new AtomicLong();
    private final AtomicLong late = new AtomicLong();

    /// @param wallMillis milliseconds of the wall clock, by which the kernel stamps arrivals
    Relay(Presence presence, Services services, Ways ways, LongSupplier wallMillis) {
        this.presence = presence;
        this.services = services;
        this.ways = ways;
        this.wallMillis = wallMillis;
    }

    /// Whether nothing more is to be done here with a packet that is not for this link's slot. False when this link
    /// is to judge it: it is for several, or for a service of this link, or for a slot that no link has.
    ///
    /// @param frame with addresses; its packet may be moved to its own slot
    /// @param addressee of the frame: a slot, [Addressee#SERVICE] or [Addressee#EVERYBODY]
    /// @param arrivalMillis when it came to this host, by the wall clock; 0 when that is not known
    boolean passesOn(Frame frame, int addressee, LongSupplier arrivalMillis) {
        assert addressee != presence.slot() && addressee != Addressee.ANYBODY : addressee;
        if (addressee == Addressee.SERVICE && services.isServedHere(Addressee.service(frame))) {
            return false;
        }
        if (!isReachable(addressee)) {
            return services.keep(frame);
        }
        if (!isInTime(arrivalMillis.getAsLong())) {
            return true;
        }
        frame.moveToOwn(); // the envelope goes before it
        Envelope.seal(frame);
        return switch (addressee) {
            case Addressee.SERVICE -> services.forward(frame, Addressee.service(frame)) || services.keep(frame);
            case Addressee.EVERYBODY -> {
                sendToAll(frame);
                yield false;
            }
            default -> {
                sendTo(addressee, frame);
                yield true;
            }
        };
    }

    /// Whether there is a neighbour with this slot, or any at all; it may have come this moment.
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
        for (int slot = 0; slot < SharedAddress.SLOTS; slot++) {
            PeerSocket to = presence.neighbour(slot);
            if (to != null) {
                count(ways.send(to, frame));
            }
        }
    }

    /// Counts what has become of one packet that was sent to another link; true when that link will get it.
    ///
    /// @param result 1, or the system's negated error
    boolean count(int result) {
        boolean isSent = result > 0;
        boolean isFull = result == 0 || result == -LinuxAbi.EAGAIN || result == -LinuxAbi.ENOBUFS;
        (isSent ? forwarded : isFull ? full : gone).incrementAndGet();
        return isSent;
    }

    /// Adds what has been counted here. Any thread.
    void addCounters(Map<String, Long> to) {
        to.merge("shared.forwarded", forwarded.get(), Long::sum);
        to.merge("shared.dropped.full", full.get(), Long::sum);
        to.merge("shared.dropped.gone", gone.get(), Long::sum);
        to.merge("shared.dropped.late", late.get(), Long::sum);
    }
}
