import java.lang.foreign.MemorySegment;
import java.util.Set;
import verbena.verbs.MemoryWindow;
import verbena.verbs.*;

/// The loop of a program that wants each step itself: a batch of requests with one doorbell, inline data, polling, a
/// shared receive queue, a memory window, and immediate data.
///
/// Prints: 64 WRITEs with 2 completions, 4 messages, number 7 through the window, then REM_ACCESS_ERR
public class RawVerbs {
    private static final int BATCH = 32;
    private static final int RECEIVES = 8;
    private static final int SLOT = 64;

    public static void main(String[] args) {
        try (var device = Device.named("rocev2").open();
                var domain = device.allocateProtectionDomain();
                var sends = device.createCompletionQueue(128);
                var arrivals = device.createCompletionQueue(128);
                var receives = domain.createSharedReceiveQueue(RECEIVES, 1);
                var local = domain.allocate(4096, Set.of(Access.LOCAL_WRITE));
                var target = domain.allocate(
                        4096, Set.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.MW_BIND));
                var inbox = domain.allocate(RECEIVES * SLOT, Set.of(Access.LOCAL_WRITE));
                var here = domain.createQueuePair(QueuePairOptions.rc(sends));
                var there = domain.createQueuePair(
                        QueuePairOptions.rc(arrivals).withSharedReceiveQueue(receives));
                var window = domain.allocateWindow(MemoryWindow.Type.TYPE_2)) {
            here.connect(there.endpoint());
            there.connect(here.endpoint());
            var wc = new WorkCompletion();

            int completions = 0;
            for (int round = 0; round < 2; round++) {
                try (SendBatch batch = here.sendBatch()) { // 32 requests, one doorbell, one completion
                    for (int i = 0; i < BATCH; i++) {
                        batch.write(i, target.remote().slice(i * 8, 8)).sge(local.slice(i * 8, 8));
                    }
                    batch.signaled().submit();
                }
                poll(sends, wc, WcOpcode.RDMA_WRITE);
                completions++;
            }

            for (int i = 0; i < RECEIVES; i++) { // any queue pair of the shared queue takes the next one
                receives.postReceive(i, inbox.slice(i * SLOT, SLOT));
            }
            MemorySegment hello = MemorySegment.ofArray(new byte[] {1, 2, 3, 4});
            try (SendBatch batch = here.sendBatch()) {
                for (int i = 0; i < 4; i++) {
                    batch.send(i).inline(hello); // copied now: no registered memory
                }
                batch.signaled().submit();
            }
            poll(sends, wc, WcOpcode.SEND);
            int messages = 0;
            for (; messages < 4; messages++) {
                poll(arrivals, wc, WcOpcode.RECV);
                receives.postReceive(wc.wrId(), inbox.slice(wc.wrId() * SLOT, SLOT)); // the slot is free again
            }

            try (SendBatch batch = there.sendBatch()) { // 64 bytes of the region, under a key of their own
                batch.bindWindow(1, window, window.nextRkey(), target, target.address(), 64, Set.of(Access.REMOTE_WRITE));
                batch.signaled().submit();
            }
            poll(arrivals, wc, WcOpcode.BIND_MW);
            here.postWriteWithImmediate(2, local.slice(0, 8), new RemoteMemory(target.address(), window.rkey(), 8), 7);
            poll(sends, wc, WcOpcode.RDMA_WRITE);
            poll(arrivals, wc, WcOpcode.RECV_RDMA_WITH_IMM);
            int number = wc.immediate();

            here.postWrite(3, local.slice(0, 8), new RemoteMemory(target.address() + 64, window.rkey(), 8)); // behind the window
            while (!sends.poll(wc)) {
                Thread.onSpinWait();
            }
            System.out.println(2 * BATCH + " WRITEs with " + completions + " completions, " + messages
                    + " messages, number " + number + " through the window, then " + wc.status());
        }
    }

    private static void poll(CompletionQueue queue, WorkCompletion wc, WcOpcode wanted) {
        while (!queue.poll(wc)) {
            Thread.onSpinWait();
        }
        if (!wc.ok() || wc.opcode() != wanted) {
            throw new IllegalStateException(wc.snapshot().toString());
        }
    }
}
