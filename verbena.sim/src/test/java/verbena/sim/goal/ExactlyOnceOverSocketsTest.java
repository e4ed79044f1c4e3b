package verbena.sim.goal;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.BitSet;
import org.junit.jupiter.api.Test;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.EndpointOptions;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.SendBatch;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;

/// Goal N1 over real sockets: two devices with threads of their own on loopback, one of which loses 5 % of what it
/// sends and of what it receives.
class ExactlyOnceOverSocketsTest {
    private static final long OPERATIONS = Goal.size(20_000, 1_000_000);
    private static final int OUTSTANDING = 16;
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final EndpointOptions OPTIONS =
            EndpointOptions.defaults().withRetries(AckTimeout.atLeast(Duration.ofMillis(4)), 7, 7);

    private final BitSet returned = new BitSet();
    private long posted;
    private long done;
    private long failed;
    private int broke;

    @Test
    void everyAtomicIsCarriedOutOnce() throws InterruptedException {
        long start = System.nanoTime();
        try (Context a = Device.named("rocev2,faults=loss:5%,seed:" + Goal.seed())
                        .open();
                Context b = Device.named("rocev2").open();
                ProtectionDomain domain = a.allocateProtectionDomain();
                ProtectionDomain peers = b.allocateProtectionDomain();
                MemoryRegion results = domain.allocate(OUTSTANDING * Long.BYTES, Access.local());
                MemoryRegion word = peers.allocate(Long.BYTES, Access.remoteAll())) {
            while (done < OPERATIONS) {
                try (CompletionQueue cq = a.createCompletionQueue(OUTSTANDING);
                        CompletionQueue peersCq = b.createCompletionQueue(1);
                        QueuePair qp = domain.createQueuePair(QueuePairOptions.rc(cq));
                        QueuePair peer = peers.createQueuePair(QueuePairOptions.rc(peersCq))) {
                    qp.connect(peer.endpoint(), OPTIONS);
                    peer.connect(qp.endpoint(), OPTIONS);
                    count(qp, cq, results, word);
                }
            }
            long value = word.segment().get(ValueLayout.JAVA_LONG, 0);
            assertThat(returned.length()).isLessThanOrEqualTo((int) value);
            assertThat(value - done).as("carried out though it failed").isBetween(0L, failed);
            long retransmitted = a.counters().get("retransmitted.packets");
            assertThat(retransmitted).as("there was a loss to repair").isPositive();
            Goal.report(
                    "N1",
                    start,
                    "%,d FETCH_ADDs over sockets at 5 %% loss with %d outstanding returned unique values; the word is %,d; %,d packets sent again, %d connections broke"
                            .formatted(done, OUTSTANDING, value, retransmitted, broke));
        }
    }

    /// Until all is done, or the connection breaks.
    private void count(QueuePair qp, CompletionQueue cq, MemoryRegion results, MemoryRegion word)
            throws InterruptedException {
        var wc = new WorkCompletion();
        posted = 0;
        boolean broken = false;
        for (long ended = 0; ended < posted || (!broken && done < OPERATIONS); ended++) {
            if (!broken) {
                post(qp, ended, results, word);
            }
            assertThat(cq.await(wc, TIMEOUT)).as("something completes").isTrue();
            assertThat(wc.wrId()).isEqualTo(ended);
            if (wc.ok()) {
                long at = ended % OUTSTANDING * Long.BYTES;
                int value = (int) results.segment().get(ValueLayout.JAVA_LONG, at);
                assertThat(returned.get(value))
                        .as("%d was returned before", value)
                        .isFalse();
                returned.set(value);
                done++;
            } else {
                assertThat(wc.status()).isEqualTo(broken ? WcStatus.WR_FLUSH_ERR : WcStatus.RETRY_EXC_ERR);
                failed++;
                broke += broken ? 0 : 1;
                broken = true;
            }
        }
    }

    private void post(QueuePair qp, long ended, MemoryRegion results, MemoryRegion word) {
        try (SendBatch batch = qp.sendBatch()) {
            while (posted - ended < OUTSTANDING && done + (posted - ended) < OPERATIONS) {
                batch.fetchAdd(posted, word.address(), word.rkey(), 1)
                        .sge(results, posted % OUTSTANDING * Long.BYTES, Long.BYTES)
                        .signaled();
                posted++;
            }
            batch.submit();
        }
    }
}
