package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SendBatch;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.WorkCompletion;
import verbena.verbs.XrcDomain;

/// No operation between two devices of one process allocates an object, in any of its threads.
class AllocationTest {
    private static final int BATCH = 8;
    private static final int ROUNDS = 200;
    /// The compiler needs some attempts, and after its work the other threads of a test run must be idle.
    private static final int ATTEMPTS_MAX = 300;

    private static final class End implements AutoCloseable {
        final Context context = Device.named("rocev2").open();
        final ProtectionDomain domain = context.allocateProtectionDomain();
        final CompletionQueue cq = context.createCompletionQueue(256);
        final QueuePair queuePair = domain.createQueuePair(QueuePairOptions.rc(cq));
        final XrcDomain xrc = context.openXrcDomain();
        final SharedReceiveQueue shared = xrc.createSharedReceiveQueue(domain, cq, 8, 1);
        final int number = shared.number().orElseThrow();
        final QueuePair target = xrc.createTarget();
        final QueuePair initiator = domain.createQueuePair(QueuePairOptions.xrcInitiator(cq));
        final MemoryRegion memory = domain.allocate(1 << 17, Access.remoteAll());
        final long address = memory.address();
        final int rkey = memory.rkey();
        final WorkCompletion wc = new WorkCompletion();

        void take(int completions) {
            for (int taken = 0; taken < completions; ) {
                if (cq.poll(wc)) {
                    if (!wc.ok()) {
                        throw new AssertionError(wc.toString());
                    }
                    taken++;
                } else {
                    Thread.onSpinWait();
                }
            }
        }

        @Override
        public void close() {
            queuePair.close();
            initiator.close();
            target.close();
            shared.close();
            xrc.close();
            memory.close();
            cq.close();
            domain.close();
            context.close();
        }
    }

    private static void everyOperation(End a, End b) {
        b.queuePair.postReceive(1, b.memory, 0, 64);
        a.queuePair.postSend(2, a.memory, 0, 64);
        a.queuePair.postWrite(3, a.memory, 0, 8, b.address, b.rkey);
        a.queuePair.postWrite(4, a.memory, 0, 1 << 16, b.address, b.rkey);
        a.queuePair.postRead(5, a.memory, 0, 1 << 16, b.address, b.rkey);
        a.queuePair.postFetchAdd(6, a.memory, 0, b.address, b.rkey, 1);
        a.queuePair.postCompareSwap(7, a.memory, 0, b.address, b.rkey, 1, 2);
        try (SendBatch batch = a.queuePair.send()) {
            for (int i = 1; i < BATCH; i++) {
                batch.write(i, b.address, b.rkey).sge(a.memory, 0, 8);
            }
            batch.write(BATCH, b.address, b.rkey).sge(a.memory, 0, 8).signaled();
            batch.submit();
        }
        b.shared.postReceive(9, b.memory, 0, 64);
        try (SendBatch batch = a.initiator.send()) {
            batch.send(10).to(b.number).sge(a.memory, 0, 64);
            batch.write(11, b.address, b.rkey).to(b.number).sge(a.memory, 0, 1 << 16);
            batch.read(12, b.address, b.rkey)
                    .to(b.number)
                    .sge(a.memory, 0, 1 << 16)
                    .signaled();
            batch.submit();
        }
        a.take(8);
        b.take(2);
    }

    @Test
    void noOperationAllocates() {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (End a = new End();
                End b = new End()) {
            a.queuePair.connect(b.queuePair.endpoint());
            b.queuePair.connect(a.queuePair.endpoint());
            a.initiator.connect(b.target.endpoint());
            b.target.connect(a.initiator.endpoint());
            long least = Long.MAX_VALUE;
            for (int attempt = 0; attempt < ATTEMPTS_MAX && least > 0; attempt++) {
                long before = threads.getTotalThreadAllocatedBytes();
                for (int i = 0; i < ROUNDS; i++) {
                    everyOperation(a, b);
                }
                least = Math.min(least, threads.getTotalThreadAllocatedBytes() - before);
            }
            assertThat(least).as("bytes for %d times every operation", ROUNDS).isZero();
        }
    }
}
