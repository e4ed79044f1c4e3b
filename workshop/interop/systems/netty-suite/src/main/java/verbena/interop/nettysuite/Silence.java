package verbena.interop.nettysuite;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;

/// A port of loopback that does not answer, for the tests that want a host which does not: no packet leaves this
/// host.
public final class Silence implements AutoCloseable {
    private static final int WAIT_MILLIS = 200;

    private final ServerSocket listener;
    /// Those that fill its backlog, and one that waits.
    private final List<Socket> waiting = new ArrayList<>();

    public Silence() throws IOException {
        listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        boolean answers = true;
        while (answers) {
            var next = new Socket();
            waiting.add(next);
            try {
                next.connect(at(), WAIT_MILLIS);
            } catch (SocketTimeoutException e) {
                answers = false;
            }
        }
        System.setProperty("io.netty.testsuite.badHost", at().getHostString());
        System.setProperty("io.netty.testsuite.badPort", Integer.toString(at().getPort()));
    }

    /// Where nothing answers.
    public InetSocketAddress at() {
        return new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort());
    }

    @Override
    public void close() throws IOException {
        for (Socket each : waiting) {
            each.close();
        }
        listener.close();
    }
}
