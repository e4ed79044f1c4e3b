package verbena.nic.connect;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import verbena.verbs.ConnectionException;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Connects to servers on this host whose devices do not share their address, as those of another user's process do
/// not: the program that [TakenAddressTest] starts.
final class TakenAddressProcess {
    private TakenAddressProcess() {}

    public static void main(String[] arguments) throws Exception {
        System.out.println(NetworkOfItsOwn.BEGINS);
        try (Context loopback = notShared("127.0.0.1");
                Context address = notShared("203.0.113.9")) {
            greet(loopback, "127.0.0.1");
            greet(address, "203.0.113.9");
            greetAt("127.0.0.1", "127.0.0.1");
            try {
                ConnectionListener.bind("203.0.113.9", 0).close();
            } catch (ConnectionException e) {
                String said =
                        e.getMessage().replaceAll("process [0-9]+", "process N").replaceAll("[(][^)]*[)]", "()");
                System.out.println("listen: " + e.reason() + ", " + said.split("[.] ", 2)[0]);
            }
            greetAt("0.0.0.0", "203.0.113.10");
        }
    }

    /// A listener at a loopback address does without the device; one at all addresses takes those that are free.
    private static void greetAt(String own, String peer) throws Exception {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                var listener = ConnectionListener.bind(own, 0)) {
            var accepted = threads.submit(() -> listener.accept());
            try (var client = Connection.connect(peer, listener.localAddress().getPort());
                    var connection = accepted.get()) {
                var received = threads.submit(() -> connection.receiveText(10));
                client.send("hello");
                System.out.println(own + ": " + received.get());
            }
        }
    }

    private static Context notShared(String address) {
        return Device.named("rocev2@" + address + ",link=portable").open();
    }

    private static void greet(Context server, String address) throws Exception {
        var options = ConnectionOptions.defaults().withDevice(server);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                var listener = ConnectionListener.bind(new InetSocketAddress(address, 0), options)) {
            int port = listener.localAddress().getPort();
            var accepted = threads.submit(() -> listener.accept());
            try (var client = Connection.connect(address, port);
                    var connection = accepted.get()) {
                var in = connection.allocate(8);
                var out = client.allocate(8);
                var received =
                        threads.submit(() -> connection.receive(in.slice(0, 8)).length());
                out.segment().setString(0, "hello");
                client.send(out.slice(0, 6));
                received.get();
                var acceptedToo = threads.submit(() -> listener.accept());
                try (var other = Connection.connect(address, port);
                        var _ = acceptedToo.get()) {
                    InetAddress own = client.localAddress().getAddress();
                    System.out.println(address + ": " + in.segment().getString(0)
                            + (own.isLoopbackAddress() && !own.getHostAddress().equals(address) ? " from loopback" : "")
                            + (other.localAddress().getAddress().equals(own) ? ", both clients at one address" : ""));
                }
            }
        }
    }
}
