package verbena.tools.files;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import verbena.tools.kit.Closing;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.RemoteMemory;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;

/// A server that says what a test tells it to say, and a client of it in this process.
final class FakeServer implements AutoCloseable {
    /// What the server does with one connection.
    interface Script {
        void play(MessageChannel client) throws InterruptedException;
    }

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final Context clientDevice;
    private final ConnectionListener listener;
    private final Thread thread;

    /// @param script for each connection in turn, until it is closed
    FakeServer(Script script) {
        Context serverDevice = opened(Device.named("rocev2").open());
        clientDevice = opened(Device.named("rocev2").open());
        listener = opened(ConnectionListener.bind(
                new InetSocketAddress(serverDevice.gids(1).getFirst().gid().address(), 0),
                Session.connectionOptions().withDevice(serverDevice)));
        thread = Thread.ofPlatform().daemon().start(() -> serve(script));
    }

    private void serve(Script script) {
        try {
            while (true) {
                play(script, listener.accept());
            }
        } catch (VerbsException | InterruptedException _) {
            // Closed.
        }
    }

    private static void play(Script script, Connection connection) throws InterruptedException {
        try (var channel = new MessageChannel(connection)) {
            script.play(channel);
            while (true) {
                channel.receive(FilesFixture.TIMEOUT); // until the client has gone
            }
        } catch (CommandFailed | VerbsException _) {
            // It goes on with the next.
        }
    }

    /// A server of `script` after its client has asked for something.
    static FakeServer sending(Script script) {
        return new FakeServer(client -> {
            request(client);
            client.send(client.write(Kind.TOTAL).int64(1).int64(5));
            script.play(client);
        });
    }

    /// What a client wants, and its window.
    record Asked(Request request, RemoteMemory theirs) {}

    /// The handshake, and a request that is granted.
    static Asked request(MessageChannel client) throws InterruptedException {
        return request(client, null);
    }

    /// @param own the server's window, when it exposes it
    static Asked request(MessageChannel client, @Nullable Window own) throws InterruptedException {
        Handshake.asServer(
                client,
                1 << 20,
                Optional.empty(),
                new GuessLimit(System::nanoTime),
                client.connection().peerAddress().getAddress(),
                FilesFixture.TIMEOUT);
        Message message = client.expect(Kind.REQUEST, FilesFixture.TIMEOUT);
        var asked = new Asked(Request.readFrom(message), message.takeMemory());
        client.send(client.write(Kind.READY).memory(own == null ? Window.NONE : own.exposed()));
        return asked;
    }

    static Message entry(MessageChannel to, int id, Attributes.Type type, String name, String target)
            throws InterruptedException {
        Message message = to.write(Kind.ENTRY).int32(id).int8(type.ordinal()).int32(0700);
        message.int64(type == Attributes.Type.FILE ? 5 : 0).int64(0).int32(0).int64(0);
        return message.counted(name.getBytes(StandardCharsets.UTF_8)).counted(target.getBytes(StandardCharsets.UTF_8));
    }

    /// What the receiver has said to an entry.
    static Verdict verdict(MessageChannel from) throws InterruptedException {
        Message want = from.expect(Kind.WANT, FilesFixture.TIMEOUT);
        return Verdict.values()[want.bytes().position(1 + 4 + 8).get()];
    }

    /// Sends an entry; what the receiver has said to it.
    static Verdict offer(MessageChannel to, int id, Attributes.Type type, String name, String target)
            throws InterruptedException {
        to.send(entry(to, id, type, name, target));
        return verdict(to);
    }

    /// Says that no more comes, and hears that all of it was taken.
    static void finish(MessageChannel with) throws InterruptedException {
        with.send(with.write(Kind.FINISH));
        with.expect(Kind.BYE, FilesFixture.TIMEOUT);
    }

    /// Copies to it.
    void put(Path source, Duration silence) throws InterruptedException {
        Path name = source.getFileName();
        try (FileClient client = FileClient.connect(way(silence))) {
            client.put(
                    List.of(Walk.Source.of(Folder.holding(source), name)),
                    Path.of(""),
                    FilesFixture.set(Request.Option.RECURSIVE),
                    new Heard());
        }
    }

    private <T extends AutoCloseable> T opened(T object) {
        opened.add(object);
        return object;
    }

    InetSocketAddress address() {
        return listener.localAddress();
    }

    private FileClient.Way way(Duration silence) {
        InetSocketAddress at = listener.localAddress();
        return new FileClient.Way(
                at.getAddress().getHostAddress(),
                at.getPort(),
                clientDevice,
                CopyTest.SMALL,
                Optional.empty(),
                false,
                FilesFixture.TIMEOUT,
                silence);
    }

    /// Copies from it into a folder.
    ///
    /// @param silence that the client bears
    Heard get(String path, Path to, Duration silence, Request.Option... options) throws InterruptedException {
        var heard = new Heard();
        try (FileClient client = FileClient.connect(way(silence))) {
            client.get(Path.of(path), new Landing(Folder.at(to), Path.of(""), null), FilesFixture.set(options), heard);
        }
        return heard;
    }

    @Override
    public void close() {
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        Closing.all(opened);
    }
}
