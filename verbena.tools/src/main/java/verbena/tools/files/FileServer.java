package verbena.tools.files;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.BufferUnderflowException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import verbena.tools.files.Request.Option;
import verbena.tools.kit.Addresses;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.Failures;
import verbena.verbs.ConnectionException;
import verbena.verbs.RemoteMemory;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;

/// A server of one folder to clients, each on a thread and in a protection domain of its own.
final class FileServer implements AutoCloseable {
    /// Connections that may be proving their secret.
    static final int STRANGERS_MAX = 16;

    private static final Duration HANDSHAKE = Duration.ofSeconds(10);
    /// The time between requests of a client.
    private static final Duration IDLE = Duration.ofSeconds(60);

    /// The settings of the server.
    ///
    /// @param folder what is served
    /// @param isWritable whether clients may change it
    /// @param secret that clients have to know; without one only clients on this host are served
    /// @param isOpen whether clients elsewhere are served too when there is no secret
    /// @param clientsMax clients at once
    /// @param windowBytes of memory that a client may have under way
    /// @param isDirect whether files go past the page cache
    /// @param silence how long a client may say nothing within a request
    record Settings(
            Folder folder,
            boolean isWritable,
            Optional<Secret> secret,
            boolean isOpen,
            int clientsMax,
            long windowBytes,
            boolean isDirect,
            Duration silence) {}

    private final Settings settings;
    private final GuessLimit guesses;
    private final Consumer<String> log;
    private final Places strangers;
    private final Places clients;
    private final Set<MessageChannel> connected = ConcurrentHashMap.newKeySet();
    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(
            Thread.ofPlatform().daemon().name("verbena-files-client-", 0).factory());

    /// @param log is given a line for each request and each client that was turned away; any thread calls it
    FileServer(Settings settings, GuessLimit guesses, Consumer<String> log) {
        this.settings = settings;
        this.guesses = guesses;
        this.log = log;
        boolean isForOthers = settings.secret().isPresent() || settings.isOpen();
        clients = isForOthers ? Places.shared(settings.clientsMax()) : Places.unshared(settings.clientsMax());
        strangers = isForOthers ? Places.shared(STRANGERS_MAX) : Places.unshared(STRANGERS_MAX);
    }

    /// Serves the clients that come until the listener is closed or the thread interrupted.
    void serve(ConnectionListener listener) throws InterruptedException {
        while (true) {
            Connection connection;
            try {
                connection = listener.accept();
            } catch (ConnectionException e) {
                if (e.reason() == ConnectionException.Reason.CLOSED) {
                    return;
                }
                throw e;
            }
            InetAddress from = connection.peerAddress().getAddress();
            if (!strangers.take(from)) {
                turnAway(connection);
                continue;
            }
            boolean begun = false;
            try {
                threads.execute(() -> welcome(connection, from));
                begun = true;
            } catch (OutOfMemoryError | RejectedExecutionException e) {
                log.accept(Addresses.ip(from) + ": there is no thread for it: " + e.getMessage());
            } finally {
                if (!begun) {
                    strangers.giveBack(from);
                    turnAway(connection);
                }
            }
        }
    }

    /// Ends a connection without waiting for a peer that may not answer: others wait to be accepted.
    private static void turnAway(Connection connection) {
        connection.id().close();
        connection.close();
    }

    private void welcome(Connection connection, InetAddress from) {
        String who = Addresses.ip(from);
        boolean isStranger = true;
        try (connection;
                var channel = new MessageChannel(connection, settings.silence())) {
            connected.add(channel);
            Terms terms;
            try {
                terms = handshake(channel, from);
            } finally {
                isStranger = false;
                strangers.giveBack(from);
            }
            if (!clients.take(from)) {
                throw refused(channel, "the server has its " + clients.all() + " clients; try again later");
            }
            try {
                requests(channel, terms, who);
            } finally {
                clients.giveBack(from);
            }
        } catch (CommandFailed | VerbsException e) {
            log.accept(who + ": " + e.getMessage());
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | OutOfMemoryError e) {
            log.accept(who + ": it broke here: " + e);
        } finally {
            connected.removeIf(channel -> channel.connection() == connection);
            if (isStranger) {
                strangers.giveBack(from);
            }
        }
    }

    private Terms handshake(MessageChannel channel, InetAddress from) throws InterruptedException {
        if (settings.secret().isEmpty() && !settings.isOpen() && !from.isLoopbackAddress()) {
            throw refused(channel, "this server is for its own host only");
        }
        return Handshake.asServer(channel, settings.windowBytes(), settings.secret(), guesses, from, HANDSHAKE);
    }

    private static CommandFailed refused(MessageChannel channel, String why) throws InterruptedException {
        channel.abort(why);
        return new CommandFailed(why);
    }

    private void requests(MessageChannel channel, Terms terms, String who) throws InterruptedException {
        while (true) {
            Message message;
            try {
                message = channel.expect(Kind.REQUEST, IDLE);
            } catch (ConnectionException e) {
                if (e.reason() == ConnectionException.Reason.TIMEOUT) {
                    throw e;
                }
                return; // it has all that it wanted
            }
            request(channel, message, terms, who);
        }
    }

    private void request(MessageChannel channel, Message message, Terms terms, String who) throws InterruptedException {
        String what = "";
        var tally = new Tally();
        try {
            Request request = Request.readFrom(message);
            RemoteMemory theirs = message.takeMemory();
            what = (request.isPut() ? "put " : "get ") + "/"
                    + Names.shown(request.path()).replaceFirst("^/+", "");
            carryOut(channel, request, theirs, terms, tally);
            log.accept(who + ": " + what + ": " + tally);
        } catch (BufferUnderflowException e) {
            throw MessageChannel.malformed(e);
        } catch (IOException e) {
            throw refused(channel, Failures.text(what, e));
        } catch (CommandFailed | VerbsException e) {
            log.accept(who + ": " + what + ": broken off after " + tally);
            throw e;
        }
    }

    private void carryOut(MessageChannel channel, Request request, RemoteMemory theirs, Terms terms, Tally tally)
            throws IOException, InterruptedException {
        Folder folder = settings.folder();
        Path path = request.path();
        boolean isPut = request.isPut();
        if (isPut && !settings.isWritable()) {
            throw refused(channel, "the served folder is not to be changed; 'serve --writable' allows it");
        }
        try (var session = new Session(channel, terms, !isPut, settings.isDirect())) {
            Landing landing = null;
            if (isPut) {
                landing = Landing.of(folder, path, request.options().contains(Option.INTO_FOLDER));
            } else {
                folder.find(path, true).close(); // refused before anything is said
            }
            channel.send(channel.write(Kind.READY).memory(session.exposed()));
            if (landing == null) {
                session.send(
                        theirs,
                        List.of(Walk.Source.of(folder, path)),
                        request.options().contains(Option.RECURSIVE),
                        tally);
            } else {
                session.receive(theirs, landing, request.scope(), request.options(), tally);
            }
        }
    }

    /// Ends all connections; a client that comes later is served.
    void disconnectAll() {
        connected.forEach(MessageChannel::disconnect);
    }

    /// Ends what is under way.
    @Override
    public void close() {
        disconnectAll();
        threads.shutdownNow();
        threads.close();
    }
}
