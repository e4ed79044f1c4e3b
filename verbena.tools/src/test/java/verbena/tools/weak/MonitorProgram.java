package verbena.tools.weak;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;
import verbena.verbs.WorkCompletion;

/// A program in virtual time. One of its threads is blocked by a monitor that a thread of the system holds, and has to
/// go on before time passes.
final class MonitorProgram {
    static final String NAME = "monitor";
    private static final Duration LATER = Duration.ofSeconds(1);

    private final Object monitor = new Object();
    private final CountDownLatch held = new CountDownLatch(1);
    private final List<String> order = Collections.synchronizedList(new ArrayList<>());

    static OwnProgram program() {
        return new OwnProgram(NAME, true, _ -> new MonitorProgram().run());
    }

    private void run() throws InterruptedException {
        Thread blocked = Thread.ofVirtual().unstarted(this::enter);
        Thread holder = Thread.ofPlatform().start(() -> hold(blocked));
        held.await();
        try (Context device = Device.named("rocev2").open();
                var domain = device.allocateProtectionDomain();
                var queue = device.createCompletionQueue(1);
                var memory = domain.allocate(64, Access.local());
                var queuePair =
                        domain.createQueuePair(QueuePairOptions.rc(queue).withDepth(1, 1))) {
            queuePair.modify(new Transition.ToInit(1, 0, Access.local()));
            queuePair.postReceive(1, memory.slice(0, 64));
            blocked.start();
            assertThat(queue.await(new WorkCompletion(), LATER)).isFalse();
            order.add("time has passed");
        }
        blocked.join();
        holder.join();
        assertThat(order).containsExactly("it has gone on", "time has passed");
    }

    private void enter() {
        synchronized (monitor) {
            order.add("it has gone on");
        }
    }

    private void hold(Thread blocked) {
        synchronized (monitor) {
            held.countDown();
            while (blocked.getState() != Thread.State.BLOCKED || !OneByOne.SCHEDULER.isIdle()) {
                Thread.onSpinWait();
            }
        }
    }
}
