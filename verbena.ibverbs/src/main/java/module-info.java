import org.jspecify.annotations.NullMarked;

/// The system's RDMA devices, by libibverbs and librdmacm: a card, or the kernel's soft-RoCE and soft-iWARP.
@NullMarked
@SuppressWarnings("module") // its users are compiled later
module verbena.ibverbs {
    requires static org.jspecify;
    requires verbena.foreign;
    requires verbena.provider;
    requires transitive verbena.verbs;

    exports verbena.ibverbs to
            verbena.tools;

    provides verbena.verbs.spi.Provider with
            verbena.ibverbs.IbverbsProvider;
}
