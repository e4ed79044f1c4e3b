package verbena.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/// TCP ports of this host.
final class Ports {
    private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(10);

    private Ports() {}

    /// Returns a port on which no process listens.
    static int free() throws IOException {
        try (var socket = new ServerSocket()) {
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            return socket.getLocalPort();
        }
    }

    /// Waits until a process listens, without connecting, because the server would take that for a client
    /// (proc(5), `/proc/net/tcp`).
    ///
    /// @param hasGivenUp whether the server has given up
    /// @return false when the server has given up
    static boolean awaitListener(int port, BooleanSupplier hasGivenUp) throws IOException, InterruptedException {
        String row = String.format(Locale.ROOT, ":%04X 0", port);
        long deadline = System.nanoTime() + WAIT_NANOS;
        while (!listens(Path.of("/proc/net/tcp"), row) && !listens(Path.of("/proc/net/tcp6"), row)) {
            if (hasGivenUp.getAsBoolean()) {
                return false;
            }
            if (System.nanoTime() > deadline) {
                throw new Child.Failed("no process listens on port " + port);
            }
            Thread.sleep(2);
        }
        return true;
    }

    // A row: "0: 0100007F:33F7 00000000:0000 0A ..."; 0A is TCP_LISTEN.
    private static boolean listens(Path table, String row) throws IOException {
        return Files.exists(table)
                && Files.readAllLines(table).stream()
                        .anyMatch(line -> line.contains(row) && line.contains(":0000 0A "));
    }
}
