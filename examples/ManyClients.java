import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import verbena.verbs.ConnectionException;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;

/// A server with a virtual thread for each client. A virtual thread that waits for a message occupies no thread
/// of the operating system, so the code reads as if there were one client only.
///
/// Prints: 30 clients, sum 465
public class ManyClients {
    static final int CLIENTS = 30;

    public static void main(String[] args) throws Exception {
        var sum = new AtomicInteger();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor();
                var listener = ConnectionListener.bind("127.0.0.1", 0)) {
            threads.submit(() -> {
                while (true) { // until the listener closes
                    var connection = listener.accept();
                    threads.submit(() -> serve(connection, sum));
                }
            });
            int port = listener.localAddress().getPort();
            var clients = IntStream.rangeClosed(1, CLIENTS)
                    .mapToObj(number -> threads.submit(() -> add(port, number)))
                    .toList();
            for (var client : clients) {
                client.get();
            }
        }
        System.out.println(CLIENTS + " clients, sum " + sum);
    }

    private static Void serve(Connection connection, AtomicInteger sum) throws InterruptedException {
        try (connection) {
            while (true) {
                sum.addAndGet(Integer.parseInt(connection.receiveText(100)));
                connection.send("counted");
            }
        } catch (ConnectionException e) {
            return null; // the client has left
        }
    }

    private static Void add(int port, int number) throws InterruptedException {
        try (var connection = Connection.connect("127.0.0.1", port)) {
            connection.send(String.valueOf(number));
            connection.receiveText(100);
            return null;
        }
    }
}
