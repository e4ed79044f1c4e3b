package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import verbena.verbs.Access;
import verbena.verbs.AckTimeout;
import verbena.verbs.EndpointOptions;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QpState;
import verbena.verbs.QpType;
import verbena.verbs.RemoteMemory;
import verbena.verbs.SendBatch;
import verbena.verbs.Transition;
import verbena.verbs.WcStatus;

/// Every error status that the far end of a reliable connection can provoke: on our side by a Linux kernel's
/// soft-RoCE, and on its side by us. docs/conformance.md lists the statuses that cannot be provoked over the wire,
/// and why.
@EnabledIfSystemProperty(named = "verbena.lab.peer", matches = ".+", disabledReason = "no lab peer; see .ci/lab")
class SoftRoceErrorTest extends SoftRoceLab {
    private static final int LOCAL_WRITE = Access.LOCAL_WRITE.bit();
    private static final int REMOTE_READ = Access.REMOTE_READ.bit();
    private static final int REMOTE_WRITE = Access.REMOTE_WRITE.bit();

    private static EndpointOptions withRetries(int retries, int rnrRetries) {
        return EndpointOptions.defaults().withRetries(AckTimeout.atLeast(Duration.ofMillis(8)), retries, rnrRetries);
    }

    // ---- on our side

    @Test
    void weReadWhatTheirQueuePairDoesNotAllow() throws Exception {
        connect(QpType.RC, EndpointOptions.defaults(), "access", LOCAL_WRITE | REMOTE_WRITE);
        queuePair.postRead(1, new RemoteMemory(theirAddress, theirKey, 100), memory.slice(0, 100));
        expect(1, WcStatus.REM_INV_REQ_ERR);
    }

    @Test
    void weWriteWhatTheirRegionDoesNotAllow() throws Exception {
        connect(QpType.RC, EndpointOptions.defaults());
        String region = call("reg_mr", "size", 4096, "access", LOCAL_WRITE | REMOTE_READ);
        queuePair.postWrite(
                1, memory.slice(0, 100), new RemoteMemory(number(region, "addr"), (int) number(region, "rkey"), 100));
        expect(1, WcStatus.REM_ACCESS_ERR);
    }

    @Test
    void weReadBeyondTheEndOfTheirRegion() throws Exception {
        connect(QpType.RC, EndpointOptions.defaults());
        queuePair.postRead(1, new RemoteMemory(theirAddress + BYTES - 99, theirKey, 100), memory.slice(0, 100));
        expect(1, WcStatus.REM_ACCESS_ERR);
    }

    @Test
    void weWriteToARegionThatTheyHaveWithdrawn() throws Exception {
        connect(QpType.RC, EndpointOptions.defaults());
        String region = call("reg_mr", "size", 4096);
        queuePair.postWrite(
                1, memory.slice(0, 100), new RemoteMemory(number(region, "addr"), (int) number(region, "rkey"), 100));
        expect(1, WcStatus.SUCCESS);
        call("close", "id", text(region, "mr"));
        queuePair.postWrite(
                2, memory.slice(0, 100), new RemoteMemory(number(region, "addr"), (int) number(region, "rkey"), 100));
        expect(2, WcStatus.REM_ACCESS_ERR);
    }

    @Test
    void whatWeHavePostedBehindARefusedRequestIsFlushed() throws Exception {
        connect(QpType.RC, EndpointOptions.defaults());
        queuePair.postReceive(9, memory.slice(0, 100));
        try (SendBatch batch = queuePair.sendBatch()) { // one doorbell: their refusal cannot come between the two
            batch.write(1, theirAddress, theirKey ^ 0x55).sge(memory, 0, 100);
            batch.write(2, theirAddress, theirKey).sge(memory, 0, 100);
            batch.submit();
        }
        expect(1, WcStatus.REM_ACCESS_ERR);
        expect(2, WcStatus.WR_FLUSH_ERR);
        expect(9, WcStatus.WR_FLUSH_ERR);
        assertThat(queuePair.state()).isEqualTo(QpState.ERR);
    }

    @Test
    void theirReceiveIsTooSmall() throws Exception {
        connect(QpType.RC, EndpointOptions.defaults());
        theyReceive(0, 1_000);
        queuePair.postSend(1, memory.slice(0, 2_000));
        expect(1, WcStatus.REM_OP_ERR); // what rxe says; the standard asks for an invalid request
    }

