package verbena.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import verbena.tools.report.Result;

/// A stream of TLS 1.3 between two processes: Netty with one provider of TLS.
final class TlsPair implements Contender {
    static final String JDK = "TLS 1.3, the JDK's SSLEngine";
    static final String OPENSSL = "TLS 1.3, Netty with OpenSSL";

    private static final int FIRST = 100;

    private final String name;
    private final Path keys;
    private final Child server;
    private final Child client;

    /// @param name one of those above
    /// @param kind of its [Worker]s
    /// @param keys the server's key and certificate
    TlsPair(String name, String kind, Path keys) throws Exception {
        this.name = name;
        this.keys = keys;
        server = Workers.start(kind);
        client = Workers.start(kind);
    }

    /// Makes a key and a certificate that it signs itself, for servers of this run.
    static Path makeKeys() throws Exception {
        Path file = Child.folder().resolve("keys.p12");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        TlsEnd.ALIAS,
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=localhost",
                        "-keystore",
                        file.toString(),
                        "-storepass",
                        TlsEnd.PASSWORD)
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new Child.Failed("keytool: " + said.strip());
        }
        return file;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public List<Entry> start() throws Exception {
        Workers.order(server, "listen", keys);
        String port = Workers.answer(server, JsonNode.class).get("port").asText();
        return List.of(new Entry(name, Sizes.LARGE, FIRST, (seconds, _) -> {
            Workers.order(client, "stream", port, Sizes.LARGE, seconds);
            return Workers.answer(client, Result.class);
        }));
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }
}
