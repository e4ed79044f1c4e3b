import org.jspecify.annotations.NullMarked;

/// The command line.
@NullMarked
module verbena.tools {
    requires static org.jspecify;
    requires verbena.verbs;
    requires verbena.wire;
    requires verbena.transport;
    requires verbena.nic;
    requires verbena.sim;
    requires info.picocli;
    requires java.management;
    requires jdk.net;

    uses verbena.verbs.spi.Provider;

    opens verbena.tools to
            info.picocli;
    opens verbena.tools.perf to
            info.picocli;
}
