import org.jspecify.annotations.NullMarked;

/// An extension of JUnit for programs that do RDMA: devices, connected ends and peers in processes of their own, over
/// a network as bad as the test wants.
@NullMarked
module verbena.junit {
    requires static org.jspecify;
    requires transitive org.junit.jupiter.api;
    requires transitive verbena.verbs;
    requires verbena.check;

    exports verbena.junit;

    opens verbena.junit to
            org.junit.platform.commons;
}
