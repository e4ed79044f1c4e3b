package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.Capability;
import verbena.verbs.EndpointOptions;
import verbena.verbs.FlushTarget;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;

/// ATOMIC WRITE and FLUSH with a Linux kernel's soft-RoCE at the other end, which knows them from Linux 6.2 on. An
/// older kernel drops such packets without an answer, which is why a program has to enable them.
/// `verbena.lab.kernel` is the kernel's release.
@EnabledIfSystemProperty(named = "verbena.lab.peer", matches = ".+", disabledReason = "no lab peer; see .ci/lab")
class SoftRoceExtensionTest extends SoftRoceLab {
    private static final String KERNEL = "verbena.lab.kernel";
    private static final String WITHOUT = "[1-5][.].*|6[.][01][.].*";
    private static final String WITH = "6[.]([2-9]|[1-9][0-9])[.].*|[7-9][.].*";

    private static final int LOCAL_WRITE = Access.LOCAL_WRITE.bit();
    private static final int REMOTE_READ = Access.REMOTE_READ.bit();
    private static final int REMOTE_WRITE = Access.REMOTE_WRITE.bit();
    private static final int FLUSH_GLOBAL = Access.FLUSH_GLOBAL.bit();

    private void connectWith(int theirRights) throws IOException {
        connect(
                QueuePairOptions.rc(cq).withExtensions(Set.of(Capability.ATOMIC_WRITE, Capability.FLUSH)),
                EndpointOptions.defaults().withRetries(AckTimeout.atLeast(Duration.ofMillis(8)), 2, 7),
                "access",
                theirRights);
    }

    private void atomicWrite(long wrId, long address, int key, long value) {
        try (var batch = queuePair.sendBatch()) {
            batch.atomicWrite(wrId, address, key, value).signaled().submit();
        }
    }

    private void flush(long wrId, long address, int key, int bytes) {
        try (var batch = queuePair.sendBatch()) {
            batch.flush(wrId, address, key, bytes, Set.of(FlushTarget.GLOBAL))
                    .signaled()
                    .submit();
        }
    }

    @Test
    @EnabledIfSystemProperty(named = KERNEL, matches = WITHOUT, disabledReason = "it has them")
    void anAtomicWriteIsNotAnswered() throws Exception {
        connectWith(LOCAL_WRITE | REMOTE_WRITE);
        atomicWrite(1, theirAddress, theirKey, 5);
        expect(1, WcStatus.RETRY_EXC_ERR);
    }

    @Test
    @EnabledIfSystemProperty(named = KERNEL, matches = WITHOUT, disabledReason = "it has them")
    void aFlushIsNotAnswered() throws Exception {
        connectWith(LOCAL_WRITE | REMOTE_WRITE);
        flush(1, theirAddress, theirKey, 8);
        expect(1, WcStatus.RETRY_EXC_ERR);
    }

    @Test
    @EnabledIfSystemProperty(named = KERNEL, matches = WITH, disabledReason = "it does not have them")
    void aFlushIsNotAnsweredBecauseRxeTakesTheHeadersIntoItsIcrcTwice() throws Exception {
        connectWith(LOCAL_WRITE | REMOTE_WRITE | FLUSH_GLOBAL);
        String region = call("reg_mr", "size", 4096, "access", LOCAL_WRITE | REMOTE_WRITE | FLUSH_GLOBAL);
        flush(1, number(region, "addr"), (int) number(region, "rkey"), 8);
        expect(1, WcStatus.RETRY_EXC_ERR);
    }

    @Test
    @EnabledIfSystemProperty(named = KERNEL, matches = WITH, disabledReason = "it does not have them")
    void anAtomicWriteIsThereWhenItIsAnswered() throws Exception {
        connectWith(LOCAL_WRITE | REMOTE_WRITE);
        for (long value = 1; value <= 20; value++) {
            atomicWrite(value, theirAddress + 64, theirKey, value << 40 | value);
            expect(value, WcStatus.SUCCESS);
            assertThat(wc.opcode()).isEqualTo(WcOpcode.ATOMIC_WRITE);
            assertThat(MemorySegment.ofArray(theirs(64, 8)).get(ValueLayout.JAVA_LONG_UNALIGNED, 0))
                    .isEqualTo(value << 40 | value);
        }
    }

    @Test
    @EnabledIfSystemProperty(named = KERNEL, matches = WITH, disabledReason = "it does not have them")
    void anAtomicWriteThatTheirRegionDoesNotAllowIsRefused() throws Exception {
        connectWith(LOCAL_WRITE | REMOTE_WRITE | REMOTE_READ);
        String region = call("reg_mr", "size", 4096, "access", LOCAL_WRITE | REMOTE_READ);
        atomicWrite(1, number(region, "addr"), (int) number(region, "rkey"), 5);
        expect(1, WcStatus.REM_ACCESS_ERR);
    }

    @Test
    @EnabledIfSystemProperty(named = KERNEL, matches = WITH, disabledReason = "it does not have them")
    void anAtomicWriteThatTheirQueuePairDoesNotAllowIsRefused() throws Exception {
        connectWith(LOCAL_WRITE | REMOTE_READ);
        atomicWrite(1, theirAddress, theirKey, 5);
        expect(1, WcStatus.REM_INV_REQ_ERR);
    }
}
