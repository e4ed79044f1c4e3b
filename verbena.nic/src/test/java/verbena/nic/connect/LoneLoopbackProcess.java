package verbena.nic.connect;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Devices on a host of which only 127.0.0.1 is local: the program that [LoneLoopbackTest] starts.
final class LoneLoopbackProcess {
    private LoneLoopbackProcess() {}

    public static void main(String[] arguments) throws Exception {
        System.out.println(NetworkOfItsOwn.BEGINS);
        for (String options : new String[] {"", ",link=portable"}) {
            try (Context one = Device.named("rocev2" + options).open();
                    Context two = Device.named("rocev2" + options).open()) {
                System.out.println(place(one) + " and " + place(two) + ": " + write(one, two));
            }
        }
        try (Context named = Device.named("rocev2@127.0.0.1,link=portable").open();
                Context any = Device.named("rocev2,link=portable").open()) {
            System.out.println(place(any) + " to " + place(named) + ": " + write(named, any));
        }
        try (Context iwarp = Device.named("iwarp,link=portable").open()) {
            System.out.println("iwarp: " + write(iwarp, iwarp));
        }
    }

    private static String write(Context server, Context client) throws Exception {
        InetAddress at = server.gids(1).getFirst().gid().address();
        var options = ConnectionOptions.defaults();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                var listener = ConnectionListener.bind(new InetSocketAddress(at, 0), options.withDevice(server))) {
            var accepted = threads.submit(() -> listener.accept());
            try (var near = Connection.connect(listener.localAddress(), options.withDevice(client));
                    var far = accepted.get()) {
                var target = far.allocate(100_000, Access.remoteAll());
                var source = near.allocate(100_000, Set.of());
                source.segment().setString(0, "written");
                var told = threads.submit(() -> far.receiveText(100));
                near.write(source.slice(0, 100_000), target.remote());
                near.send("it is there"); // over iWARP the end of a WRITE says that it was sent
                told.get();
                return target.segment().getString(0);
            }
        }
    }

    /// What kind of address it has.
    private static String place(Context device) {
        String address = device.gids(1).getFirst().gid().toString();
        return address.startsWith("127.1.") ? "127.1.x.y" : address;
    }
}
