package verbena.verbs;

/// What a port is plugged into (`IBV_LINK_LAYER_*` of ibv_query_port(3)).
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
