package verbena.subnet.agent;

/// The rights of programs at queue pair 0.
public enum SubnetRight {
    /// No right: agents of subnet management are refused.
    NONE,
    /// Reading (Get). Such programs change nothing, and no subnet manager is among them.
    ASK,
    /// Everything that a subnet manager does.
    ALL
}
