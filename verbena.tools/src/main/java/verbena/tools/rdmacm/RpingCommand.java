package verbena.tools.rdmacm;

import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import verbena.tools.kit.Addresses;
import verbena.tools.kit.CNumber;
import verbena.tools.kit.CmChannel;
import verbena.tools.kit.CmEvents;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.Size;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.ConnectionEvent;
import verbena.verbs.cm.ConnectionId;
import verbena.verbs.cm.PortSpace;

/// `verbena rping`: rping(1), so alike that either end can be that program.
@Command(
        name = "rping",
        header = "Ping by RDMA READ and WRITE over a connection made by address and port, as rping(1).",
        description = {
            "",
            "A server (-s) reads the data of each ping from its client (-c) and writes them back. The other end may be"
                    + " rping. -S has to be the same at both ends."
        },
        exitCodeOnInvalidInput = 22,
        exitCodeOnExecutionException = 255,
        footer = {"", "Exit status, as of rping: 0 done, 255 failed, 22 wrong usage."})
public final class RpingCommand extends CmCommand {
    private static final int BACKLOG = 128;
    private static final int SIZE_MIN = 23;
    private static final int SIZE_MAX = 65_535;

    @Option(names = "-s", description = "Be the server.")
    private boolean server;

    @Option(names = "-c", description = "Be the client.")
    private boolean client;

    @Option(
            names = "-a",
            paramLabel = "ADDRESS",
            description = "Where the server is: its address, or for a server to listen on (default: every address).")
    private @Nullable String host;

    @Option(
            names = "-p",
            paramLabel = "PORT",
            defaultValue = "7174",
            converter = CNumber.class,
            description = "Port of the server; 0 for any (default ${DEFAULT-VALUE}).")
    private int port;

    @Option(names = "-I", paramLabel = "ADDRESS", description = "Client: own address (default: the one that suits).")
    private @Nullable String source;

    @Option(names = "-P", description = "Server: serve any number of clients, until interrupted.")
    private boolean persistent;

    @Option(
            names = "-C",
            paramLabel = "N",
            defaultValue = "0",
            converter = CNumber.class,
            description = "Client: number of pings (default: without end).")
    private int count;

    @Option(
            names = "-S",
            paramLabel = "BYTES",
            defaultValue = "64",
            converter = Size.class,
            description = "Size of a ping, 23 to 65535 (default ${DEFAULT-VALUE}).")
    private int size;

    @Option(names = "-v", description = "Show the data of each ping.")
    private boolean verbose;

    @Option(names = "-V", description = "Client: check the data of each ping.")
    private boolean validate;

    @Option(names = "-d", description = "Tell every step.")
    private boolean debug;

    @Option(names = "-q", description = "Make and move the queue pair without the connection manager.")
    private boolean ownQueuePair;

    @Override
    void validate() {
        super.validate();
        if (server == client) {
            throw wrong("-s to be the server or -c to be the client");
        }
        if (client && host == null) {
            throw wrong("-a: where the server is");
        }
        range("-p", port, server ? 0 : 1, 65_535);
        range("-S", size, SIZE_MIN, SIZE_MAX);
        range("-C", count, 0, Integer.MAX_VALUE);
    }

    @Override
    public Integer call() throws InterruptedException {
        validate();
        try (CmChannel channel = channel(this::onEvent)) {
            ConnectionId id = channel.newId(PortSpace.TCP);
            try (id) {
                if (client) {
                    ping(id, channel);
                    return 0;
                }
                id.bind(address("-a", host, port));
                id.listen(BACKLOG);
                listening(id.localAddress().orElseThrow(), "rping -c -a %s -p %d");
                if (persistent) {
                    serveAll(channel);
                }
                // One client only: further clients are told that no program listens.
                ConnectionEvent.ConnectRequest request = request(channel);
                id.close();
                serve(request.id(), channel);
            }
            return 0;
        }
    }

    private void ping(ConnectionId id, CmChannel channel) throws InterruptedException {
        Optional<InetSocketAddress> from = Optional.ofNullable(source).map(own -> address("-I", own, 0));
        InetSocketAddress to = address("-a", host, port);
        from.ifPresentOrElse(own -> id.resolveAddress(own, to), () -> id.resolveAddress(to));
        channel.await(ConnectionEvent.AddressResolved.class, "resolve address");
        id.resolveRoute();
        channel.await(ConnectionEvent.RouteResolved.class, "resolve route");
        try (var end = new RpingEnd(id, channel, settings(), "client")) {
            end.connect();
            end.ping();
        }
    }

    private static ConnectionEvent.ConnectRequest request(CmChannel channel) throws InterruptedException {
        while (true) {
            if (channel.awaitAny() instanceof ConnectionEvent.ConnectRequest request) {
                return request;
            }
        }
    }

    private void serve(ConnectionId id, CmChannel channel) throws InterruptedException {
        try (id;
                var end = new RpingEnd(id, channel, settings(), "server")) {
            end.accept();
            end.serve();
        }
    }

    // Each client has a thread and an event channel of its own.
    private void serveAll(CmChannel channel) throws InterruptedException {
        try (ExecutorService sessions = Executors.newVirtualThreadPerTaskExecutor()) {
            try {
                while (true) {
                    ConnectionId id = request(channel).id();
                    CmChannel own = channel.another();
                    own.adopt(id);
                    sessions.execute(() -> session(id, own));
                }
            } finally {
                sessions.shutdownNow();
            }
        }
    }

    private void session(ConnectionId id, CmChannel channel) {
        try (channel) {
            serve(id, channel);
        } catch (CommandFailed | VerbsException e) {
            note("rping: client " + Addresses.peer(id) + ": " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private RpingEnd.Settings settings() {
        Consumer<String> silent = line -> {};
        return new RpingEnd.Settings(
                size,
                count,
                verbose,
                validate,
                ownQueuePair,
                timeout(),
                this::print,
                this::note,
                debug ? this::print : silent);
    }

    private void onEvent(ConnectionEvent event) {
        if (debug) {
            print("cma_event type " + CmEvents.name(event) + " of " + event.id());
        }
    }
}
