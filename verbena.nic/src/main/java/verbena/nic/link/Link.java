package verbena.nic.link;

import verbena.verbs.Gid;
import verbena.wire.Frame;

/// A carrier of frames: sockets, a wire in the simulator, or a wrapper around another link that traces, captures or
/// damages what passes.
///
/// A link encapsulates: it seals the ICRC of what it sends and judges the ICRC of what it receives ([Seal]), because
/// only the link knows the network headers that the ICRC covers. A packet for a multicast group leaves by the
/// interface of its source address, and its hop limit says how far it gets.
public interface Link extends Carrier {
    /// The largest packet in bytes, BTH through ICRC, that fits on this link unfragmented from every address.
    int packetMax();

    /// Fills `frames[from]` and its successors with what has arrived, at most `count`; returns how many. Each frame
    /// then holds packet, length, addresses and [Frame#icrcValid]. An arrival that is too short for a packet, or
    /// too long for a frame, is counted ([#malformed()]) and not handed out. The packets may lie in memory of the
    /// link ([Frame#view]), where they stay until the next call.
    int receive(Frame[] frames, int from, int count);

    /// Whether there are arrivals that the system has given out and [#receive] has not: [#await(long)] does not end
    /// for them.
    default boolean hasArrivals() {
        return false;
    }

    /// Whether more may have arrived before the last [#receive] than that has brought, although it was asked for
    /// more. A link asks the system for as many as usually come.
    default boolean mayHaveMore() {
        return false;
    }

    /// Sends `frames[from]` and its successors, at most `count`, in order; returns how many were taken. Fewer means
    /// that the way out is full: the caller tries again later. A frame that can never be sent (no route, too large
    /// for the interface) is counted ([#unsendable()]), marked ([Frame#unsendable]) and treated as taken; the
    /// protocol above repairs that like a loss.
    int transmit(Frame[] frames, int from, int count);

    /// A link has nothing but frames to move.
    @Override
    default int move(long nowNanos) {
        return 0;
    }

    /// Whether these packets arrive in one piece when they are transmitted one right behind the other: the receiver
    /// gets both at once.
    default boolean keepsTogether(Frame first, Frame next) {
        return false;
    }

    /// Becomes a member of a multicast group, on the interface of each of [#gids()] that is of the group's family.
    /// From now on what is sent to the group there arrives here, with the group as its destination, also what this
    /// link and other links of this host send. Does nothing when the link is a member. For the thread that may
    /// receive, so never while another thread does.
    ///
    /// @param group an IPv4-mapped or IPv6 multicast address
    /// @throws IllegalArgumentException when it is no multicast address
    /// @throws LinkException when that cannot be had: no own address of this family, no such interface, the
    ///     system's limit of memberships; the link is as it was
    void join(Gid group);

    /// Ends the membership; what has arrived for the group and was not received is gone. Does nothing when there is
    /// none. Called like [#join(Gid)].
    void leave(Gid group);

    /// From now on the requests of connection management (REQ and SIDR_REQ) for this service are for this link,
    /// whichever links receive at the addresses; they arrive as soon as the service is open. Called like
    /// [#join(Gid)].
    ///
    /// @return false when another link has claimed it
    /// @throws LinkException when the system does not allow it
    default boolean claimService(long serviceId) {
        return true;
    }

    /// The requests for a service that was claimed are served from now on, also those that came a moment ago and
    /// wait. Called like [#join(Gid)].
    default void openService(long serviceId) {}

    /// Ends both; does nothing when the service was not claimed. Called like [#join(Gid)].
    default void releaseService(long serviceId) {}

    /// What packets may carry here in place of the ICRC ([Frame#stamp]), 24 random bits; 0 when it has to be the
    /// ICRC. Never changes. Any thread.
    default int stamp() {
        return 0;
    }

    /// UDP port that everything leaves from; 0 when it may be another one for each packet, or the link has none.
    /// Never changes. Any thread.
    default int sourcePort() {
        return 0;
    }

    /// Arrivals that were no packet at all, since creation.
    long malformed();

    /// Frames that the network stack refused for good, since creation.
    long unsendable();
}
