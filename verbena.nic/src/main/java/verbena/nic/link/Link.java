package verbena.nic.link;

import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;

/// A carrier of frames: sockets, a wire in the simulator, or a wrapper around another link that traces, captures or
/// damages packets.
///
/// A link encapsulates: it seals the ICRC of departures and judges the ICRC of arrivals ([Seal]), because only the
/// link knows the network headers that the ICRC covers. A packet for a multicast group leaves by the interface of
/// its source address; its hop limit decides how far it travels.
public interface Link extends Carrier {
    /// The length of the smallest packet: BTH and ICRC.
    int PACKET_MIN = Bth.BYTES + 4;

    /// The number of groups that a link can be a member of at once: with UDP, each costs a socket at each
    /// interface.
    int GROUPS_MAX = 256;

    /// The hop limit of a multicast that has none of its own (RFC 1112, 6.1; RFC 3493, 5.2).
    int MULTICAST_HOPS_DEFAULT = 1;

    /// Returns the largest packet in bytes, from BTH to ICRC, that fits on this link unfragmented from every
    /// address.
    int packetMax();

    /// Fills `frames[from]` and its successors with arrivals, at most `count`; returns how many. Each frame then
    /// holds packet, length, addresses and [Frame#icrcValid]. An arrival that is too short for a packet, or too
    /// long for a frame, is counted ([#malformed()]) and not handed out. The packets may lie in memory of the link
    /// ([Frame#view]), where they stay until the next call.
    int receive(Frame[] frames, int from, int count);

    /// Returns whether the system has delivered arrivals that [#receive] has not handed out. They do not end
    /// [#await(long)].
    default boolean hasArrivals() {
        return false;
    }

    /// Returns whether further packets may have arrived before the last [#receive], although it returned fewer than
    /// it was asked for. A link asks the system for as many packets as usually come.
    default boolean mayHaveMore() {
        return false;
    }

    /// Sends `frames[from]` and its successors, at most `count`, in order; returns how many were taken. Fewer means
    /// that there is no room to send, and the caller tries again later. A frame that can never be sent (no route,
    /// too large for the interface) is counted ([#unsendable()]), marked ([Frame#marks]) and treated as taken.
    /// The protocol above repairs it like a loss.
    int transmit(Frame[] frames, int from, int count);

    /// Moves nothing, where a link carries frames only.
    @Override
    default int move(long nowNanos) {
        return 0;
    }

    /// Joins a multicast group on the interface of each of [#gids()] that is of the group's family. From now on,
    /// packets to the group on these interfaces arrive here, with the group as their destination. Packets that this
    /// link and other links of this host send to the group arrive too. Does nothing when the link is a member. For
    /// the thread that may receive, so never while another thread does.
    ///
    /// @param group an IPv4-mapped or IPv6 multicast address
    /// @throws IllegalArgumentException when it is not a multicast address
    /// @throws LinkException when the link cannot join: no own address of this family, no such interface, the
    ///     system's limit of memberships; the link is unchanged
    void join(Gid group);

    /// Ends the membership and drops arrivals for the group that were not received. Does nothing when the link is
    /// not a member. Called like [#join(Gid)].
    void leave(Gid group);

    /// Returns the UDP port that every packet between these addresses leaves from, and every packet after a
    /// migration within this host; 0 when it may differ between packets, or the link has no ports. Never changes.
    /// Any thread.
    default int sourcePort(Gid from, Gid to) {
        return 0;
    }

    /// Returns a further service of this link, or of a link inside it, by its interface; null when it has no such
    /// service. Never changes. Any thread.
    default <T> @Nullable T service(Class<T> kind) {
        return kind.isInstance(this) ? kind.cast(this) : null;
    }

    /// Returns how many arrivals were not packets, since creation.
    long malformed();

    /// Returns how many frames the network stack refused for good, since creation.
    long unsendable();
}
