import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.concurrent.Executors;
import verbena.verbs.Access;
import verbena.verbs.RemoteMemory;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;

/// RDMA WRITE: the client puts text into the server's memory. The server's thread does nothing for that; a
/// message then tells it that the text is there.
///
/// Prints: the server finds: written from afar
public class OneSidedWrite {
    public static void main(String[] args) throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor();
                var listener = ConnectionListener.bind("127.0.0.1", 0)) {
            var server = threads.submit(() -> serve(listener));
            write(listener.localAddress().getPort());
            System.out.println("the server finds: " + server.get());
        }
    }

    private static String serve(ConnectionListener listener) throws InterruptedException {
        try (var connection = listener.accept()) {
            var memory = connection.allocate(4096, Access.remoteAll()); // the peer may read and write it
            connection.send(memory.remote().format()); // address, key and length, as text
            connection.receiveText(100); // the client has written
            return memory.segment().getString(0);
        }
    }

    private static void write(int port) throws InterruptedException {
        try (var connection = Connection.connect("127.0.0.1", port)) {
            var theirs = RemoteMemory.parse(connection.receiveText(100));
            connection.write("written from afar".getBytes(UTF_8), theirs); // returns when the bytes are there
            connection.send("written");
        }
    }
}
