package verbena.tools.weak;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;

/// A program in virtual time whose threads wait for each other with a time limit, and sleep. Both go by that time,
/// however long the machine takes.
final class LimitProgram {
    static final String NAME = "limits";
    private static final Duration LIMIT = Duration.ofMillis(20);
    /// The time that the machine takes for what others wait for.
    private static final Duration WORK = LIMIT.multipliedBy(5);
    private static final Duration LONG = Duration.ofHours(1);

    private LimitProgram() {}

    static OwnProgram program() {
        return new OwnProgram(NAME, true, _ -> run());
    }

    @SuppressWarnings("ThreadPriorityCheck") // the scheduler of this program is its own: one thread runs at a time
    private static void run() throws Exception {
        try (Context device = Device.named("rocev2").open();
                var domain = device.allocateProtectionDomain();
                var queue = device.createCompletionQueue(1);
                var memory = domain.allocate(64, Access.local());
                var queuePair =
                        domain.createQueuePair(QueuePairOptions.rc(queue).withDepth(1, 1))) {
            queuePair.modify(new Transition.ToInit(1, 0, Access.local()));
            queuePair.postReceive(1, memory.slice(0, 64));
            var answer = new CompletableFuture<String>();
            Thread.ofVirtual().start(() -> {
                work();
                Thread.yield(); // a thread whose time is over would go on now
                answer.complete("done");
            });
            assertThat(answer.get(LIMIT.toNanos(), TimeUnit.NANOSECONDS)).isEqualTo("done");
            long begin = VirtualClock.nanoTime();
            Thread.sleep(LONG);
            assertThat(VirtualClock.nanoTime() - begin)
                    .isBetween(LONG.toNanos(), LONG.plus(LIMIT).toNanos());
        }
    }

    private static void work() {
        long end = System.nanoTime() + WORK.toNanos(); // the machine's: the agent leaves this class as it is
        while (System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
    }
}
