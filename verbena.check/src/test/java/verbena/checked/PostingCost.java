package verbena.checked;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.EnumSet;
import verbena.check.Checker;
import verbena.check.Rule;
import verbena.check.device.CheckProvider;
import verbena.check.rules.Watchers;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;

/// A comparison of posting and polling with the layer in front and without: WRITEs of 64 bytes, one outstanding at a
/// time. Rounds with and without alternate, and the medians count. Processor time is that of the posting thread, so
/// other
/// programs change it little. Arguments: the device, and how many WRITEs in each of 600 rounds.
final class PostingCost implements AutoCloseable {
    private static final int ROUNDS = 600;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /// The costs of a WRITE in each round.
    private static final class Costs {
        final double[] nanos = new double[ROUNDS];
        final double[] processorNanos = new double[ROUNDS];
    }

    private final Context context;
    private final ProtectionDomain domain;
    private final CompletionQueue queue;
    private final MemoryRegion local;
    private final MemoryRegion remote;
    private final QueuePair here;
    private final QueuePair there;
    private final WorkCompletion wc = new WorkCompletion();

    private PostingCost(Device device) {
        context = device.open();
        domain = context.allocateProtectionDomain();
        queue = context.createCompletionQueue(64);
        local = domain.allocate(4_096, Access.local());
        remote = domain.allocate(4_096, Access.remoteAll());
        here = domain.createQueuePair(QueuePairOptions.rc(queue));
        there = domain.createQueuePair(QueuePairOptions.rc(queue));
        here.connect(there.endpoint());
        there.connect(here.endpoint());
    }

    public static void main(String[] args) {
        Device device = Device.named(args[0]);
        int writes = Integer.parseInt(args[1]);
        var checker = new Checker(EnumSet.allOf(Rule.class), Watchers::of);
        var off = new Costs();
        var on = new Costs();
        try (var bare = new PostingCost(device);
                var checked = new PostingCost(CheckProvider.over("checked", device, checker))) {
            for (int i = 0; i < ROUNDS; i++) {
                bare.write(writes, off, i);
                checked.write(writes, on, i);
            }
        }
        print(args[0] + ", real time", off.nanos, on.nanos);
        print(args[0] + ", processor time", off.processorNanos, on.processorNanos);
        System.out.printf("%,d checked WRITEs%n", (long) ROUNDS * writes);
        Runtime runtime = Runtime.getRuntime();
        System.gc();
        System.out.printf("%d KB of heap are used%n", (runtime.totalMemory() - runtime.freeMemory()) >> 10);
    }

    private static void print(String what, double[] off, double[] on) {
        var times = new double[ROUNDS];
        Arrays.setAll(times, i -> on[i] / off[i]);
        System.out.printf("%s: %.0f ns off, %.0f ns on, %.2f times%n", what, median(off), median(on), median(times));
    }

    private static double median(double[] of) {
        double[] sorted = of.clone();
        Arrays.sort(sorted);
        return sorted[ROUNDS / 2];
    }

    private void write(int writes, Costs costs, int round) {
        long begin = System.nanoTime();
        long processorBegin = THREADS.getCurrentThreadCpuTime();
        for (int i = 0; i < writes; i++) {
            here.postWrite(i, local.slice(0, 64), remote.remote());
            while (!queue.poll(wc)) {
                Thread.onSpinWait();
            }
        }
        costs.processorNanos[round] = (double) (THREADS.getCurrentThreadCpuTime() - processorBegin) / writes;
        costs.nanos[round] = (double) (System.nanoTime() - begin) / writes;
    }

    @Override
    public void close() {
        here.close();
        there.close();
        local.close();
        remote.close();
        queue.close();
        domain.close();
        context.close();
    }
}
