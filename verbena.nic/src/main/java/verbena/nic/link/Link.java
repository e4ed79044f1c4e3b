package verbena.nic.link;

import java.util.List;
import java.util.Map;
import verbena.verbs.Gid;
import verbena.verbs.GidEntry;
import verbena.wire.Frame;

/// What moves frames between this process and others: a socket, a wire in the simulator, or a wrapper around
/// another link that traces, captures or damages what passes.
///
/// Receiving and transmitting is done by whoever drives the engine, never by two threads at once; one thread may
/// be in [#await(long)] meanwhile, and any thread may call [#wakeup()]. Nothing blocks but [#await(long)]. A link
/// encapsulates: it seals the ICRC of what it sends and judges that of what it receives, because only the link
/// knows the network headers that the ICRC covers. What goes to a multicast group leaves by the interface of its
/// source address, and its hop limit says how far it gets.
public interface Link extends AutoCloseable {
    /// The addresses this link sends from and receives on, in GID table order.
    List<GidEntry> gids();

    /// Those of [#gids()] that can be used now: the host has the address, on an interface that is up. Any thread;
    /// may take as long as asking the operating system does.
    default List<GidEntry> liveGids() {
        return gids();
    }

    /// The largest packet in bytes, BTH through ICRC, that fits on this link unfragmented from every address.
    int packetMax();

    /// Fills `frames[from]` and its successors with what has arrived, at most `count`; returns how many. Each
    /// frame then holds packet, length, addresses and [Frame#icrcValid]. What is not even long enough to be a
    /// packet, or too long for a frame, is counted by the link ([#malformed()]) and not handed out. The packets
    /// may lie in memory of the link's ([Frame#view]), where they stay until the next call.
    int receive(Frame[] frames, int from, int count);

    /// Whether there are arrivals that the system has given out and [#receive] has not: nothing will tell of them
    /// again.
    default boolean hasArrivals() {
        return false;
    }

    /// Whether more may have arrived before the last [#receive] than it has brought, although it was asked for more: a
    /// link asks the system for as many as usually come.
    default boolean mayHaveMore() {
        return false;
    }

    /// Sends `frames[from]` and its successors, at most `count`, in order; returns how many were taken. Fewer
    /// means that the way out is full: try again later. A frame that can never be sent (no route, too large for
    /// the interface) is counted ([#unsendable()]), marked ([Frame#unsendable]) and treated as taken; the protocol
    /// above repairs it like a loss.
    int transmit(Frame[] frames, int from, int count);

    /// Moves what does not come and go in frames: a link of streams ([TcpLink]) reads what has arrived and tells
    /// those whom it belongs to. Called like [#receive]. Returns how much was done; 0 when there was nothing.
    default int moveStreams(long nowNanos) {
        return 0;
    }

    /// Whether these packets, transmitted one right behind the other, arrive in one piece: the receiver gets both
    /// at once.
    default boolean keepsTogether(Frame first, Frame next) {
        return false;
    }

    /// Becomes a member of a multicast group, on the interface of each of [#gids()] that is of the group's family.
    /// From now on what is sent to the group there arrives here, with the group as its destination, also what this
    /// link and others of this host send. A member already: does nothing. Called by whoever may receive, so never
    /// while another thread does.
    ///
    /// @param group an IPv4-mapped or IPv6 multicast address
    /// @throws IllegalArgumentException when it is no multicast address
    /// @throws LinkException when that cannot be had: no own address of this family, no such interface, the
    ///     system's limit of memberships; the link is as it was
    void join(Gid group);

    /// Ends the membership; what has arrived for the group and was not received is gone. No member: does nothing.
    /// Called like [#join(Gid)].
    void leave(Gid group);

    /// What [#slot()] says when the link is alone on its addresses.
    int NO_SLOT = -1;

    /// Which of 256 parts of all numbers is this link's own, when others receive at its addresses too: the eight
    /// highest bits of every queue pair number, communication ID and SIDR request ID that is given out here. By
    /// them what arrives finds its way. [#NO_SLOT] when nobody else does, and every number is free. Never changes.
    /// Any thread.
    default int slot() {
        return NO_SLOT;
    }

    /// From now on the requests of connection management (REQ and SIDR_REQ) for this service are for this link,
    /// whoever else receives at the addresses; they arrive as soon as it is open. Called like [#join(Gid)].
    ///
    /// @return false when another has claimed it
    /// @throws LinkException when the system does not let us
    default boolean claimService(long serviceId) {
        return true;
    }

    /// Somebody takes the requests for a service that was claimed, also those that came a moment ago and wait.
    /// Called like [#join(Gid)].
    default void openService(long serviceId) {}

    /// Ends both; not claimed: does nothing. Called like [#join(Gid)].
    default void releaseService(long serviceId) {}

    /// What packets may carry here in place of the ICRC ([Frame#stamp]), 24 bits that nobody guesses; 0 when the
    /// ICRC it has to be. Never changes. Any thread.
    default int stamp() {
        return 0;
    }

    /// UDP port that everything leaves from; 0 when it may be another one for each packet, or there is no such
    /// thing. Never changes. Any thread.
    default int sourcePort() {
        return 0;
    }

    /// Sleeps until something has arrived, [#wakeup()] was called since the last `await`, or `timeoutNanos` have
    /// passed (negative: no limit; 0: return at once). May return early. Costs no CPU while it sleeps.
    void await(long timeoutNanos);

    /// Makes the current or the next [#await(long)] return. Any thread; cheap when nobody sleeps.
    void wakeup();

    /// Arrivals that were no packet at all, since creation.
    long malformed();

    /// Frames that the network stack refused for good, since creation.
    long unsendable();

    /// What this link counts beyond that, by name, since creation. Any thread.
    default Map<String, Long> counters() {
        return Map.of();
    }

    /// Gives back sockets and memory; wakes a sleeper. Idempotent.
    @Override
    void close();
}
