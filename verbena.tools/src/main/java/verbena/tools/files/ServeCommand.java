package verbena.tools.files;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import verbena.tools.kit.Addresses;
import verbena.tools.kit.Closing;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.Size;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// `verbena serve`.
@Command(
        name = "serve",
        header = "Serve a folder, for 'verbena cp' elsewhere.",
        description = {
            "",
            "Clients read files of the folder, and with --writable write them too. They cannot reach anything outside it."
                    + " Without a secret only this host is served. Every request is a line on standard output. Ctrl-C ends."
        })
public final class ServeCommand extends FilesCommand {
    @Parameters(index = "0", paramLabel = "DIR", description = "The folder.")
    private Path folder;

    @Option(names = "--writable", description = "Clients may write too.")
    private boolean writable;

    @Option(
            names = {"-b", "--bind"},
            paramLabel = "ADDRESS",
            description = "Listen on this address of this host; 0.0.0.0 for all (default: 127.0.0.1, or the device's).")
    private @Nullable String bind;

    @Option(
            names = {"-P", "--port"},
            paramLabel = "PORT",
            defaultValue = PORT,
            description = "Port; 0 for any (default ${DEFAULT-VALUE}).")
    private int port;

    @Option(
            names = {"-d", "--device"},
            paramLabel = "DEVICE",
            description =
                    "Device to listen on, for example iwarp@10.0.0.3; may be given several times (default: the one"
                            + " that has the address).")
    private List<String> devices = new ArrayList<>();

    @Option(names = "--no-auth", description = "Serve other hosts without a secret: any client that reaches the port.")
    private boolean noAuth;

    @Option(
            names = "--clients",
            paramLabel = "N",
            defaultValue = "8",
            description =
                    "Clients at once, 1 to 1000 (default ${DEFAULT-VALUE}). Where other hosts are served, one address"
                            + " has at most three quarters of them.")
    private int clients;

    @Option(
            names = "--window",
            paramLabel = "SIZE",
            defaultValue = "32",
            converter = Size.InMiB.class,
            description =
                    "Memory for the outstanding chunks of a client, 1M to 1G; without a unit in MiB (default ${DEFAULT-VALUE}).")
    private int windowMiB;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "30",
            description = "Give up a client that says nothing within a request for so long, 3 to 86400 (default"
                    + " ${DEFAULT-VALUE}).")
    private int timeoutSeconds;

    @Option(
            names = {"-q", "--quiet"},
            description = "No line for each request.")
    private boolean quiet;

    private final List<AutoCloseable> opened = new ArrayList<>();

    @Override
    public Integer call() throws InterruptedException {
        range("--port", port, 0, 65_535);
        range("--clients", clients, 1, 1000);
        range("--window", windowMiB, 1, 1024);
        range("--timeout", timeoutSeconds, TIMEOUT_MIN, TIMEOUT_MAX);
        Optional<Secret> secret = secret();
        if (secret.isPresent() && noAuth) {
            throw wrong("--no-auth: there is a secret");
        }
        var settings = new FileServer.Settings(
                Folder.at(folder),
                writable,
                secret,
                noAuth,
                clients,
                (long) windowMiB << 20,
                direct,
                Duration.ofSeconds(timeoutSeconds));
        var server = new FileServer(settings, new GuessLimit(System::nanoTime), this::log);
        opened.add(server);
        var ended = new CountDownLatch(1);
        var why = new ArrayList<RuntimeException>();
        try {
            List<ConnectionListener> listeners = listeners(secret.isEmpty() && !noAuth);
            for (ConnectionListener listener : listeners) {
                InetSocketAddress at = listener.localAddress();
                boolean isEvery = at.getAddress().isAnyLocalAddress();
                String where = isEvery ? "every address" : Addresses.ip(at.getAddress());
                String host = isEvery ? "HOST" : where.contains(":") ? "[" + where + "]" : where;
                note(name() + ": waits for clients on " + where + " port " + at.getPort() + "; there: verbena cp"
                        + (at.getPort() == Integer.parseInt(PORT) ? "" : " -P " + at.getPort())
                        + (writable ? " FILE " + host + ":" : " " + host + ":FILE ."));
                Thread.ofPlatform().daemon().name("verbena-files-listener").start(() -> {
                    try {
                        server.serve(listener);
                    } catch (RuntimeException e) {
                        synchronized (why) {
                            why.add(e);
                        }
                    } catch (InterruptedException _) {
                        // Closing.
                    }
                    ended.countDown();
                });
            }
            ended.await();
            synchronized (why) {
                if (!why.isEmpty()) {
                    throw why.getFirst();
                }
            }
            return 0;
        } catch (InterruptedException _) {
            return 0; // that is how it ends
        } finally {
            Closing.all(opened);
        }
    }

    private List<ConnectionListener> listeners(boolean ownHostOnly) {
        List<ConnectionListener> listeners = new ArrayList<>();
        if (devices.isEmpty()) {
            listeners.add(listener(address(bind == null ? "127.0.0.1" : bind), Optional.empty(), ownHostOnly));
        }
        for (String name : devices) {
            Context device = Device.named(name).open();
            opened.add(device);
            InetAddress own = device.gids(1).getFirst().gid().address();
            listeners.add(listener(bind == null ? own : address(bind), Optional.of(device), ownHostOnly));
        }
        return listeners;
    }

    private ConnectionListener listener(InetAddress at, Optional<Context> device, boolean ownHostOnly) {
        if (ownHostOnly && !at.isLoopbackAddress()) {
            throw wrong(Addresses.ip(at) + " is open to other hosts, and there is no secret: give one by --secret-file,"
                    + " or say --no-auth");
        }
        ConnectionOptions options = Session.connectionOptions();
        ConnectionListener listener = ConnectionListener.bind(
                new InetSocketAddress(at, port), device.map(options::withDevice).orElse(options));
        opened.add(listener);
        return listener;
    }

    private static InetAddress address(String host) {
        try {
            return InetAddress.getByName(host);
        } catch (UnknownHostException e) {
            throw new CommandFailed("--bind: no such host or address: " + host, e);
        }
    }

    private synchronized void log(String line) {
        if (!quiet) {
            out().println(line);
            out().flush();
        }
    }
}
