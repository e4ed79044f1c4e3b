package verbena.tools.files;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import verbena.tools.kit.Closing;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;

/// A server of a folder, and clients of it, in this process: each on a device of its own.
final class FilesFixture implements AutoCloseable {
    static final Duration TIMEOUT = Duration.ofSeconds(20);

    final Path served;
    final List<String> log = new ArrayList<>();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private final FileServer server;
    private final Context clientDevice;
    private final ConnectionListener listener;

    private FilesFixture(Path served, String device, FileServer.Settings settings, GuessLimit guesses) {
        this.served = served;
        Context serverDevice = opened(Device.named(device).open());
        clientDevice = opened(Device.named(device).open());
        server = opened(new FileServer(settings, guesses, this::log));
        var options = Session.connectionOptions().withDevice(serverDevice);
        listener = opened(ConnectionListener.bind(
                new InetSocketAddress(serverDevice.gids(1).getFirst().gid().address(), 0),
                options.withParameters(own -> own.withKeepAlive(Duration.ofMillis(500)))));
        Thread.ofPlatform().daemon().start(() -> {
            try {
                server.serve(listener);
            } catch (InterruptedException _) {
                // No test does that.
            }
        });
    }

    static FilesFixture serving(Path folder, String device) throws IOException {
        return serving(folder, device, UnaryOperator.identity());
    }

    /// @param opened what becomes of each file that the server opens
    static FilesFixture serving(Path folder, String device, UnaryOperator<FileChannel> opened) throws IOException {
        Files.createDirectories(folder);
        var settings = new FileServer.Settings(
                Folder.at(folder, opened), true, Optional.empty(), false, 4, 32 << 20, false, TIMEOUT);
        return new FilesFixture(folder, device, settings, new GuessLimit(System::nanoTime));
    }

    static FilesFixture serving(Path folder, FileServer.Settings settings, GuessLimit guesses) {
        return new FilesFixture(folder, "rocev2", settings, guesses);
    }

    private <T extends AutoCloseable> T opened(T object) {
        opened.add(object);
        return object;
    }

    private void log(String line) {
        synchronized (log) {
            log.add(line);
            log.notifyAll();
        }
    }

    /// Waits for a line that the server logs.
    String logged(String part) throws InterruptedException {
        synchronized (log) {
            while (true) {
                for (String line : log) {
                    if (line.contains(part)) {
                        return line;
                    }
                }
                log.wait();
            }
        }
    }

    int port() {
        return listener.localAddress().getPort();
    }

    String host() {
        return listener.localAddress().getAddress().getHostAddress();
    }

    /// Cuts all connections of the server.
    void disconnectAll() {
        server.disconnectAll();
    }

    FileClient client(Terms terms) throws InterruptedException {
        return client(terms, Optional.empty());
    }

    FileClient client(Terms terms, Optional<Secret> secret) throws InterruptedException {
        InetSocketAddress at = listener.localAddress();
        return FileClient.connect(new FileClient.Way(
                at.getAddress().getHostAddress(), at.getPort(), clientDevice, terms, secret, false, TIMEOUT, TIMEOUT));
    }

    /// A client that says what it likes.
    MessageChannel stranger() throws InterruptedException {
        return new MessageChannel(connect());
    }

    Connection connect() throws InterruptedException {
        return Connection.connect(
                listener.localAddress(), Session.connectionOptions().withDevice(clientDevice));
    }

    /// Sends to a receiver that calls every chunk damaged, until it gives the file up.
    void refuseChunks(Terms terms, List<Walk.Source> sources, TransferListener heard) throws Exception {
        try (var at = ConnectionListener.bind(
                new InetSocketAddress(clientDevice.gids(1).getFirst().gid().address(), 0),
                Session.connectionOptions().withDevice(clientDevice))) {
            Thread sender = Thread.ofPlatform().start(() -> {
                try (var channel = new MessageChannel(Connection.connect(
                                at.localAddress(), Session.connectionOptions().withDevice(clientDevice)));
                        var session = new Session(channel, terms.with(Mode.READ), true, false)) {
                    session.send(Window.NONE, sources, false, heard);
                } catch (InterruptedException _) {
                    // No test does that.
                }
            });
            try (var peer = new MessageChannel(at.accept())) {
                peer.expect(Kind.TOTAL, TIMEOUT);
                peer.expect(Kind.ENTRY, TIMEOUT);
                peer.send(peer.write(Kind.WANT).int32(0).int64(0).int8(0).text(""));
                Message message = peer.receive(TIMEOUT);
                while (message.kind() == Kind.CHUNK) {
                    int slot = message.bytes().getInt();
                    peer.send(peer.write(Kind.AGAIN).int32(slot));
                    message = peer.receive(TIMEOUT);
                }
                peer.send(peer.write(Kind.DROPPED).int32(0));
                peer.expect(Kind.FINISH, TIMEOUT);
                peer.send(peer.write(Kind.BYE));
                sender.join();
            }
        }
    }

    /// Copies there.
    Heard put(Terms terms, Path source, String to, Request.Option... options) throws InterruptedException {
        return put(terms, UnaryOperator.identity(), source, to, options);
    }

    Heard put(Terms terms, UnaryOperator<FileChannel> opened, Path source, String to, Request.Option... options)
            throws InterruptedException {
        var heard = new Heard();
        try (FileClient client = client(terms)) {
            Folder folder = Folder.at(source.toAbsolutePath().getParent(), opened);
            client.put(List.of(Walk.Source.of(folder, source.getFileName())), Path.of(to), set(options), heard);
        }
        return heard;
    }

    /// Copies here, into `to`.
    Heard get(Terms terms, String path, Path to, Request.Option... options) throws InterruptedException {
        var heard = new Heard();
        try (FileClient client = client(terms)) {
            client.get(Path.of(path), new Landing(Folder.at(to), Path.of(""), null), set(options), heard);
        }
        return heard;
    }

    static Set<Request.Option> set(Request.Option... options) {
        Set<Request.Option> set = EnumSet.noneOf(Request.Option.class);
        set.addAll(List.of(options));
        return set;
    }

    @Override
    public void close() {
        Closing.all(opened);
    }
}
