package verbena.subnet.agent;

/// Why an agent is refused, if it is.
public enum AgentRefusal {
    /// It is there.
    NONE(0),
    /// The number is taken or too high, or the specification cannot be.
    INVALID(22),
    /// Another agent gets the same datagrams already.
    TAKEN(22),
    /// The fabric does not give the right ([SubnetRight]).
    NOT_PERMITTED(1);

    private final int errno;

    AgentRefusal(int errno) {
        this.errno = errno;
    }

    /// What C is told; 0 for none.
    public int errno() {
        return errno;
    }
}
