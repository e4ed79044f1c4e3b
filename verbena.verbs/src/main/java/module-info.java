import org.jspecify.annotations.NullMarked;

/// What a program imports to do RDMA: the verbs, and the interface that providers of devices implement.
@NullMarked
module verbena.verbs {
    requires static org.jspecify;

    exports verbena.verbs;
    exports verbena.verbs.cm;
    exports verbena.verbs.spi;

    uses verbena.verbs.spi.Provider;
}
