import org.jspecify.annotations.NullMarked;

/// A transport of Netty whose channels are streams over RDMA.
@NullMarked
module verbena.netty {
    requires static org.jspecify;
    requires io.netty.buffer;
    requires io.netty.common;
    requires transitive io.netty.transport;
    requires verbena.stream;
    requires transitive verbena.verbs;

    exports verbena.netty;
}
