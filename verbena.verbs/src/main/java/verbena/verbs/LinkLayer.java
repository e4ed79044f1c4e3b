package verbena.verbs;

/// The network that a port is connected to (`IBV_LINK_LAYER_*` of ibv_query_port(3)). Immutable.
///
/// @since 0.1
public enum LinkLayer {
    /// An InfiniBand fabric, whose addresses are LIDs.
    INFINIBAND("InfiniBand"),
    /// An Ethernet network, whose addresses are those of Ethernet and IP.
    ETHERNET("Ethernet");

    private final String label;

    LinkLayer(String label) {
        this.label = label;
    }

    /// Returns the name that `ibv_devinfo` prints.
    @Override
    public String toString() {
        return label;
    }
}
