package verbena.checked;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.time.Duration;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;

/// A process with one mistake: `error`, `luck`, `cost` or `none`. It ends with status 7.
final class MistakenProcess {
    private MistakenProcess() {}

    public static void main(String[] args) throws Exception {
        try (Context device = Device.named(args[1]).open();
                var domain = device.allocateProtectionDomain();
                var queue = device.createCompletionQueue(16);
                var local = domain.allocate(4_096, Access.local());
                var remote = domain.allocate(4_096, Access.remoteAll());
                QueuePair here = domain.createQueuePair(QueuePairOptions.rc(queue));
                QueuePair there = domain.createQueuePair(QueuePairOptions.rc(queue))) {
            here.connect(there.endpoint());
            there.connect(here.endpoint());
            if (args[0].equals("luck")) {
                there.postReceive(1, remote.slice(0, 256));
                there.postReceive(2, remote.slice(0, 256));
            }
            here.postWrite(3, local.slice(0, 1_024), remote.remote().slice(1_024, 1_024));
            if (args[0].equals("error")) {
                local.segment().set(JAVA_BYTE, 50, (byte) 1);
            }
            if (!queue.await(new WorkCompletion(), Duration.ofSeconds(30))) {
                throw new IllegalStateException("no completion");
            }
            if (args[0].equals("cost")) {
                device.createCompletionQueue(4);
                System.exit(7); // the queue is open
            }
        }
        System.exit(7);
    }
}
