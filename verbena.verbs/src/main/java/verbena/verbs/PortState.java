package verbena.verbs;

/// State of a port (`enum ibv_port_state`). Requests travel in `ACTIVE` only. Immutable.
///
/// @since 0.1
public enum PortState {
    /// A value that is reserved.
    NOP,
    /// The link is down.
    DOWN,
    /// The link is up; the subnet manager has not configured the port.
    INIT,
    /// The subnet manager has configured the port, which receives data and sends none yet.
    ARMED,
    /// The port carries requests.
    ACTIVE,
    /// The link of an active port is down for the moment, and may come back soon.
    ACTIVE_DEFER;

    /// Returns the name that `ibv_devinfo` prints, for example `PORT_ACTIVE`.
    @Override
    public String toString() {
        return "PORT_" + name();
    }
}
