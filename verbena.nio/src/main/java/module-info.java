import org.jspecify.annotations.NullMarked;

/// Socket channels and selectors of `java.nio.channels` whose bytes go by RDMA, for programs that know nothing of
/// it. The agent switches a program over. The module provides no service: a program would be switched over by its
/// module path alone, without what the agent opens.
@NullMarked
module verbena.nio {
    requires static org.jspecify;
    requires static java.instrument;
    requires jdk.net;
    requires verbena.stream;
    requires verbena.verbs;

    exports verbena.nio;
}
