package verbena.nic.goal;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.RemoteMemory;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// A process that accepts connections and tells each the address of its memory. It is created early, so that it
/// listens at once when it is told to. Ends with its parent.
final class PeerProcess implements AutoCloseable {
    static final int PORT = 7_471;
    static final int MEMORY_BYTES = 4_096;
    private static final String READY = "ready";

    private final Process process;
    private final BufferedReader said;

    /// Starts a process, which waits.
    ///
    /// @param kind of its device
    PeerProcess(String kind, InetAddress at) throws IOException {
        process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        ManagementFactory.getRuntimeMXBean().getClassPath(),
                        PeerProcess.class.getName(),
                        kind,
                        at.getHostAddress()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        said = process.inputReader(StandardCharsets.UTF_8);
    }

    /// Tells the process to listen; returns when it does.
    void listen() throws IOException {
        process.outputWriter(StandardCharsets.UTF_8).append("listen\n").flush();
        String line = said.readLine();
        if (!READY.equals(line)) {
            throw new IOException("the peer's process said " + line);
        }
    }

    /// Kills the process (SIGKILL).
    void kill() {
        process.destroyForcibly();
    }

    Process process() {
        return process;
    }

    void awaitEnd() throws InterruptedException {
        if (!process.waitFor(10, TimeUnit.SECONDS)) {
            throw new AssertionError("the peer's process does not end");
        }
    }

    @Override
    public void close() {
        kill();
    }

    /// The main method of the process.
    public static void main(String[] args) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        if (in.readLine() == null) {
            return;
        }
        Context device = Device.named(args[0] + "@" + args[1]).open();
        var options = ConnectionOptions.defaults().withDevice(device);
        var listener = ConnectionListener.bind(new InetSocketAddress(args[1], PORT), options);
        Thread.ofPlatform().daemon().start(() -> serve(listener));
        System.out.println(READY);
        System.out.flush();
        while (in.readLine() != null) {
            // until the parent ends
        }
        System.exit(0);
    }

    private static void serve(ConnectionListener listener) {
        try {
            while (true) {
                Connection connection = listener.accept();
                Thread.ofVirtual().start(() -> greet(connection));
            }
        } catch (InterruptedException | VerbsException e) {
            System.exit(1);
        }
    }

    private static void greet(Connection connection) {
        try {
            MemoryRegion memory = connection.allocate(MEMORY_BYTES, Access.remoteAll());
            MemoryRegion message = connection.allocate(128);
            message.segment().setString(0, memory.remote().format());
            connection.send(message.slice(0, 128));
        } catch (InterruptedException | VerbsException e) {
            connection.close(); // the peer has gone
        }
    }

    /// Reads the greeting on the client's side.
    static RemoteMemory greeted(Connection connection) throws InterruptedException {
        MemoryRegion message = connection.allocate(128);
        connection.receive(message.slice(0, 128));
        RemoteMemory memory = RemoteMemory.parse(message.segment().getString(0));
        message.close();
        return memory;
    }
}
