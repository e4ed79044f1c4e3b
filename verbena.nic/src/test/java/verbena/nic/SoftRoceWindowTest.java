package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
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

/// Memory windows of both types over a reliable connection with a Linux kernel's soft-RoCE: we use and invalidate
/// its windows, and it ours.
@EnabledIfSystemProperty(named = "verbena.lab.peer", matches = ".+", disabledReason = "no lab peer; see .ci/lab")
class SoftRoceWindowTest extends SoftRoceLab {
    private static final int WINDOW_BYTES = 4_096;
    private static final int REMOTE_READ = Access.REMOTE_READ.bit();

    private MemoryRegion region;

    @BeforeEach
    void connect() throws IOException {
        connect(QpType.RC, EndpointOptions.defaults());
        region = domain.allocate(
                2 * WINDOW_BYTES, Set.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE, Access.MW_BIND));
    }

    @AfterEach
    void closeRegion() {
        region.close();
    }

    private int theyBind(int type, Object... fields) throws IOException {
        String mw = text(call("alloc_mw", "type", type), "mw");
        String bound = call(
                "post_send",
                joined(
                        new Object[] {
                            "qp", theirQp, "opcode", "bind_mw", "mw", mw, "bind_mr", theirMr, "size", WINDOW_BYTES
                        },
                        fields));
        expectThere(WcStatus.SUCCESS);
        return (int) number(bound, "rkey");
    }

    private int weBind(MemoryWindow window, Set<Access> access) throws InterruptedException {
        int key = window.nextRkey();
        try (var batch = queuePair.sendBatch()) {
            batch.bindWindow(50, window, key, region, region.address(), WINDOW_BYTES, access)
                    .signaled()
                    .submit();
        }
        expect(50, WcStatus.SUCCESS);
        assertThat(wc.opcode()).isEqualTo(WcOpcode.BIND_MW);
        return key;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void weWriteAndReadThroughTheirWindow(int type) throws Exception {
        int key = theyBind(type);
        queuePair.postWrite(1, memory.slice(0, WINDOW_BYTES), new RemoteMemory(theirAddress, key, WINDOW_BYTES));
        expect(1, WcStatus.SUCCESS);
        assertThat(theirs(0, WINDOW_BYTES)).isEqualTo(ours(0, WINDOW_BYTES));
        queuePair.postRead(2, new RemoteMemory(theirAddress + 5, key, 100), memory.slice(10_000, 100));
        expect(2, WcStatus.SUCCESS);
        assertThat(ours(10_000, 100)).isEqualTo(ours(5, 100));
        queuePair.postWrite(3, memory.slice(0, 2), new RemoteMemory(theirAddress + WINDOW_BYTES - 1, key, 2));
        expect(3, WcStatus.SUCCESS); // rxe takes the end of the region for that of the window
        queuePair.postWrite(4, memory.slice(0, 2), new RemoteMemory(theirAddress + BYTES - 1, key, 2));
        expect(4, WcStatus.REM_ACCESS_ERR);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void theyWriteAndReadThroughOurWindowAndNotBeyond(int type) throws Exception {
        try (MemoryWindow window = domain.allocateWindow(MemoryWindow.Type.ofCode(type))) {
            int key = weBind(window, Set.of(Access.REMOTE_READ, Access.REMOTE_WRITE));
            setTheirs(0, pattern(WINDOW_BYTES));
            theyWrite(WINDOW_BYTES, region.address(), key);
            expectThere(WcStatus.SUCCESS);
            assertThat(region.segment().asSlice(0, WINDOW_BYTES).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE))
                    .isEqualTo(pattern(WINDOW_BYTES));
            theyRead(100, region.address() + 5, key);
            expectThere(WcStatus.SUCCESS);
            theyWrite(2, region.address() + WINDOW_BYTES - 1, key);
            expectThere(WcStatus.REM_ACCESS_ERR);
        }
    }

    @Test
    void weMayOnlyReadThroughTheirWindowForReading() throws Exception {
        int key = theyBind(2, "mw_access", REMOTE_READ);
        queuePair.postRead(1, new RemoteMemory(theirAddress, key, 100), memory.slice(0, 100));
        expect(1, WcStatus.SUCCESS);
        queuePair.postWrite(2, memory.slice(0, 100), new RemoteMemory(theirAddress, key, 100));
        expect(2, WcStatus.REM_ACCESS_ERR);
    }

    @Test
    void theyMayOnlyReadThroughOurWindowForReading() throws Exception {
        try (MemoryWindow window = domain.allocateWindow(MemoryWindow.Type.TYPE_2)) {
            int key = weBind(window, Set.of(Access.REMOTE_READ));
            theyRead(100, region.address(), key);
            expectThere(WcStatus.SUCCESS);
            theyWrite(100, region.address(), key);
            expectThere(WcStatus.REM_ACCESS_ERR);
        }
    }

    @Test
    void theirWindowWithdrawnByThemIsClosedToUs() throws Exception {
        int key = theyBind(2);
        queuePair.postWrite(1, memory.slice(0, 64), new RemoteMemory(theirAddress, key, 64));
        expect(1, WcStatus.SUCCESS);
        call("post_send", "qp", theirQp, "opcode", "local_inv", "inv", Integer.toUnsignedLong(key));
        expectThere(WcStatus.SUCCESS);
        queuePair.postWrite(2, memory.slice(0, 64), new RemoteMemory(theirAddress, key, 64));
        expect(2, WcStatus.REM_ACCESS_ERR);
    }

    @Test
    void ourWindowWithdrawnByUsIsClosedToThem() throws Exception {
        try (MemoryWindow window = domain.allocateWindow(MemoryWindow.Type.TYPE_2)) {
            int key = weBind(window, Set.of(Access.REMOTE_WRITE));
            theyWrite(64, region.address(), key);
            expectThere(WcStatus.SUCCESS);
            try (var batch = queuePair.sendBatch()) {
                batch.localInvalidate(1, key).signaled().submit();
            }
            expect(1, WcStatus.SUCCESS);
            theyWrite(64, region.address(), key);
            expectThere(WcStatus.REM_ACCESS_ERR);
        }
    }

    @Test
    void weCannotWithdrawAWindowOfTypeOneWithASend() throws Exception {
        int key = theyBind(1);
        theyReceive(8_192, 100);
        try (var batch = queuePair.sendBatch()) {
            batch.sendWithInvalidate(1, key).sge(memory, 0, 10).signaled().submit();
        }
        expect(1, WcStatus.SUCCESS); // rxe acknowledges first, and then ends its own receive with an error
        assertThat(WcStatus.ofCode((int) number(call("poll", "qp", theirQp, "n", 1), "status")))
                .isNotEqualTo(WcStatus.SUCCESS);
    }

    @Test
    void theyCannotWithdrawOurWindowOfTypeOneWithASend() throws Exception {
        try (MemoryWindow window = domain.allocateWindow(MemoryWindow.Type.TYPE_1)) {
            int key = weBind(window, Set.of(Access.REMOTE_WRITE));
            queuePair.postReceive(1, memory.slice(0, 100));
            theyPost("send_inv", 10, "inv", Integer.toUnsignedLong(key));
            expect(1, WcStatus.REM_INV_REQ_ERR); // and no NAK (IBTA 9.9.3.1, fault class J)
        }
    }

    @Test
    void aRegionWithABoundWindowDoesNotClose() throws Exception {
        try (MemoryWindow window = domain.allocateWindow(MemoryWindow.Type.TYPE_2)) {
            weBind(window, Set.of(Access.REMOTE_WRITE));
            assertThat(org.assertj.core.api.Assertions.catchThrowable(region::close))
                    .isInstanceOf(verbena.verbs.InUseException.class);
        }
    }
}
