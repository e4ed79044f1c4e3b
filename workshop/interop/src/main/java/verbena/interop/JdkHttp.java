package verbena.interop;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.SequencedMap;

/// The JDK's `HttpServer` and `HttpClient`: bodies of all sizes, which come back as they were sent.
public final class JdkHttp implements SystemUnderTest {
    private static final int BODY_MAX = 200_000;
    private static final int PAGE = 1_000;

    /// Makes the system, which a process finds by its name.
    public JdkHttp() {}

    @Override
    public Serving serve(Job job) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/echo", exchange -> {
            try (exchange) {
                byte[] body = exchange.getRequestBody().readAllBytes();
                exchange.sendResponseHeaders(200, body.length == 0 ? -1 : body.length);
                exchange.getResponseBody().write(body);
            }
        });
        byte[] page = Job.pattern(PAGE, 0);
        server.createContext("/page", exchange -> {
            try (exchange) {
                exchange.sendResponseHeaders(200, page.length);
                exchange.getResponseBody().write(page);
            }
        });
        server.start();
        return new Serving(server.getAddress().getPort(), () -> server.stop(0));
    }

    @Override
    public String use(InetSocketAddress server, Job job) throws Exception {
        int requests = job.size(40, 400);
        URI uri = URI.create("http://127.0.0.1:" + server.getPort() + "/echo");
        try (var client = HttpClient.newHttpClient()) {
            for (int i = 0; i < requests; i++) {
                if (i == requests / 2) {
                    job.halfway();
                }
                byte[] body = Job.pattern((int) (i * 7_919L % BODY_MAX), i);
                var request = HttpRequest.newBuilder(uri)
                        .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                        .build();
                HttpResponse<byte[]> answer = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
                Job.same(200, answer.statusCode(), "status");
                Job.same(body, answer.body(), "body " + i);
            }
        }
        return requests + " POST of up to 200 kB, each body compared";
    }

    @Override
    public SequencedMap<String, Double> measure(InetSocketAddress server, Job job) throws Exception {
        var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.getPort() + "/page"))
                .build();
        try (var client = HttpClient.newHttpClient()) {
            return Times.measure("GET of 1 kB", job, () -> {
                HttpResponse<byte[]> answer = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
                Job.same(PAGE, answer.body().length, "the length of the page");
            });
        }
    }
}
