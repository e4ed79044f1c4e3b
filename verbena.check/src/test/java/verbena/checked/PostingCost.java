package verbena.checked;

import java.util.EnumSet;
import verbena.check.Checker;
import verbena.check.Rule;
import verbena.check.device.CheckProvider;
import verbena.check.rules.Watchers;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;

/// A comparison of posting and polling with the layer in front and without: WRITEs of 64 bytes, one under way at a
/// time. Arguments: the device, and how many WRITEs in each of 600 rounds, of which the fastest counts.
final class PostingCost {
    private PostingCost() {}

    public static void main(String[] args) {
        Device device = Device.named(args[0]);
        int writes = Integer.parseInt(args[1]);
        double off = nanos(device, writes);
        double on = nanos(
                CheckProvider.over("checked", device, new Checker(EnumSet.allOf(Rule.class), Watchers::of)), writes);
        System.out.printf("%s: %.0f ns off, %.0f ns on, %.2f times%n", args[0], off, on, on / off);
        Runtime runtime = Runtime.getRuntime();
        System.gc();
        System.out.printf("%d KB of heap are used%n", (runtime.totalMemory() - runtime.freeMemory()) >> 10);
    }

    private static double nanos(Device device, int writes) {
        double best = Double.MAX_VALUE;
        try (Context context = device.open();
                var domain = context.allocateProtectionDomain();
                var queue = context.createCompletionQueue(64);
                var local = domain.allocate(4_096, Access.local());
                var remote = domain.allocate(4_096, Access.remoteAll());
                var here = domain.createQueuePair(QueuePairOptions.rc(queue));
                var there = domain.createQueuePair(QueuePairOptions.rc(queue))) {
            here.connect(there.endpoint());
            there.connect(here.endpoint());
            var wc = new WorkCompletion();
            for (int round = 0; round < 600; round++) {
                long begin = System.nanoTime();
                for (int i = 0; i < writes; i++) {
                    here.postWrite(i, local.slice(0, 64), remote.remote());
                    while (!queue.poll(wc)) {
                        Thread.onSpinWait();
                    }
                }
                best = Math.min(best, (double) (System.nanoTime() - begin) / writes);
            }
        }
        return best;
    }
}
