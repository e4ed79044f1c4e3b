package verbena.verbs;

/// State of a port (`enum ibv_port_state`). Requests travel in `ACTIVE` only. Immutable.
///
/// @since 0.1
public enum PortState {
    NOP,
    DOWN,
    INIT,
    ARMED,
    ACTIVE,
    ACTIVE_DEFER;

    /// Returns the name that `ibv_devinfo` prints, for example `PORT_ACTIVE`.
    @Override
    public String toString() {
        return "PORT_" + name();
    }
}
