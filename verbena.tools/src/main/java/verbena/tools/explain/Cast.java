package verbena.tools.explain;

/// The participants of a recording: the names of the four lanes, and whether packets go between all devices.
enum Cast {
    /// Two applications, each with its device beside it.
    ENDS(false, new String[] {"application A", "device A", "device B", "application B"}, new String[] {
        "app A", "device A", "device B", "app B"
    }),
    /// A subnet of InfiniBand: the manager beside its adapter, and the switch on the way to the other adapter.
    SUBNET(true, new String[] {"subnet manager", "adapter a", "switch s", "adapter b"}, new String[] {
        "SM", "adapter a", "switch s", "adapter b"
    }),
    /// Two hosts, each with its card; a transaction on PCIe goes between a host and its card.
    CARD(false, new String[] {"core and memory A", "card A", "card B", "memory B"}, new String[] {
        "host A", "card A", "card B", "host B"
    });

    private final boolean isRow;

    @SuppressWarnings("ImmutableEnumChecker") // never changed
    private final String[] titles;

    @SuppressWarnings("ImmutableEnumChecker") // never changed
    private final String[] heads;

    Cast(boolean isRow, String[] titles, String[] heads) {
        this.isRow = isRow;
        this.titles = titles;
        this.heads = heads;
    }

    String title(Place place) {
        return titles[place.ordinal()];
    }

    /// Returns a short name, for the head of a lane.
    String head(Place place) {
        return heads[place.ordinal()];
    }

    /// Returns whether the third lane is in the middle between the second and the fourth, with packets on both
    /// sides.
    boolean isRow() {
        return isRow;
    }
}
