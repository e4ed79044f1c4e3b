package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.AddressHandle;
import verbena.verbs.AddressVector;
import verbena.verbs.Gid;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.Transition;
import verbena.verbs.WcStatus;

/// Datagrams, in both directions, with a Linux kernel's soft-RoCE at the other end, and multicast with rdma-core's
/// `mckey`, which the lab starts: `verbena.lab.program` is its program.
@EnabledIfSystemProperty(named = "verbena.lab.peer", matches = ".+", disabledReason = "no lab peer; see .ci/lab")
class SoftRoceDatagramTest extends SoftRoceLab {
    private static final int QKEY = 0x11111111;
    /// The Q_Key that rdma_cm gives to all datagrams (RDMA_UDP_QKEY).
    private static final int CM_QKEY = 0x01234567;

    private static final int MULTICAST_QPN = 0xFF_FFFF;
    private static final int GRH = 40;

    private AddressHandle toThem;
    private String toUs;

    @BeforeEach
    void connect() throws IOException {
        ready(QKEY);
        String qp = call("create_qp", "type", "UD", "qkey", QKEY, "psn", 0xFFFFF0);
        theirQp = text(qp, "qp");
        theirQpn = (int) number(qp, "qpn");
        toUs = text(call("create_ah", "dgid", ourGid(), "sgid_index", theirGidIndex, "traffic_class", 0x20), "ah");
        toThem = domain.createAddressHandle(AddressVector.to(theirGid, 0).withTrafficClass(0x20));
    }

    @AfterEach
    void closeHandle() {
        toThem.close();
    }

    private void ready(int qkey) {
        queuePair = domain.createQueuePair(QueuePairOptions.ud(cq));
        queuePair.modify(new Transition.ToInitUd(1, 0, qkey).modification());
        queuePair.modify(new Transition.ToRtrUd().modification());
        queuePair.modify(new Transition.ToRtsUnreliable(0xFFFFFF).modification());
    }

    private void weSend(long wrId, int bytes, AddressHandle to, int qpn, int qkey) {
        try (var batch = queuePair.sendBatch()) {
            batch.send(wrId).sge(memory, 0, bytes).to(to, qpn, qkey).signaled().submit();
        }
    }

