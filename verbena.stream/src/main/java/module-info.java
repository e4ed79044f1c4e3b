import org.jspecify.annotations.NullMarked;

/// Streams of bytes over any device, as rsockets have them. A C program with rsockets is a peer.
@NullMarked
@SuppressWarnings("module") // users of the protocol and of waiting are compiled later
module verbena.stream {
    requires static org.jspecify;
    requires transitive verbena.verbs;

    exports verbena.stream;
    exports verbena.stream.protocol to
            verbena.abi;
    exports verbena.stream.waiting to
            verbena.netty,
            verbena.nio;
}
