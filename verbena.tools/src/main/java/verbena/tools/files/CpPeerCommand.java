package verbena.tools.files;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import verbena.tools.kit.Addresses;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.VerbsException;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;

/// One of the two processes of `cp --compare`: takes an order a line on standard input, and answers each with a
/// line, `ok` or `failed` with a reason. Ends when standard input does, so that it never outlives the command.
///
/// `listen KIND DEVICE FILE` opens a port and tells it; `connect KIND DEVICE HOST PORT FILE` goes there; then, at
/// either, `accept` (receiver), `go` (moves the file; the answer is nanoseconds) and `close`. Words are apart
/// by tabs.
@Command(name = "cp-peer", hidden = true, header = "An end of cp --compare; the command starts it.")
public final class CpPeerCommand implements Callable<Integer> {
    private interface Acceptance {
        Endpoint accept() throws IOException, InterruptedException;
    }

    private @Nullable Acceptance listening;
    private @Nullable Endpoint end;

    @Override
    public Integer call() throws IOException, InterruptedException {
        var orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = orders.readLine(); line != null; line = orders.readLine()) {
            String answer;
            try {
                answer = "ok " + carryOut(line.split("\t", -1));
            } catch (IOException | VerbsException | CommandFailed | IllegalArgumentException e) {
                answer = "failed " + e.getMessage();
            }
            System.out.println(answer.replaceAll("\\s*\\R\\s*", " "));
            System.out.flush();
        }
        return 0;
    }

    private String carryOut(String[] order) throws IOException, InterruptedException {
        return switch (order[0]) {
            case "listen" -> {
                Way.Kind kind = Way.Kind.valueOf(order[1]);
                Path file = Path.of(order[3]);
                yield order[2].isEmpty() ? listen(kind, file) : listen(kind, order[2], file);
            }
            case "accept" -> {
                if (listening == null) {
                    throw new IllegalArgumentException("accept: there is no listener");
                }
                end = listening.accept();
                yield "";
            }
            case "connect" -> {
                var to = new InetSocketAddress(InetAddress.ofLiteral(order[3]), Integer.parseInt(order[4]));
                end = connect(Way.Kind.valueOf(order[1]), order[2], to, Path.of(order[5]));
                yield "";
            }
            case "go" -> {
                if (end == null) {
                    throw new IllegalArgumentException("go: there is no connection");
                }
                long start = System.nanoTime();
                end.run();
                yield Long.toString(System.nanoTime() - start);
            }
            case "close" -> {
                if (end != null) {
                    end.close();
                    end = null;
                }
                yield "";
            }
            default -> throw new IllegalArgumentException("unknown order " + order[0]);
        };
    }

    private String listen(Way.Kind kind, Path file) throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0));
        listening = () -> {
            try (server) {
                return new SocketEnd(server.accept(), kind, file, false);
            }
        };
        return at((InetSocketAddress) server.getLocalAddress());
    }

    private String listen(Way.Kind kind, String name, Path file) {
        Context device = Device.named(name).open();
        ConnectionListener listener = ConnectionListener.bind(
                new InetSocketAddress(device.gids(1).getFirst().gid().address(), 0),
                Session.connectionOptions().withDevice(device));
        listening = () -> {
            try (listener) {
                return new RdmaEnd(device, listener.accept(), kind, file, false);
            }
        };
        return at(listener.localAddress());
    }

    private static String at(InetSocketAddress address) {
        return Addresses.ip(address.getAddress()) + "\t" + address.getPort();
    }

    private static Endpoint connect(Way.Kind kind, String name, InetSocketAddress to, Path file)
            throws IOException, InterruptedException {
        if (name.isEmpty()) {
            SocketChannel socket = SocketChannel.open(to);
            socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
            return new SocketEnd(socket, kind, file, true);
        }
        Context device = Device.named(name).open();
        return new RdmaEnd(
                device, Connection.connect(to, Session.connectionOptions().withDevice(device)), kind, file, true);
    }
}
