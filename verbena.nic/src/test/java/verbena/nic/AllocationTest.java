package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.nic.roce.SecretFile;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.LocalMemory;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.SendBatch;
import verbena.verbs.SharedReceiveQueue;
import verbena.verbs.WorkCompletion;
import verbena.verbs.XrcDomain;

/// No operation between two devices of one process allocates an object, in any of its threads.
class AllocationTest {
    private static final int BATCH = 8;
    /// So few that an attempt ends between two looks of another thread, on a busy machine too.
    private static final int ROUNDS = 20;
    /// The compiler needs some attempts, and after its work the other threads of a test run must be idle.
    private static final int ATTEMPTS_MAX = 3000;

    private static final class End implements AutoCloseable {
        final Context context;
        final ProtectionDomain domain;
        final CompletionQueue cq;
        final QueuePair queuePair;
        final XrcDomain xrc;
        final SharedReceiveQueue shared;
        final int number;
        final QueuePair target;
        final QueuePair initiator;
        final MemoryRegion memory;
        final LocalMemory word;
        final LocalMemory message;
        final LocalMemory block;
        final RemoteMemory remoteWord;
        final RemoteMemory remoteBlock;
        final long address;
        final int rkey;
        final WorkCompletion wc = new WorkCompletion();

        End(String device) {
            context = Device.named(device).open();
            domain = context.allocateProtectionDomain();
            cq = context.createCompletionQueue(256);
            queuePair = domain.createQueuePair(QueuePairOptions.rc(cq));
            xrc = context.openXrcDomain();
            shared = xrc.createSharedReceiveQueue(domain, cq, 8, 1);
            number = shared.number().orElseThrow();
            target = xrc.createTarget();
            initiator = domain.createQueuePair(QueuePairOptions.xrcInitiator(cq));
            memory = domain.allocate(1 << 17, Access.remoteAll());
            word = memory.slice(0, 8);
            message = memory.slice(0, 64);
            block = memory.slice(0, 1 << 16);
            remoteWord = word.remote();
            remoteBlock = block.remote();
            address = memory.address();
            rkey = memory.rkey();
        }

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
        b.queuePair.postReceive(1, b.message);
        a.queuePair.postSend(2, a.message);
        a.queuePair.postWrite(3, a.word, b.remoteWord);
        a.queuePair.postWrite(4, a.block, b.remoteBlock);
        a.queuePair.postRead(5, b.remoteBlock, a.block);
        a.queuePair.postFetchAdd(6, b.remoteWord, 1, a.word);
        a.queuePair.postCompareSwap(7, b.remoteWord, 1, 2, a.word);
        try (SendBatch batch = a.queuePair.sendBatch()) {
            for (int i = 1; i < BATCH; i++) {
                batch.write(i, b.address, b.rkey).sge(a.memory, 0, 8);
            }
            batch.write(BATCH, b.address, b.rkey).sge(a.memory, 0, 8).signaled();
            batch.submit();
        }
        b.shared.postReceive(9, b.message);
        try (SendBatch batch = a.initiator.sendBatch()) {
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

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rocev2",
                "rocev2,congestion=dcqcn,rpg_max_rate:20000,rpg_min_rate:5000,faults=mark:5%,on:received,seed:7",
                "rocev2,congestion=swift"
            })
    void noOperationAllocates(String device) {
        measure(device);
    }

    @Test
    void noProtectedOperationAllocates(@TempDir Path folder) {
        measure("rocev2" + SecretFile.options(folder, "0123456789abcdef0123456789abcdef"));
    }

    private static void measure(String device) {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (End a = new End(device);
                End b = new End(device)) {
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
