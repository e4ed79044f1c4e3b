import java.time.Duration;
import verbena.verbs.*;

/// Unreliable datagrams: one queue pair sends to any peer, and a datagram contains all that an answer needs. Each
/// datagram arrives behind 40 bytes that name its sender.
///
/// Prints: ping, pong
public class Datagrams {
    static final int QKEY = 0x11; // both ends have to know it
    static final int AREA = 40;
    static final int LENGTH = 100;

    public static void main(String[] args) throws Exception {
        try (var asks = new End();
                var answers = new End()) {
            var to = AddressVector.to(answers.device.gid(1, 0).gid(), 0);
            try (var handle = asks.domain.createAddressHandle(to)) {
                asks.send("ping", handle, answers.queuePair.qpn());
            }
            WorkCompletion question = End.await(answers.received);
            String text = answers.text();
            var sender = answers.memory.segment().asSlice(LENGTH, AREA);
            try (var handle = answers.domain.createAddressHandle(question, sender)) {
                answers.send("pong", handle, question.sourceQpn());
            }
            End.await(asks.received);
            System.out.println(text + ", " + asks.text());
        }
    }

    /// Sends from the first bytes of its memory, and receives behind them.
    private static class End implements AutoCloseable {
        final Context device = Device.named("rocev2").open();
        final ProtectionDomain domain = device.allocateProtectionDomain();
        final CompletionQueue sent = device.createCompletionQueue(4);
        final CompletionQueue received = device.createCompletionQueue(4);
        final QueuePair queuePair = domain.createQueuePair(QueuePairOptions.ud(sent).withReceiveCq(received));
        final MemoryRegion memory = domain.allocate(LENGTH + AREA + LENGTH, Access.local());

        End() {
            queuePair.modify(new Transition.ToInitUd(1, 0, QKEY));
            queuePair.modify(new Transition.ToRtrUd());
            queuePair.modify(new Transition.ToRtsUnreliable(0));
            queuePair.postReceive(1, memory.slice(LENGTH, AREA + LENGTH));
        }

        void send(String text, AddressHandle to, int qpn) throws InterruptedException {
            memory.segment().setString(0, text);
            try (var batch = queuePair.sendBatch()) {
                batch.send(2).sge(memory.slice(0, LENGTH)).to(to, qpn, QKEY).signaled().submit();
            }
            await(sent);
        }

        String text() {
            return memory.segment().getString(LENGTH + AREA);
        }

        private static WorkCompletion await(CompletionQueue queue) throws InterruptedException {
            var done = new WorkCompletion();
            if (!queue.await(done, Duration.ofSeconds(10)) || !done.ok()) {
                throw new IllegalStateException("a datagram failed, or was lost: " + done);
            }
            return done;
        }

        @Override
        public void close() {
            queuePair.close();
            memory.close();
            received.close();
            sent.close();
            domain.close();
            device.close();
        }
    }
}
