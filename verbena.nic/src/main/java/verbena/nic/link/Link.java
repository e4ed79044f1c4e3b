package verbena.nic.link;

import verbena.transport.DirectPackets;
import verbena.verbs.Gid;
import verbena.wire.Frame;
import verbena.wire.ib.Bth;
import verbena.wire.roce.RoceV2;

/// A carrier of frames: sockets, a wire in the simulator, or a wrapper around another link that traces, captures or
/// damages packets.
///
/// A link encapsulates: it seals the ICRC of departures and judges the ICRC of arrivals ([Seal]), because only the
/// link knows the network headers that the ICRC covers. A packet for a multicast group leaves by the interface of
/// its source address; its hop limit decides how far it travels.
public interface Link extends Carrier {
    /// The length of the smallest packet: BTH and ICRC.
    int PACKET_MIN = Bth.BYTES + 4;

    /// How many groups a link can be a member of at once: with UDP, each costs a socket at each interface.
    int GROUPS_MAX = 256;

    /// The hop limit of a multicast that has none of its own (RFC 1112, 6.1; RFC 3493, 5.2).
    int MULTICAST_HOPS_DEFAULT = 1;

    /// The largest packet in bytes, from BTH to ICRC, that fits on this link unfragmented from every address.
    int packetMax();

    /// Fills `frames[from]` and its successors with arrivals, at most `count`; returns how many. Each frame then
    /// holds packet, length, addresses and [Frame#icrcValid]. An arrival that is too short for a packet, or too
    /// long for a frame, is counted ([#malformed()]) and not handed out. The packets may lie in memory of the link
    /// ([Frame#view]), where they stay until the next call.
    int receive(Frame[] frames, int from, int count);

    /// Whether the system has delivered arrivals that [#receive] has not handed out. They do not end
    /// [#await(long)].
    default boolean hasArrivals() {
        return false;
    }

    /// Whether further packets may have arrived before the last [#receive], although it returned fewer than it was
    /// asked for. A link asks the system for as many packets as usually come.
    default boolean mayHaveMore() {
        return false;
    }

    /// Sends `frames[from]` and its successors, at most `count`, in order; returns how many were taken. Fewer means
    /// that there is no room to send, and the caller tries again later. A frame that can never be sent (no route,
    /// too large for the interface) is counted ([#unsendable()]), marked ([Frame#unsendable]) and treated as taken.
    /// The protocol above repairs it like a loss.
    int transmit(Frame[] frames, int from, int count);

    /// Moves nothing, where a link carries frames only.
    @Override
    default int move(long nowNanos) {
        return 0;
    }

    /// Shows taps around this link a request that needed no packets. Without a tap, this does nothing. Called like
    /// [#transmit].
    default void showDirect(DirectPackets packets) {}

    /// Whether these packets arrive in one piece when one is transmitted right after the other, so that the
    /// receiver gets both at once.
    default boolean keepsTogether(Frame first, Frame next) {
        return false;
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

    /// Claims what only one link at a time can use, before the first queue pair is there. Nothing arrives before
    /// that, so any number of processes may have a device open. Does nothing when it was claimed already. Any
    /// thread.
    ///
    /// @throws LinkException when another link has it
    default void claim() {}

    /// Claims a service at an own address: from now on, the requests of connection management (REQ and SIDR_REQ)
    /// for it are for this link, whichever links receive at the address. They arrive as soon as the service is
    /// open. Called like [#join(Gid)].
    ///
    /// @return false when another link of this user has claimed it there
    /// @throws LinkException when another user has, or the system does not allow it
    default boolean claimService(long serviceId, Gid local) {
        return true;
    }

    /// Opens a claimed service: from now on, its requests are served, including those that came a moment ago and
    /// wait. Called like [#join(Gid)].
    default void openService(long serviceId, Gid local) {}

    /// Closes and releases a service; does nothing when it was not claimed. Called like [#join(Gid)].
    default void releaseService(long serviceId, Gid local) {}

    /// Whether the last four bytes of each packet are its ICRC. Where nothing damages packets on their way,
    /// they are room for it that holds anything. Never changes. Any thread.
    default boolean carriesIcrc() {
        return true;
    }

    /// The UDP port that every packet between these addresses leaves from, and every packet after a migration
    /// within this host; 0 when it may differ between packets, or the link has no ports. Never changes. Any thread.
    default int sourcePort(Gid from, Gid to) {
        return 0;
    }

    /// Makes a seal like that of this link, for a caller that shows packets which have not passed it.
    default Seal newSeal() {
        return new UdpSeal(RoceV2.UDP_PORT);
    }

    /// How many arrivals were not packets, since creation.
    long malformed();

    /// How many frames the network stack refused for good, since creation.
    long unsendable();
}
