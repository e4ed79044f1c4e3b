import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.concurrent.Executors;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// What a test of a program needs to meet a bad network: a device that loses, doubles and reorders packets, the same
/// ones each time, and counts what it did. The program must not notice.
///
/// Prints: 200 blocks arrived, each of them whole, over a network that lost packets
public class BadNetwork {
    private static final int BLOCKS = 200;
    private static final int BYTES = 16_384;

    public static void main(String[] args) throws Exception {
        try (Context device = Device.named("rocev2,faults=loss:2%,duplicate:1%,reorder:1%,seed:7").open();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var at = new InetSocketAddress(device.gid(1, 0).gid().address(), 0);
            ConnectionOptions options = ConnectionOptions.defaults().withDevice(device);
            try (var listener = ConnectionListener.bind(at, options)) {
                var accepted = threads.submit(() -> listener.accept());
                int whole = 0;
                try (var client = Connection.connect(listener.localAddress(), options);
                        var server = accepted.get()) {
                    var memory = server.allocate(BYTES, Access.remoteAll());
                    var block = new byte[BYTES];
                    for (int i = 0; i < BLOCKS; i++) {
                        Arrays.fill(block, (byte) i);
                        client.write(block, memory.remote());
                        whole += Arrays.equals(client.read(memory.remote()), block) ? 1 : 0;
                    }
                }
                long lost = device.counters().get("faults.sent.lost") + device.counters().get("faults.received.lost");
                System.out.println(whole + " blocks arrived, each of them whole, over a network that lost "
                        + (lost > 0 ? "packets" : "none"));
            }
        }
    }
}
