package verbena.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import verbena.tools.report.Result;

/// Netty's echo and a stream between two blocking socket channels: the same programs over one provider of `java.nio`
/// channels, which the options of their virtual machines choose. Or the echo alone, over our transport of Netty.
final class NioPair implements Contender {
    static final String JDK = "JDK NIO";
    static final String SHM = "Verbena shm";
    static final String ECHO = ", Netty echo";
    static final String STREAM = ", stream";
    static final List<Integer> SIZES = List.of(16, 1 << 10, 16 << 10, 64 << 10);

    private static final String UNMODIFIED = "netty";
    private static final int FIRST = 100;
    /// Its provider extends classes of the JDK's, and its buffers are Agrona's.
    private static final List<String> HADRONIO = List.of(
            "-Djava.nio.channels.spi.SelectorProvider=de.hhu.bsinfo.hadronio.HadronioProvider",
            "-Dio.netty.transport.noNative=true",
            "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
            "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
            "--add-opens=java.base/java.nio=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow");

    private final String name;
    private final String echo;
    private final List<String> options;
    private final String classPath;
    private final List<Child> workers = new ArrayList<>();

    /// @param echo the kind of the ends that echo
    /// @param options of the virtual machines
    /// @param classPath what theirs has besides
    private NioPair(String name, String echo, List<String> options, String classPath) {
        this.name = name;
        this.echo = echo;
        this.options = options;
        this.classPath = classPath;
    }

    /// @param options of the virtual machines
    static NioPair unmodified(String name, List<String> options) {
        return new NioPair(name, UNMODIFIED, options, "");
    }

    /// Returns a pair over hadroNIO and UCX.
    ///
    /// @param classPath hadroNIO and what it needs
    static NioPair ofHadroNio(String classPath) {
        return new NioPair("hadroNIO", UNMODIFIED, HADRONIO, classPath);
    }

    /// Returns a pair over the transport of `verbena.netty`, without the agent.
    ///
    /// @param options of the virtual machines
    static NioPair ofTransport(String name, List<String> options) {
        return new NioPair(name, "verbena.netty", options, "");
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public List<Entry> start() throws Exception {
        var entries = new ArrayList<Entry>();
        Child echoes = worker(echo);
        String echoPort = port(echoes);
        Child echoing = worker(echo);
        for (int size : SIZES) {
            entries.add(entry(ECHO, size, echoing, "echo", echoPort, " 1"));
        }
        if (echo.equals(UNMODIFIED)) {
            Child sink = worker("tcp");
            String streamPort = port(sink);
            entries.add(entry(STREAM, Sizes.LARGE, worker("tcp"), "stream", streamPort, ""));
        }
        return entries;
    }

    private Child worker(String kind) throws Exception {
        Child made = Workers.start(kind, List.of(), options, classPath);
        workers.add(made);
        return made;
    }

    private static String port(Child server) throws Exception {
        Workers.order(server, "listen", 0);
        return Workers.answer(server, JsonNode.class).get("port").asText();
    }

    private Entry entry(String series, int size, Child client, String order, String port, String more) {
        return new Entry(name + series, size, FIRST, (seconds, _) -> {
            Workers.order(client, order, port, size, seconds + more);
            return checked(client, Workers.answer(client, Result.class));
        });
    }

    /// Checks that the bytes went by RDMA: a connection that fell back to TCP is no figure of Verbena's.
    private Result checked(Child client, Result result) throws Exception {
        Workers.order(client, Worker.CARRIED);
        JsonNode carried = Workers.answer(client, JsonNode.class);
        if (carried.path("nio.tcp.connections").asLong() > 0) {
            throw new Child.Failed(name + ": a connection went by TCP");
        }
        return result;
    }

    @Override
    public void close() {
        workers.forEach(Child::close);
    }
}
