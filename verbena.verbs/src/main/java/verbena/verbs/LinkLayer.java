package verbena.verbs;

/// The network that a port is connected to (`IBV_LINK_LAYER_*` of ibv_query_port(3)).
public enum LinkLayer {
    INFINIBAND("InfiniBand"),
    ETHERNET("Ethernet");

    private final String label;

    LinkLayer(String label) {
        this.label = label;
    }

    @Override
    public String toString() {
        return label;
    }
}
