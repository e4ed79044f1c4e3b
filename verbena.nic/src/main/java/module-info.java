import org.jspecify.annotations.NullMarked;

/// The software device: verbs objects over the transport, the engine that schedules them, the links that move frames.
@NullMarked
module verbena.nic {
    requires static transitive org.jspecify;
    requires transitive verbena.verbs;
    requires verbena.wire;
    requires verbena.transport;
    requires jdk.net;
}
