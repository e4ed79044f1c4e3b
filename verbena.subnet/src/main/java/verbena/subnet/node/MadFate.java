package verbena.subnet.node;

/// The fate of a management datagram that has arrived at a [Node].
public enum MadFate {
    /// Answered by an agent.
    ANSWERED,
    /// Forwarded by its directed route.
    FORWARDED,
    /// Queued for a subnet manager at this node: [Node#pollForManager] has it.
    FOR_MANAGER,
    /// Left to other parts of the node's owner, which serve its class.
    FOR_OTHERS,
    /// The repetition of a trap has ended.
    REPRESSED,
    /// Dropped: too short, or of another version.
    MALFORMED,
    /// Dropped: a directed route that cannot be (IBTA C14-9, C14-13).
    BAD_ROUTE,
    /// Dropped: the port has another M_Key (IBTA 14.2.4).
    BAD_M_KEY,
    /// Dropped: neither request nor answer that is known here.
    BAD_METHOD,
    /// Dropped: the owner does not take the departures away.
    NO_ROOM;

    /// Returns whether the datagram was dropped.
    public boolean isDrop() {
        return compareTo(MALFORMED) >= 0;
    }
}
