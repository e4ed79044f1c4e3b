import java.util.concurrent.Executors;
import verbena.verbs.ConnectionException;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;

/// SEND and RECEIVE: messages, as with a socket that keeps their boundaries. The server sends each one back
/// until the client leaves.
///
/// Prints: one, two, three
public class Echo {
    public static void main(String[] args) throws Exception {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor();
                var listener = ConnectionListener.bind("127.0.0.1", 0)) {
            var server = threads.submit(() -> echo(listener));
            ask(listener.localAddress().getPort());
            server.get();
        }
    }

    private static Void echo(ConnectionListener listener) throws InterruptedException {
        try (var connection = listener.accept()) {
            var message = connection.allocate(1000);
            while (true) {
                long length = connection.receive(message).length();
                connection.send(message.slice(0, length));
            }
        } catch (ConnectionException e) {
            if (e.reason() == ConnectionException.Reason.DISCONNECTED) {
                return null; // the client has left
            }
            throw e;
        }
    }

    private static void ask(int port) throws InterruptedException {
        var answers = new StringBuilder();
        try (var connection = Connection.connect("127.0.0.1", port)) {
            for (String word : new String[] {"one", ", two", ", three"}) {
                connection.send(word);
                answers.append(connection.receiveText(1000));
            }
        }
        System.out.println(answers);
    }
}
