import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Executors;
import verbena.messages.Worker;
import verbena.verbs.Device;

/// A server that answers calls, and a client. Neither names a queue pair, a completion or registered memory.
///
/// Prints: HELLO, 1000000 bytes
public class Calls {
    public static void main(String[] args) throws Exception {
        try (var device = Device.named("rocev2").open(); // at a free address of this host
                var server = Worker.open(device);
                var client = Worker.open(device);
                var threads = Executors.newVirtualThreadPerTaskExecutor();
                var listener = server.listen(0)) {
            server.answerCalls(call -> {
                String text = new String(call.bytes(), StandardCharsets.UTF_8);
                return MemorySegment.ofArray(text.toUpperCase().getBytes(StandardCharsets.UTF_8));
            });
            var accepted = threads.submit(() -> listener.accept());
            var peer = client.connect(listener.localAddress());
            String answer = peer.call("hello", Duration.ofSeconds(10));
            byte[] large = peer.call(new byte[1_000_000], Duration.ofSeconds(10));
            System.out.println(answer + ", " + large.length + " bytes");
            accepted.get().close();
        }
    }
}
