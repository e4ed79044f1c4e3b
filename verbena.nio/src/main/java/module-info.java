import org.jspecify.annotations.NullMarked;

/// Socket channels and selectors of `java.nio.channels` whose bytes go by RDMA, for programs that know nothing of it.
@NullMarked
module verbena.nio {
    requires static org.jspecify;
    requires static java.instrument;
    requires verbena.stream;
    requires verbena.verbs;

    exports verbena.nio;

    provides java.nio.channels.spi.SelectorProvider with
            verbena.nio.RdmaSelectorProvider;
}
