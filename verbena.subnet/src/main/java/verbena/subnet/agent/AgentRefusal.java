package verbena.subnet.agent;

/// The result of a registration: no refusal, or the reason why an agent is refused.
public enum AgentRefusal {
    /// No refusal: the agent is registered.
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

    /// Returns the errno for programs in C; 0 for none.
    public int errno() {
        return errno;
    }
}
