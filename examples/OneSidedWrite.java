import java.util.concurrent.Executors;
import verbena.verbs.Access;
import verbena.verbs.RemoteMemory;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;

/// RDMA WRITE: the client puts text into the server's memory. The server's thread does nothing for that; a message
/// then tells it that the text is there.
///
/// Prints: the server finds: written from afar
public class OneSidedWrite {
    public static void main(String[] args) throws Exception {
        try (var listener = ConnectionListener.bind("127.0.0.1", 0);
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var server = threads.submit(() -> serve(listener));
            write(listener.localAddress().getPort());
            System.out.println("the server finds: " + server.get());
        }
    }

    private static String serve(ConnectionListener listener) throws InterruptedException {
        try (var connection = listener.accept()) {
            var memory = connection.allocate(4096, Access.remoteAll()); // the peer may read and write it
            var note = connection.allocate(100); // no peer may access it
            note.segment().setString(0, memory.remote().format()); // address, key and length, as text
            connection.send(note, 0, 100);
            connection.receive(note, 0, 100); // the client has written
            return memory.segment().getString(0);
        }
    }

    private static void write(int port) throws InterruptedException {
        try (var connection = Connection.connect("127.0.0.1", port)) {
            var note = connection.allocate(100);
            connection.receive(note, 0, 100);
            var theirs = RemoteMemory.parse(note.segment().getString(0));

            var memory = connection.allocate(4096);
            memory.segment().setString(0, "written from afar");
            connection.write(memory, 0, 18, theirs, 0); // returns when the bytes are there
            connection.send(note, 0, 1);
        }
    }
}
