package verbena.nio.programs;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Executors;

/// An echo over the JDK's own HTTP. `server` prints its port and ends with its input; `client PORT BYTES` compares
/// what comes back, 20 times over.
public final class HttpEcho {
    private static final String HOST = System.getProperty("host", "127.0.0.1");

    private HttpEcho() {}

    public static void main(String[] args) throws Exception {
        if (args[0].equals("server")) {
            serve();
        } else {
            exchange(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
        }
    }

    private static void serve() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.ofLiteral(HOST), 0), 0);
        try (var threads = Executors.newFixedThreadPool(2)) {
            server.setExecutor(threads);
            server.createContext("/", exchange -> {
                try (exchange) {
                    byte[] body = exchange.getRequestBody().readAllBytes();
                    exchange.sendResponseHeaders(200, body.length);
                    exchange.getResponseBody().write(body);
                }
            });
            server.start();
            System.out.println(server.getAddress().getPort());
            while (System.in.read() >= 0) {}
            server.stop(0);
        }
    }

    private static void exchange(int port, int bytes) throws Exception {
        try (HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
            for (int i = 0; i < 20; i++) {
                byte[] body = new byte[bytes / 20];
                new Random(i).nextBytes(body);
                var request = HttpRequest.newBuilder(URI.create("http://" + HOST + ":" + port + "/"))
                        .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                        .build();
                byte[] back = client.send(request, HttpResponse.BodyHandlers.ofByteArray())
                        .body();
                if (!Arrays.equals(body, back)) {
                    throw new IllegalStateException("the echo differs");
                }
            }
        }
        System.out.println("same");
    }
}
