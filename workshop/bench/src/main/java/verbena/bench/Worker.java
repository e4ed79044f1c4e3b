package verbena.bench;

import io.netty.handler.ssl.SslProvider;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import verbena.tools.report.Json;
import verbena.verbs.Counters;

/// One end of a contender, in a process of its own that stays warm from one measurement to the next. Takes one
/// order per line, and answers with one line: `ok` and JSON, or `failed` and the reason. Ends with its input.
public final class Worker {
    /// The order that all ends answer: how many `millis` the compilers of this process have worked.
    static final String COMPILED = "compiled";

    /// The order to report the bytes by RDMA and by TCP, where the agent runs.
    static final String CARRIED = "carried";

    private Worker() {}

    /// @param args the kind of end
    public static void main(String[] args) throws Exception {
        WorkerEnd end = switch (args[0]) {
            case "udp" -> new RawUdp();
            case "tcp", "unix" -> new SocketEnd();
            case "netty" -> new NettyEnd(NettyTransport.ofNetty());
            case "verbena.netty" -> new NettyEnd(NettyTransport.verbena());
            case "tls-jdk" -> new TlsEnd(SslProvider.JDK);
            case "tls-openssl" -> new TlsEnd(SslProvider.OPENSSL);
            case "verbena" -> new VerbenaEnd();
            case "connections" -> new ConnectionsEnd();
            case "await" -> new AwaitEnd();
            case "aeron" -> new AeronEnd();
            case "messages" -> new MessagesEnd();
            case "grpc" -> new GrpcEnd();
            case "busy" -> new BusyEnd();
            default -> throw new IllegalArgumentException("no such end: " + args[0]);
        };
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String answer;
            try {
                Object result = switch (line) {
                    case COMPILED -> compiled();
                    case CARRIED -> Counters.ofProcess();
                    default -> end.order(line.split(" ", -1));
                };
                answer = "ok " + Json.format(result);
            } catch (Throwable e) {
                answer = "failed " + (e instanceof Child.Failed ? e.getMessage() : e.toString());
            }
            System.out.println(answer.replaceAll("\\s*\\R\\s*", " "));
        }
        System.exit(0);
    }

    private static Map<String, Long> compiled() {
        return Map.of("millis", ManagementFactory.getCompilationMXBean().getTotalCompilationTime());
    }
}
