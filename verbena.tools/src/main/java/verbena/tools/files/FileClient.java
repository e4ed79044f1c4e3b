package verbena.tools.files;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.BufferUnderflowException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.tools.files.Request.Option;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.RemoteMemory;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionOptions;

/// The client of a [FileServer]: one connection, and one request after the other.
final class FileClient implements AutoCloseable {
    private final MessageChannel channel;
    private final Terms terms;
    private final boolean isDirect;
    private final Duration timeout;

    private FileClient(MessageChannel channel, Terms terms, boolean isDirect, Duration timeout) {
        this.channel = channel;
        this.terms = terms;
        this.isDirect = isDirect;
        this.timeout = timeout;
    }

    /// The path to a server, and the settings to agree on with it.
    ///
    /// @param device to use; null for the one that reaches the server
    /// @param isDirect whether local files go past the page cache
    /// @param timeout how long to wait for an answer of the server
    /// @param silence how long it may say nothing within a request
    record Way(
            String host,
            int port,
            @Nullable Context device,
            Terms terms,
            Optional<Secret> secret,
            boolean isDirect,
            Duration timeout,
            Duration silence) {}

    /// @throws ConnectionException when there is no way to a server
    /// @throws CommandFailed when the server and this do not get on with each other
    static FileClient connect(Way way) throws InterruptedException {
        ConnectionOptions options = Session.connectionOptions().withConnectTimeout(way.timeout());
        if (way.device() != null) {
            options = options.withDevice(way.device());
        }
        var channel = new MessageChannel(connect(way, options), way.silence());
        Terms terms = null;
        try {
            terms = Handshake.asClient(channel, way.terms(), way.secret(), way.timeout());
            return new FileClient(channel, terms, way.isDirect(), way.timeout());
        } finally {
            if (terms == null) {
                channel.close();
            }
        }
    }

    private static Connection connect(Way way, ConnectionOptions options) throws InterruptedException {
        InetAddress[] addresses;
        try {
            addresses = InetAddress.getAllByName(way.host());
        } catch (UnknownHostException e) {
            throw new CommandFailed("\"" + way.host() + "\" is no known host", e);
        }
        for (int i = 0; ; i++) {
            try {
                return Connection.connect(new InetSocketAddress(addresses[i], way.port()), options);
            } catch (ConnectionException e) {
                if (i + 1 == addresses.length) {
                    throw e;
                }
            }
        }
    }

    /// Returns the terms that were agreed on.
    Terms terms() {
        return terms;
    }

    /// Copies files to the server.
    ///
    /// @param path in the served folder
    void put(List<Walk.Source> sources, Path path, Set<Option> options, TransferListener listener)
            throws InterruptedException {
        try (var session = new Session(channel, terms, true, isDirect)) {
            RemoteMemory theirs = ask(new Request(true, options, path), session);
            session.send(theirs, sources, options.contains(Option.RECURSIVE), listener);
        }
    }

    /// Copies files to this host.
    void get(Path path, Landing landing, Set<Option> options, TransferListener listener) throws InterruptedException {
        try (var session = new Session(channel, terms, false, isDirect)) {
            var request = new Request(false, options, path);
            RemoteMemory theirs = ask(request, session);
            session.receive(theirs, landing, request.scope(), options, listener);
        }
    }

    private RemoteMemory ask(Request request, Session session) throws InterruptedException {
        if (Names.bytes(request.path()).length > Entry.NAME_MAX) {
            throw new CommandFailed("the path there is longer than " + Entry.NAME_MAX + " bytes");
        }
        channel.send(request.writeTo(channel.write(Kind.REQUEST)).memory(session.exposed()));
        try {
            return channel.expect(Kind.READY, timeout).takeMemory();
        } catch (BufferUnderflowException e) {
            throw MessageChannel.malformed(e);
        }
    }

    @Override
    public void close() {
        channel.close();
    }
}
