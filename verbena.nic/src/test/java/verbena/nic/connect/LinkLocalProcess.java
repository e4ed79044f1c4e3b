package verbena.nic.connect;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Asks at one link-local address through two interfaces, behind which two listeners have it: the program that
/// [LinkLocalTest] starts.
final class LinkLocalProcess {
    private LinkLocalProcess() {}

    public static void main(String[] arguments) throws Exception {
        System.out.println(NetworkOfItsOwn.BEGINS);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                var north = listen("fe80::2%vb", 0);
                var west = listen("fe80::2%wb", north.localAddress().getPort())) {
            for (String through : new String[] {"va", "wa", "va", "vb", "wb"}) {
                ConnectionListener meant = through.startsWith("v") ? north : west;
                var accepted = threads.submit(() -> meant.accept());
                var to = new InetSocketAddress(
                        InetAddress.getByName("fe80::2%" + through),
                        meant.localAddress().getPort());
                try (var client = Connection.connect(to, ConnectionOptions.defaults());
                        var server = accepted.get()) {
                    var received = threads.submit(() -> client.receiveText(10));
                    server.send(meant == north ? "north" : "west");
                    System.out.println(through + ": " + received.get() + ", from "
                            + client.localAddress().getAddress().getHostAddress() + ", seen as "
                            + server.peerAddress().getAddress().getHostAddress());
                }
            }
        }
    }

    private static ConnectionListener listen(String address, int port) throws Exception {
        return ConnectionListener.bind(
                new InetSocketAddress(InetAddress.getByName(address), port), ConnectionOptions.defaults());
    }
}
