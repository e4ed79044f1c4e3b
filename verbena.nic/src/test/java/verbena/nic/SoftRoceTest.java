package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.Access;
import verbena.verbs.EndpointOptions;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.QpType;
import verbena.verbs.RemoteMemory;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;

/// Every operation of a reliable connection, in both directions, with a Linux kernel's soft-RoCE at the other end.
@EnabledIfSystemProperty(named = "verbena.lab.peer", matches = ".+", disabledReason = "no lab peer; see .ci/lab")
class SoftRoceTest extends SoftRoceLab {
    @BeforeEach
    void connect() throws IOException {
        connect(QpType.RC, EndpointOptions.defaults());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 1023, 1024, 1025, 50_001})
    void weWrite(int bytes) throws Exception {
        queuePair.postWrite(1, memory.slice(0, bytes), new RemoteMemory(theirAddress + 7, theirKey, bytes));
        expect(1, WcStatus.SUCCESS);
        assertThat(theirs(7, bytes)).isEqualTo(ours(0, bytes));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 1023, 1024, 1025, 50_001})
    void theyWrite(int bytes) throws Exception {
        setTheirs(0, pattern(bytes));
        theyWrite(bytes, memory.address() + 5, memory.rkey());
        expectThere(WcStatus.SUCCESS);
        assertThat(ours(5, bytes)).isEqualTo(pattern(bytes));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 1023, 1024, 1025, 50_001})
    void weRead(int bytes) throws Exception {
        setTheirs(3, pattern(bytes));
        queuePair.postRead(1, new RemoteMemory(theirAddress + 3, theirKey, bytes), memory.slice(11, bytes));
        expect(1, WcStatus.SUCCESS);
        assertThat(ours(11, bytes)).isEqualTo(pattern(bytes));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 1023, 1024, 1025, 50_001})
    void theyRead(int bytes) throws Exception {
        byte[] expected = ours(9, bytes);
        theyRead(bytes, memory.address() + 9, memory.rkey());
        expectThere(WcStatus.SUCCESS);
        assertThat(theirs(0, bytes)).isEqualTo(expected);
    }

    @Test
    void weSendWithImmediateData() throws Exception {
        theyReceive(0, 4_000);
        try (var batch = queuePair.sendBatch()) {
            batch.sendWithImmediate(1, 0xCAFE_0001)
                    .sge(memory, 0, 3_000)
                    .signaled()
                    .submit();
        }
        expect(1, WcStatus.SUCCESS);
        String polled = expectThere(WcStatus.SUCCESS);
        assertThat(number(polled, "len")).isEqualTo(3_000);
        assertThat((int) number(polled, "imm")).isEqualTo(0xCAFE_0001);
        assertThat(theirs(0, 3_000)).isEqualTo(ours(0, 3_000));
    }

    @Test
    void theySendWithImmediateData() throws Exception {
        queuePair.postReceive(2, memory.slice(0, 4_000));
        setTheirs(0, pattern(3_000));
        theyPost("send_imm", 3_000, "imm", 0xCAFE);
        expect(2, WcStatus.SUCCESS);
        assertThat(wc.hasImmediate()).isTrue();
        assertThat(wc.immediate()).isEqualTo(0xCAFE);
        assertThat(ours(0, 3_000)).isEqualTo(pattern(3_000));
        expectThere(WcStatus.SUCCESS);
    }

    @Test
    void ourAtomicsActOnTheirMemory() throws Exception {
        MemorySegment word = MemorySegment.ofArray(new byte[8]);
        word.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, 1_000);
        setTheirs(512, word.toArray(ValueLayout.JAVA_BYTE));
        queuePair.postFetchAdd(1, new RemoteMemory(theirAddress + 512, theirKey, Long.BYTES), 7, memory.slice(0, 8));
        expect(1, WcStatus.SUCCESS);
        assertThat(memory.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(1_000);
        queuePair.postCompareSwap(
                2, new RemoteMemory(theirAddress + 512, theirKey, Long.BYTES), 1_007, -2, memory.slice(8, 8));
        expect(2, WcStatus.SUCCESS);
        assertThat(memory.segment().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(1_007);
        word.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, -2);
        assertThat(theirs(512, 8)).isEqualTo(word.toArray(ValueLayout.JAVA_BYTE));
    }

    @Test
    void theirAtomicsActOnOurMemory() throws Exception {
        memory.segment().set(ValueLayout.JAVA_LONG, 64, 1_000);
        long key = Integer.toUnsignedLong(memory.rkey());
        theyPost("fetch_add", 8, "add", 7, "raddr", memory.address() + 64, "rkey", key);
        expectThere(WcStatus.SUCCESS);
        assertThat(memory.segment().get(ValueLayout.JAVA_LONG, 64)).isEqualTo(1_007);
        theyPost("cmp_swap", 8, "offset", 8, "compare", 1_007, "swap", 5, "raddr", memory.address() + 64, "rkey", key);
        expectThere(WcStatus.SUCCESS);
        assertThat(memory.segment().get(ValueLayout.JAVA_LONG, 64)).isEqualTo(5);
        assertThat(MemorySegment.ofArray(theirs(0, 16)).get(ValueLayout.JAVA_LONG_UNALIGNED, 8))
                .isEqualTo(1_007);
    }

    @Test
    void theyRefuseOurWrongKey() throws Exception {
        queuePair.postWrite(1, memory.slice(0, 100), new RemoteMemory(theirAddress, theirKey ^ 0x55, 100));
        expect(1, WcStatus.REM_ACCESS_ERR);
        assertThat(wc.cause()).contains("NAK access");
    }

    @Test
    void weRefuseTheirWrongKey() throws Exception {
        theyRead(100, memory.address(), memory.rkey() ^ 0x55);
        expectThere(WcStatus.REM_ACCESS_ERR);
    }

    @Test
    void weRefuseTheirWriteOutOfBounds() throws Exception {
        theyWrite(100, memory.address() + BYTES - 99, memory.rkey());
        expectThere(WcStatus.REM_ACCESS_ERR);
    }

    @Test
    void theyWaitForOurReceive() throws Exception {
        setTheirs(0, pattern(2_000));
        theyPost("send", 2_000);
        while (context.counters().get("sent.nak.rnr") == 0) {
            assertThat(cq.await(wc, Duration.ofMillis(1))).isFalse();
        }
        queuePair.postReceive(4, memory.slice(0, 2_000));
        expect(4, WcStatus.SUCCESS);
        expectThere(WcStatus.SUCCESS);
        assertThat(ours(0, 2_000)).isEqualTo(pattern(2_000));
    }

    @Test
    void weWaitForTheirReceive() throws Exception {
        queuePair.postSend(1, memory.slice(0, 2_000));
        while (context.counters().get("received.nak.rnr") == 0) {
            assertThat(cq.await(wc, Duration.ofMillis(1))).isFalse();
        }
        theyReceive(0, 2_000);
        expect(1, WcStatus.SUCCESS);
        expectThere(WcStatus.SUCCESS);
        assertThat(theirs(0, 2_000)).isEqualTo(ours(0, 2_000));
    }

    @Test
    void theirReceiveIsTooSmall() throws Exception {
        theyReceive(0, 1_000);
        queuePair.postSend(1, memory.slice(0, 2_000));
        expect(1, WcStatus.REM_OP_ERR); // what rxe says; the standard asks for an invalid request
    }

    @Test
    void ourReceiveIsTooSmall() throws Exception {
        queuePair.postReceive(1, memory.slice(0, 1_000));
        theyPost("send", 2_000);
        expect(1, WcStatus.LOC_LEN_ERR);
        expectThere(WcStatus.REM_INV_REQ_ERR);
    }

    @Test
    void weInvalidateTheirWindow() throws Exception {
        String mw = text(call("alloc_mw", "type", 2), "mw");
        String bound =
                call("post_send", "qp", theirQp, "opcode", "bind_mw", "mw", mw, "bind_mr", theirMr, "size", 4_096);
        int key = (int) number(bound, "rkey");
        expectThere(WcStatus.SUCCESS);
        queuePair.postWrite(1, memory.slice(0, 64), new RemoteMemory(theirAddress, key, 64));
        expect(1, WcStatus.SUCCESS);
        theyReceive(8_192, 100);
        try (var batch = queuePair.sendBatch()) {
            batch.sendWithInvalidate(2, key).sge(memory, 0, 100).signaled().submit();
        }
        expect(2, WcStatus.SUCCESS);
        expectThere(WcStatus.SUCCESS);
        queuePair.postWrite(3, memory.slice(0, 64), new RemoteMemory(theirAddress, key, 64));
        expect(3, WcStatus.REM_ACCESS_ERR);
    }

    @Test
    void theyInvalidateOurWindow() throws Exception {
        MemoryRegion region = domain.allocate(
                4_096, Set.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE, Access.MW_BIND));
        try (var window = domain.allocateWindow(MemoryWindow.Type.TYPE_2)) {
            int key = window.nextRkey();
            try (var batch = queuePair.sendBatch()) {
                batch.bindWindow(
                                1,
                                window,
                                key,
                                region,
                                region.address(),
                                4_096,
                                Set.of(Access.REMOTE_READ, Access.REMOTE_WRITE))
                        .signaled()
                        .submit();
            }
            expect(1, WcStatus.SUCCESS);
            assertThat(wc.opcode()).isEqualTo(WcOpcode.BIND_MW);
            setTheirs(0, pattern(64));
            theyWrite(64, region.address(), key);
            expectThere(WcStatus.SUCCESS);
            queuePair.postReceive(2, memory.slice(0, 100));
            theyPost("send_inv", 10, "inv", Integer.toUnsignedLong(key));
            expect(2, WcStatus.SUCCESS);
            assertThat(wc.hasInvalidate()).isTrue();
            assertThat(wc.invalidatedRkey()).isEqualTo(key);
            expectThere(WcStatus.SUCCESS);
            theyWrite(64, region.address(), key);
            expectThere(WcStatus.REM_ACCESS_ERR);
        } finally {
            region.close();
        }
    }
}
