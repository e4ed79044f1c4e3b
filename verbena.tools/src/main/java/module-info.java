import org.jspecify.annotations.NullMarked;

/// The command line.
@NullMarked
module verbena.tools {
    requires static org.jspecify;
    requires verbena.verbs;
    requires verbena.wire;
    requires verbena.transport;
    requires verbena.nic;
    requires verbena.subnet;
    requires verbena.ibverbs;
    requires verbena.sim;
    requires verbena.check;
    requires verbena.conformance;
    requires info.picocli;
    requires java.management;
    requires java.management.rmi;
    requires jdk.attach;
    requires jdk.net;
    requires jdk.unsupported;

    opens verbena.tools to
            info.picocli;
    opens verbena.tools.card to
            info.picocli;
    opens verbena.tools.check to
            info.picocli;
    opens verbena.tools.decode to
            info.picocli;
    opens verbena.tools.demo to
            info.picocli;
    opens verbena.tools.device to
            info.picocli;
    opens verbena.tools.doctor to
            info.picocli;
    opens verbena.tools.explain to
            info.picocli;
    opens verbena.tools.fabric to
            info.picocli;
    opens verbena.tools.files to
            info.picocli;
    opens verbena.tools.kit to
            info.picocli;
    opens verbena.tools.network to
            info.picocli;
    opens verbena.tools.observe to
            info.picocli;
    opens verbena.tools.perf to
            info.picocli;
    opens verbena.tools.pingpong to
            info.picocli;
    opens verbena.tools.rdmacm to
            info.picocli;
}