    @Test
    void theyDoNotAnswer() throws Exception {
        connect(QpType.RC, withRetries(2, 7));
        call("modify", "qp", theirQp, "state", "err");
        queuePair.postWrite(1, memory.slice(0, 100), new RemoteMemory(theirAddress, theirKey, 100));
        expect(1, WcStatus.RETRY_EXC_ERR);
    }

    @Test
    void theyHaveNoReceive() throws Exception {
        connect(QpType.RC, withRetries(7, 2));
        queuePair.postSend(1, memory.slice(0, 100));
        expect(1, WcStatus.RNR_RETRY_EXC_ERR);
    }

    @Test
    void theirMessageIsLongerThanOurReceive() throws Exception {
        connect(QpType.RC, EndpointOptions.defaults());
        queuePair.postReceive(1, memory.slice(0, 1_000));
        theyPost("send", 2_000);
        expect(1, WcStatus.LOC_LEN_ERR);
        expectThere(WcStatus.REM_INV_REQ_ERR);
    }

    @Test
    void theirMessageMeetsAReceiveWhoseMemoryIsGone() throws Exception {
        connect(QpType.RC, EndpointOptions.defaults());
        var arena = Arena.ofShared();
        try (MemoryRegion gone = domain.register(arena.allocate(4096), 0x10000, Set.of(Access.LOCAL_WRITE))) {
            queuePair.postReceive(1, gone.slice(0, 1_000));
            arena.close();
            theyPost("send", 1_000);
            expect(1, WcStatus.LOC_PROT_ERR);
            expectThere(WcStatus.REM_OP_ERR);
        }
    }

    @Test
    void theyInvalidateAKeyThatIsNone() throws Exception {
        connect(QpType.RC, EndpointOptions.defaults(), "timeout", 10, "retry", 1);
        queuePair.postReceive(1, memory.slice(0, 1_000));
        theyPost("send_inv", 10, "inv", 0x12345678);
        expect(1, WcStatus.REM_INV_REQ_ERR);
        expectThere(WcStatus.RETRY_EXC_ERR); // no NAK: decision 05
    }

    // ---- on their side

    @Test
    void theyReadWhatOurQueuePairDoesNotAllow() throws Exception {
        connect(QpType.RC, EndpointOptions.defaults().withAccess(Set.of(Access.REMOTE_WRITE)));
        theyRead(100, memory.address(), memory.rkey());
        expectThere(WcStatus.REM_INV_REQ_ERR);
    }

    @Test
    void theyWriteWhatOurRegionDoesNotAllow() throws Exception {
        connect(QpType.RC, EndpointOptions.defaults());
        try (MemoryRegion region = domain.allocate(4096, Set.of(Access.REMOTE_READ))) {
            theyWrite(100, region.address(), region.rkey());
            expectThere(WcStatus.REM_ACCESS_ERR);
        }
    }

    @Test
    void theyReadFromARegionThatWeHaveWithdrawn() throws Exception {
        connect(QpType.RC, EndpointOptions.defaults());
        MemoryRegion region = domain.allocate(4096, Access.remoteAll());
        theyRead(100, region.address(), region.rkey());
        expectThere(WcStatus.SUCCESS);
        region.close();
        theyRead(100, region.address(), region.rkey());
        expectThere(WcStatus.REM_ACCESS_ERR);
    }

    @Test
    void whatTheyHavePostedBehindARefusedRequestIsFlushed() throws Exception {
        connect(QpType.RC, EndpointOptions.defaults());
        theyWrite(100, memory.address(), memory.rkey() ^ 0x55);
        theyWrite(100, memory.address(), memory.rkey());
        expectThere(WcStatus.REM_ACCESS_ERR);
        expectThere(WcStatus.WR_FLUSH_ERR);
    }

    @Test
    void weDoNotAnswer() throws Exception {
        connect(QpType.RC, EndpointOptions.defaults(), "timeout", 10, "retry", 1);
        queuePair.modify(new Transition.ToError().modification());
        theyWrite(100, memory.address(), memory.rkey());
        expectThere(WcStatus.RETRY_EXC_ERR);
    }

    @Test
    void weHaveNoReceive() throws Exception {
        connect(QpType.RC, EndpointOptions.defaults(), "rnr_retry", 1);
        theyPost("send", 100);
        expectThere(WcStatus.RNR_RETRY_EXC_ERR);
    }
}
