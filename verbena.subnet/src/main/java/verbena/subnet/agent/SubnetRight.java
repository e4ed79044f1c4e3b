package verbena.subnet.agent;

/// What programs may do at queue pair 0.
public enum SubnetRight {
    /// Nothing: agents of subnet management are refused.
    NONE,
    /// Ask (Get). They change nothing, and no subnet manager is among them.
    ASK,
    /// All that a subnet manager does.
    ALL
}
