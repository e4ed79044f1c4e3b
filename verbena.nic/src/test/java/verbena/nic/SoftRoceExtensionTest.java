package verbena.nic;

import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import verbena.verbs.AckTimeout;
import verbena.verbs.Capability;
import verbena.verbs.ConnectOptions;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WcStatus;

/// ATOMIC WRITE and FLUSH, with a Linux kernel's soft-RoCE at the other end that does not know them: before Linux 6.2
/// it
/// drops what it does not know, without an answer. That is why they have to be asked for.
@EnabledIfSystemProperty(named = "verbena.lab.peer", matches = ".+", disabledReason = "no lab peer; see .ci/lab")
@EnabledIfSystemProperty(
        named = "verbena.lab.kernel",
        matches = "[1-5][.].*|6[.][01][.].*",
        disabledReason = "it knows them")
class SoftRoceExtensionTest extends SoftRoceLab {
    @BeforeEach
    void connect() throws Exception {
        connect(
                QueuePairOptions.rc(cq).withExtensions(Set.of(Capability.ATOMIC_WRITE, Capability.FLUSH)),
                ConnectOptions.defaults().withRetries(AckTimeout.atLeast(Duration.ofMillis(8)), 2, 7));
    }

    @Test
    void anAtomicWriteIsNotAnswered() throws Exception {
        try (var batch = queuePair.send()) {
            batch.atomicWrite(1, theirAddress, theirKey, 5).signaled().submit();
        }
        expect(1, WcStatus.RETRY_EXC_ERR);
    }

    @Test
    void aFlushIsNotAnswered() throws Exception {
        try (var batch = queuePair.send()) {
            batch.flush(1, theirAddress, theirKey, 8, false, true, false)
                    .signaled()
                    .submit();
        }
        expect(1, WcStatus.RETRY_EXC_ERR);
    }
}
