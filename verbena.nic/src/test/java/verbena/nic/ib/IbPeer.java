package verbena.nic.ib;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import verbena.verbs.Access;
import verbena.verbs.Device;
import verbena.verbs.Endpoint;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;

/// The process at the other end of a test: it finds `ib1` by its name, connects, and sends a number.
final class IbPeer {
    static final int SAYS = 4_711;

    private IbPeer() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (var context = Device.named("ib1").open();
                var domain = context.allocateProtectionDomain();
                var cq = context.createCompletionQueue(16);
                var memory = domain.allocate(4_096, Access.remoteAll());
                var qp = domain.createQueuePair(QueuePairOptions.rc(cq))) {
            qp.connect(Endpoint.parse(in.readLine()));
            System.out.println(qp.endpoint().format());
            if (in.readLine() == null) {
                return;
            }
            memory.segment().set(ValueLayout.JAVA_INT, 0, SAYS);
            qp.postSend(1, memory.slice(0, 64));
            var wc = new WorkCompletion();
            boolean isSent = cq.await(wc, Duration.ofSeconds(20)) && wc.ok();
            System.exit(isSent ? 0 : 1);
        }
    }
}
