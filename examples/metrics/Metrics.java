import com.sun.net.httpserver.HttpServer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;
import verbena.micrometer.VerbenaMetrics;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;

/// Metrics for Prometheus: one line binds all that Verbena counts. The program echoes a message over a connection,
/// and serves the metrics until its input ends.
///
/// Prints: http://127.0.0.1:PORT/metrics
public class Metrics {
    public static void main(String[] args) throws Exception {
        var registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        new VerbenaMetrics().bindTo(registry);

        int port = args.length > 0 ? Integer.parseInt(args[0]) : 0;
        var web = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        web.createContext("/metrics", exchange -> {
            byte[] body = registry.scrape().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        web.start();

        try (var threads = Executors.newVirtualThreadPerTaskExecutor();
                var listener = ConnectionListener.bind("127.0.0.1", 0)) {
            var accepted = threads.submit(() -> listener.accept());
            try (var client = Connection.connect("127.0.0.1", listener.localAddress().getPort());
                    var server = accepted.get()) {
                var echoed = threads.submit(() -> {
                    server.send(server.receive(100));
                    return true;
                });
                client.send("counted");
                client.receiveText(100);
                echoed.get();
                System.out.println("http://127.0.0.1:" + web.getAddress().getPort() + "/metrics");
                System.in.readAllBytes();
            }
        } finally {
            web.stop(0);
        }
    }
}