    private void theySend(int bytes, int qkey) throws IOException {
        theyPost("send", bytes, "ah", toUs, "rqpn", queuePair.qpn(), "qkey", qkey);
        expectThere(WcStatus.SUCCESS);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 21, 1024, 4096})
    void weSendAndTheyAnswerWhereItCameFrom(int bytes) throws Exception {
        theyReceive(0, 5_000);
        weSend(1, bytes, toThem, theirQpn, QKEY);
        expect(1, WcStatus.SUCCESS);
        String polled = expectThere(WcStatus.SUCCESS);
        assertThat(number(polled, "len")).isEqualTo(GRH + bytes);
        assertThat(number(polled, "src_qp")).isEqualTo(queuePair.qpn());
        assertThat(number(polled, "flags") & 1).as("GRH").isEqualTo(1);
        assertThat(theirs(GRH, bytes)).isEqualTo(ours(0, bytes));
        assertThat(theirs(ipv4 ? 32 : 8, ipv4 ? 4 : 16)).as("the sender").isEqualTo(address(ourOwnGid()));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 21, 1024, 4096})
    void theySendAndWeAnswerByTheCompletion(int bytes) throws Exception {
        queuePair.postReceive(1, memory.slice(8_192, 5_000));
        setTheirs(0, pattern(bytes));
        theySend(bytes, QKEY);
        expect(1, WcStatus.SUCCESS);
        assertThat(wc.byteLength()).isEqualTo(GRH + bytes);
        assertThat(wc.sourceQpn()).isEqualTo(theirQpn);
        assertThat(ours(8_192 + GRH, bytes)).isEqualTo(pattern(bytes));
        MemorySegment area = memory.segment().asSlice(8_192, GRH);
        try (AddressHandle back = domain.createAddressHandle(wc, area)) {
            assertThat(back.vector().destination()).isEqualTo(theirGid);
            theyReceive(0, 100);
            weSend(2, 9, back, wc.sourceQpn(), QKEY);
            expect(2, WcStatus.SUCCESS);
            assertThat(number(expectThere(WcStatus.SUCCESS), "len")).isEqualTo(GRH + 9);
        }
    }

    @Test
    void immediateDataGoesBothWays() throws Exception {
        queuePair.postReceive(1, memory.slice(8_192, 100));
        theyPost("send_imm", 5, "ah", toUs, "rqpn", queuePair.qpn(), "qkey", QKEY, "imm", 0xCAFE);
        expectThere(WcStatus.SUCCESS);
        expect(1, WcStatus.SUCCESS);
        assertThat(wc.immediate()).isEqualTo(0xCAFE);
        theyReceive(0, 100);
        try (var batch = queuePair.sendBatch()) {
            batch.sendWithImmediate(2, 0xBEEF)
                    .sge(memory, 0, 5)
                    .to(toThem, theirQpn, QKEY)
                    .signaled()
                    .submit();
        }
        expect(2, WcStatus.SUCCESS);
        assertThat((int) number(expectThere(WcStatus.SUCCESS), "imm")).isEqualTo(0xBEEF);
    }

    @Test
    void theyDropOurWrongQkey() throws Exception {
        theyReceive(0, 1_000);
        weSend(1, 100, toThem, theirQpn, QKEY + 1);
        weSend(2, 50, toThem, theirQpn, QKEY);
        expect(1, WcStatus.SUCCESS);
        expect(2, WcStatus.SUCCESS);
        assertThat(number(expectThere(WcStatus.SUCCESS), "len")).isEqualTo(GRH + 50);
    }

    @Test
    void weDropTheirWrongQkey() throws Exception {
        queuePair.postReceive(1, memory.slice(0, 1_000));
        theySend(100, QKEY + 1);
        theySend(50, QKEY);
        expect(1, WcStatus.SUCCESS);
        assertThat(wc.byteLength()).isEqualTo(GRH + 50);
        assertThat(context.counters().get("dropped.qkey")).isEqualTo(1);
    }

    @Test
    void ourQkeyWithItsHighBitSetStandsForThatOfOurQueuePair() throws Exception {
        theyReceive(0, 1_000);
        weSend(1, 100, toThem, theirQpn, 0x80000000);
        expect(1, WcStatus.SUCCESS);
        expectThere(WcStatus.SUCCESS);
    }

    @Test
    void theirQkeyWithItsHighBitSetIsSentAsItIs() throws Exception {
        theyPost("send", 5, "ah", toUs, "rqpn", queuePair.qpn(), "qkey", 0x80000000L);
        expectThere(WcStatus.SUCCESS);
        awaitCounter("dropped.qkey", 1); // rxe does not know the rule
    }

    @Test
    void whatFindsNoReceiveOrOneThatIsTooSmallIsLost() throws Exception {
        theySend(100, QKEY);
        awaitCounter("dropped.message", 1);
        queuePair.postReceive(1, memory.slice(0, 100));
        theySend(61, QKEY);
        awaitCounter("dropped.message", 2);
        theySend(60, QKEY);
        expect(1, WcStatus.SUCCESS);
        assertThat(wc.byteLength()).isEqualTo(100);
    }

    @Test
    void whatFindsNoReceiveOfTheirsIsLost() throws Exception {
        weSend(1, 100, toThem, theirQpn, QKEY);
        expect(1, WcStatus.SUCCESS);
        assertThat(call("poll", "qp", theirQp, "n", 1, "timeout", 0)).contains("\"wcs\": []");
        theyReceive(0, 100);
        weSend(2, 60, toThem, theirQpn, QKEY);
        expect(2, WcStatus.SUCCESS);
        assertThat(number(expectThere(WcStatus.SUCCESS), "len")).isEqualTo(100);
    }

    /// The behaviour of Linux 6.1. By the standard, and with Linux 6.12, the receive is for the next datagram.
    @Test
    @EnabledIfSystemProperty(named = "verbena.lab.kernel", matches = "6[.]1[.].*", disabledReason = "another kernel")
    void whatIsLargerThanTheirReceiveEndsTheirQueuePair() throws Exception {
        theyReceive(0, 100);
        weSend(1, 61, toThem, theirQpn, QKEY);
        expect(1, WcStatus.SUCCESS);
        expectThere(WcStatus.LOC_QP_OP_ERR);
    }

    // ---- multicast

    /// A group that no other test uses.
    private Gid group() {
        return Gid.parse(ipv4 ? "239.77.1.1" : "ff15::77");
    }

    private Process mckey(String... options) throws IOException {
        var command = new ArrayList<String>(List.of(
                System.getProperty("verbena.lab.program", ""), "exec", "-t", "20", "--", "mckey", "-m", "239.77.1.1"));
        command.addAll(List.of(options));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    @Test
    @EnabledIfSystemProperty(named = "verbena.lab.program", matches = ".+", disabledReason = "the lab's program")
    void mckeyHearsUs() throws Exception {
        assumeTrue(ipv4, "rdma_cm has no IPv6 groups on RoCE v2");
        Process mckey = mckey("-b", theirGid.toString(), "-C", "5");
        try (AddressHandle handle = domain.createAddressHandle(AddressVector.to(group(), 0))) {
            // mckey joins when it is ready: until it has received its datagrams, we repeat ours.
            for (int i = 0; !mckey.waitFor(20, TimeUnit.MILLISECONDS); i++) {
                weSend(i, 100, handle, MULTICAST_QPN, CM_QKEY);
                expect(i, WcStatus.SUCCESS);
            }
        }
        assertThat(mckey.exitValue()).isZero();
    }

    @Test
    @EnabledIfSystemProperty(named = "verbena.lab.program", matches = ".+", disabledReason = "the lab's program")
    void weHearMckey() throws Exception {
        assumeTrue(ipv4, "rdma_cm has no IPv6 groups on RoCE v2");
        queuePair.close();
        ready(CM_QKEY);
        for (int i = 0; i < 5; i++) {
            queuePair.postReceive(i, memory.slice(1_000L * i, 140));
        }
        queuePair.attachMulticast(group());
        Process mckey = mckey("-b", theirGid.toString(), "-s", "-C", "5");
        for (int i = 0; i < 5; i++) {
            expect(i, WcStatus.SUCCESS);
            assertThat(wc.byteLength()).isEqualTo(140);
            assertThat(wc.hasImmediate()).isTrue();
            assertThat(wc.immediate()).as("mckey sends its number").isEqualTo(wc.sourceQpn());
            assertThat(ours(1_000 * i + 36, 4)).as("to the group").isEqualTo(new byte[] {(byte) 239, 77, 1, 1});
        }
        queuePair.detachMulticast(group());
        assertThat(mckey.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(mckey.exitValue()).isZero();
    }

    @Test
    void weHearTheirDatagramsToAGroupFromWhenWeAttachUntilWeDetach() throws Exception {
        String toGroup = text(
                call("create_ah", "dgid", ipv4 ? "::ffff:239.77.1.1" : "ff15::77", "sgid_index", theirGidIndex), "ah");
        queuePair.postReceive(1, memory.slice(0, 100));
        queuePair.attachMulticast(group());
        theyPost("send", 60, "ah", toGroup, "rqpn", MULTICAST_QPN, "qkey", QKEY);
        expectThere(WcStatus.SUCCESS);
        expect(1, WcStatus.SUCCESS);
        assertThat(wc.byteLength()).isEqualTo(100);
        assertThat(wc.sourceQpn()).isEqualTo(theirQpn);
        queuePair.detachMulticast(group());
        queuePair.postReceive(2, memory.slice(0, 100));
        theyPost("send", 60, "ah", toGroup, "rqpn", MULTICAST_QPN, "qkey", QKEY);
        expectThere(WcStatus.SUCCESS);
        theySend(50, QKEY);
        expect(2, WcStatus.SUCCESS);
        assertThat(wc.byteLength()).as("the datagram for us alone").isEqualTo(GRH + 50);
    }

    private Gid ourOwnGid() {
        return context.gids(1).getFirst().gid();
    }

    private byte[] address(Gid gid) {
        var bytes =
                ByteBuffer.allocate(16).putLong(gid.high()).putLong(gid.low()).array();
        return ipv4 ? Arrays.copyOfRange(bytes, 12, 16) : bytes;
    }
}
