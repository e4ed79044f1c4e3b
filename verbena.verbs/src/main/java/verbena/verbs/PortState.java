package verbena.verbs;

/// State of a port (`enum ibv_port_state`).
public enum PortState {
    NOP,
    DOWN,
    INIT,
    ARMED,
    ACTIVE,
    ACTIVE_DEFER;

    /// As `ibv_devinfo` prints it, for example `PORT_ACTIVE`.
    @Override
    public String toString() {
        return "PORT_" + name();
    }
}
