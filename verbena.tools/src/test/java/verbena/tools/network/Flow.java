package verbena.tools.network;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.RemoteMemory;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// A program of its own on an emulated host: a server, or a client that writes into the server's memory and reads it
/// back. All clients of a server begin together. Each end compares every byte, and prints its counters of
/// congestion.
final class Flow {
    private static final int PORT = 7471;
    private static final int BYTES = 6 << 20;
    private static final int TEXT_MAX = 100;

    private Flow() {}

    /// `serve DEVICE ADDRESS CLIENTS`, or `write DEVICE ADDRESS SEED` with the server's address.
    public static void main(String... words) throws InterruptedException {
        var address = new InetSocketAddress(words[2], PORT);
        try (Context device = Device.named(words[1]).open()) {
            ConnectionOptions options = ConnectionOptions.defaults().withDevice(device);
            if (words[0].equals("serve")) {
                serve(address, options, Integer.parseInt(words[3]));
            } else {
                write(address, options, Long.parseLong(words[3]));
            }
            device.counters().forEach((name, count) -> {
                if (name.startsWith("np_") || name.startsWith("rp_")) {
                    System.out.println(name + " " + count);
                }
            });
        }
    }

    private static void serve(InetSocketAddress at, ConnectionOptions options, int clients)
            throws InterruptedException {
        try (var listener = ConnectionListener.bind(at, options)) {
            System.out.println("listens");
            List<Connection> connections = new ArrayList<>();
            List<MemoryRegion> regions = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                Connection connection = listener.accept();
                connections.add(connection);
                regions.add(connection.allocate(BYTES, Access.remoteAll()));
            }
            for (int i = 0; i < clients; i++) {
                connections.get(i).send(regions.get(i).remote().format());
            }
            for (int i = 0; i < clients; i++) {
                long seed = Long.parseLong(connections.get(i).receiveText(TEXT_MAX));
                check(regions.get(i).segment(), seed);
            }
            connections.forEach(Flow::end);
        }
    }

    /// The clients read until they say otherwise.
    private static void end(Connection connection) {
        try (connection) {
            connection.send("whole");
            connection.receiveText(TEXT_MAX);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void write(InetSocketAddress to, ConnectionOptions options, long seed) throws InterruptedException {
        try (var connection = Connection.connect(to, options)) {
            var memory = connection.allocate(BYTES);
            memory.segment().copyFrom(bytes(seed));
            var theirs = RemoteMemory.parse(connection.receiveText(TEXT_MAX));
            connection.write(memory.slice(0, BYTES), theirs);
            connection.send(Long.toString(seed));
            connection.receiveText(TEXT_MAX);
            memory.segment().fill((byte) 0);
            connection.read(theirs.slice(0, BYTES), memory.slice(0, BYTES));
            check(memory.segment(), seed);
            connection.send("read");
        }
    }

    private static MemorySegment bytes(long seed) {
        var bytes = new byte[BYTES];
        new Random(seed).nextBytes(bytes);
        return MemorySegment.ofArray(bytes);
    }

    private static void check(MemorySegment found, long seed) {
        long at = found.asSlice(0, BYTES).mismatch(bytes(seed));
        System.out.println(at < 0 ? "all bytes are right" : "byte " + at + " is wrong");
    }
}
