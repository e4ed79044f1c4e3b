package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.ConnectOptions;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.Endpoint;
import verbena.verbs.Gid;
import verbena.verbs.GidType;
import verbena.verbs.MemoryRegion;
import verbena.verbs.Mtu;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WcOpcode;
import verbena.verbs.WcStatus;
import verbena.verbs.WorkCompletion;

/// Every operation, in both directions, with a Linux kernel's soft-RoCE at the other end, driven through the lab's
/// `verbsd`. Runs where `.ci/lab` says where that is: `verbena.lab.peer` is its HOST:PORT, `verbena.lab.device` our
/// device.
@EnabledIfSystemProperty(named = "verbena.lab.peer", matches = ".+", disabledReason = "no lab peer; see .ci/lab")
class SoftRoceTest {
    private static final int BYTES = 1 << 17;
    private static final int THEIR_PSN = 0xFFFFF0;

    /// The far end: one JSON object a line each way.
    private static final class Peer implements AutoCloseable {
        private final Socket socket;
        private final BufferedReader in;
        private final Writer out;

        Peer(String address) throws IOException {
            String[] part = address.split(":", 2);
            socket = new Socket(part[0], Integer.parseInt(part[1]));
            socket.setSoTimeout(30_000);
            in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            out = new OutputStreamWriter(socket.getOutputStream(), StandardCharsets.UTF_8);
        }

        /// `call("reg_mr", "size", 4096)`: strings are quoted, numbers are not.
        String call(String op, Object... fields) throws IOException {
            var line = new StringBuilder("{\"op\":\"" + op + "\"");
            for (int i = 0; i < fields.length; i += 2) {
                line.append(",\"").append(fields[i]).append("\":");
                line.append(fields[i + 1] instanceof String text ? "\"" + text + "\"" : fields[i + 1]);
            }
            out.write(line.append("}\n").toString());
            out.flush();
            String answer = in.readLine();
            assertThat(answer).as("answer to " + line).contains("\"ok\": true");
            return answer;
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private static String text(String json, String field) {
        var m = Pattern.compile("\"" + field + "\": \"?([^\",}\\]]+)").matcher(json);
        assertThat(m.find()).as(field + " in " + json).isTrue();
        return m.group(1);
    }

    private static long number(String json, String field) {
        return Long.parseUnsignedLong(text(json, field));
    }

    private final WorkCompletion wc = new WorkCompletion();
    private Peer peer;
    private Context context;
    private ProtectionDomain domain;
    private CompletionQueue cq;
    private QueuePair queuePair;
    private MemoryRegion memory;
    private String theirQp;
    private String theirMr;
    private long theirAddress;
    private int theirKey;

    @BeforeEach
    void connect() throws IOException {
        peer = new Peer(System.getProperty("verbena.lab.peer"));
        context = Device.named(System.getProperty("verbena.lab.device", "rocev2@10.77.0.1"))
                .open();
        domain = context.allocateProtectionDomain();
        cq = context.createCompletionQueue(256);
        queuePair = domain.createQueuePair(QueuePairOptions.rc(cq));
        memory = domain.allocate(BYTES, Access.remoteAll());
        for (long i = 0; i < BYTES; i++) {
            memory.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (3 * i + 1));
        }

        String gids = peer.call("open", "dev", "rxe0");
        boolean ipv4 = context.gids(1).getFirst().gid().isIpv4();
        int index = ipv4 ? 1 : 2;
        Gid theirGid = Gid.parse(text(gids, Integer.toString(index)));
        theirMr = text(describe(peer.call("reg_mr", "size", BYTES, "mw", 1)), "mr");
        String qp = peer.call("create_qp", "type", "RC");
        theirQp = text(qp, "qp");
        Endpoint own = queuePair.endpoint();
        peer.call(
                "connect",
                "qp",
                theirQp,
                "dgid",
                ipv4 ? "::ffff:" + own.gid() : own.gid().toString(),
                "dqpn",
                own.qpn(),
                "sgid_index",
                index,
                "mtu",
                1024,
                "sq_psn",
                THEIR_PSN,
                "rq_psn",
                own.psn(),
                "timeout",
                17,
                "retry",
                7,
                "rnr_retry",
                7,
                "min_rnr_timer",
                12);
        queuePair.connect(
                new Endpoint(theirGid, GidType.ROCE_V2, (int) number(qp, "qpn"), THEIR_PSN, Mtu.MTU_1024),
                ConnectOptions.defaults());
    }

    private String describe(String region) {
        theirAddress = number(region, "addr");
        theirKey = (int) number(region, "rkey");
        return region;
    }

    @AfterEach
    void close() throws IOException {
        queuePair.close();
        memory.close();
        cq.close();
        domain.close();
        context.close();
        peer.close();
    }

    private void expect(long wrId, WcStatus status) throws InterruptedException {
        assertThat(cq.await(wc, Duration.ofSeconds(20)))
                .as("a completion in time")
                .isTrue();
        assertThat(wc.status()).as(wc.toString()).isEqualTo(status);
        assertThat(wc.wrId()).isEqualTo(wrId);
    }

    private String expectThere(WcStatus status) throws IOException {
        String polled = peer.call("poll", "qp", theirQp, "n", 1, "timeout", 20);
        assertThat(number(polled, "status")).as(polled).isEqualTo(status.code());
        return polled;
    }

    private byte[] theirs(int offset, int bytes) throws IOException {
        return HexFormat.of()
                .parseHex(text(peer.call("read_mem", "mr", theirMr, "offset", offset, "length", bytes) + " ", "data"));
    }

    private void setTheirs(int offset, byte[] data) throws IOException {
        peer.call(
                "write_mem",
                "mr",
                theirMr,
                "offset",
                offset,
                "data",
                HexFormat.of().formatHex(data));
    }

    private byte[] ours(int offset, int bytes) {
        return memory.segment().asSlice(offset, bytes).toArray(ValueLayout.JAVA_BYTE);
    }

    private static byte[] pattern(int bytes) {
        byte[] data = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            data[i] = (byte) (5 * i + 2);
        }
        return data;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 1023, 1024, 1025, 50_001})
    void weWrite(int bytes) throws Exception {
        queuePair.postWrite(1, memory, 0, bytes, theirAddress + 7, theirKey);
        expect(1, WcStatus.SUCCESS);
        assertThat(theirs(7, bytes)).isEqualTo(ours(0, bytes));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 1023, 1024, 1025, 50_001})
    void theyWrite(int bytes) throws Exception {
        setTheirs(0, pattern(bytes));
        peer.call(
                "post_send",
                "qp",
                theirQp,
                "opcode",
                "write",
                "mr",
                theirMr,
                "length",
                bytes,
                "raddr",
                memory.address() + 5,
                "rkey",
                Integer.toUnsignedLong(memory.rkey()));
        expectThere(WcStatus.SUCCESS);
        assertThat(ours(5, bytes)).isEqualTo(pattern(bytes));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 1023, 1024, 1025, 50_001})
    void weRead(int bytes) throws Exception {
        setTheirs(3, pattern(bytes));
        queuePair.postRead(1, memory, 11, bytes, theirAddress + 3, theirKey);
        expect(1, WcStatus.SUCCESS);
        assertThat(ours(11, bytes)).isEqualTo(pattern(bytes));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 1023, 1024, 1025, 50_001})
    void theyRead(int bytes) throws Exception {
        byte[] expected = ours(9, bytes);
        peer.call(
                "post_send",
                "qp",
                theirQp,
                "opcode",
                "read",
                "mr",
                theirMr,
                "length",
                bytes,
                "raddr",
                memory.address() + 9,
                "rkey",
                Integer.toUnsignedLong(memory.rkey()));
        expectThere(WcStatus.SUCCESS);
        assertThat(theirs(0, bytes)).isEqualTo(expected);
    }

    @Test
    void weSendWithImmediateData() throws Exception {
        peer.call("post_recv", "qp", theirQp, "mr", theirMr, "length", 4_000, "wr_id", 9);
        try (var batch = queuePair.send()) {
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
        queuePair.postReceive(2, memory, 0, 4_000);
        setTheirs(0, pattern(3_000));
        peer.call("post_send", "qp", theirQp, "opcode", "send_imm", "mr", theirMr, "length", 3_000, "imm", 0xCAFE);
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
        queuePair.postFetchAdd(1, memory, 0, theirAddress + 512, theirKey, 7);
        expect(1, WcStatus.SUCCESS);
        assertThat(memory.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(1_000);
        queuePair.postCompareSwap(2, memory, 8, theirAddress + 512, theirKey, 1_007, -2);
        expect(2, WcStatus.SUCCESS);
        assertThat(memory.segment().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(1_007);
        word.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, -2);
        assertThat(theirs(512, 8)).isEqualTo(word.toArray(ValueLayout.JAVA_BYTE));
    }

    @Test
    void theirAtomicsActOnOurMemory() throws Exception {
        memory.segment().set(ValueLayout.JAVA_LONG, 64, 1_000);
        long key = Integer.toUnsignedLong(memory.rkey());
        peer.call(
                "post_send",
                "qp",
                theirQp,
                "opcode",
                "fetch_add",
                "mr",
                theirMr,
                "length",
                8,
                "add",
                7,
                "raddr",
                memory.address() + 64,
                "rkey",
                key);
        expectThere(WcStatus.SUCCESS);
        assertThat(memory.segment().get(ValueLayout.JAVA_LONG, 64)).isEqualTo(1_007);
        peer.call(
                "post_send",
                "qp",
                theirQp,
                "opcode",
                "cmp_swap",
                "mr",
                theirMr,
                "offset",
                8,
                "length",
                8,
                "compare",
                1_007,
                "swap",
                5,
                "raddr",
                memory.address() + 64,
                "rkey",
                key);
        expectThere(WcStatus.SUCCESS);
        assertThat(memory.segment().get(ValueLayout.JAVA_LONG, 64)).isEqualTo(5);
        assertThat(MemorySegment.ofArray(theirs(0, 16)).get(ValueLayout.JAVA_LONG_UNALIGNED, 8))
                .isEqualTo(1_007);
    }

    @Test
    void theyRefuseOurWrongKey() throws Exception {
        queuePair.postWrite(1, memory, 0, 100, theirAddress, theirKey ^ 0x55);
        expect(1, WcStatus.REM_ACCESS_ERR);
        assertThat(wc.cause()).contains("NAK access");
    }

    @Test
    void weRefuseTheirWrongKey() throws Exception {
        peer.call(
                "post_send",
                "qp",
                theirQp,
                "opcode",
                "read",
                "mr",
                theirMr,
                "length",
                100,
                "raddr",
                memory.address(),
                "rkey",
                Integer.toUnsignedLong(memory.rkey() ^ 0x55));
        expectThere(WcStatus.REM_ACCESS_ERR);
    }

    @Test
    void weRefuseTheirWriteOutOfBounds() throws Exception {
        peer.call(
                "post_send",
                "qp",
                theirQp,
                "opcode",
                "write",
                "mr",
                theirMr,
                "length",
                100,
                "raddr",
                memory.address() + BYTES - 99,
                "rkey",
                Integer.toUnsignedLong(memory.rkey()));
        expectThere(WcStatus.REM_ACCESS_ERR);
    }

    @Test
    void theyWaitForOurReceive() throws Exception {
        setTheirs(0, pattern(2_000));
        peer.call("post_send", "qp", theirQp, "opcode", "send", "mr", theirMr, "length", 2_000);
        while (context.counters().get("sent.nak-rnr") == 0) {
            assertThat(cq.await(wc, Duration.ofMillis(1))).isFalse();
        }
        queuePair.postReceive(4, memory, 0, 2_000);
        expect(4, WcStatus.SUCCESS);
        expectThere(WcStatus.SUCCESS);
        assertThat(ours(0, 2_000)).isEqualTo(pattern(2_000));
    }

    @Test
    void weWaitForTheirReceive() throws Exception {
        queuePair.postSend(1, memory, 0, 2_000);
        while (context.counters().get("received.nak-rnr") == 0) {
            assertThat(cq.await(wc, Duration.ofMillis(1))).isFalse();
        }
        peer.call("post_recv", "qp", theirQp, "mr", theirMr, "length", 2_000);
        expect(1, WcStatus.SUCCESS);
        expectThere(WcStatus.SUCCESS);
        assertThat(theirs(0, 2_000)).isEqualTo(ours(0, 2_000));
    }

    @Test
    void theirReceiveIsTooSmall() throws Exception {
        peer.call("post_recv", "qp", theirQp, "mr", theirMr, "length", 1_000);
        queuePair.postSend(1, memory, 0, 2_000);
        expect(1, WcStatus.REM_OP_ERR); // what rxe says; the standard asks for an invalid request
    }

    @Test
    void ourReceiveIsTooSmall() throws Exception {
        queuePair.postReceive(1, memory, 0, 1_000);
        peer.call("post_send", "qp", theirQp, "opcode", "send", "mr", theirMr, "length", 2_000);
        expect(1, WcStatus.LOC_LEN_ERR);
        expectThere(WcStatus.REM_INV_REQ_ERR);
    }

    @Test
    void weInvalidateTheirWindow() throws Exception {
        String mw = text(peer.call("alloc_mw", "type", 2), "mw");
        String bound =
                peer.call("post_send", "qp", theirQp, "opcode", "bind_mw", "mw", mw, "bind_mr", theirMr, "size", 4_096);
        int key = (int) number(bound, "rkey");
        expectThere(WcStatus.SUCCESS);
        queuePair.postWrite(1, memory, 0, 64, theirAddress, key);
        expect(1, WcStatus.SUCCESS);
        peer.call("post_recv", "qp", theirQp, "mr", theirMr, "offset", 8_192, "length", 100);
        try (var batch = queuePair.send()) {
            batch.sendWithInvalidate(2, key).sge(memory, 0, 100).signaled().submit();
        }
        expect(2, WcStatus.SUCCESS);
        expectThere(WcStatus.SUCCESS);
        queuePair.postWrite(3, memory, 0, 64, theirAddress, key);
        expect(3, WcStatus.REM_ACCESS_ERR);
    }

    @Test
    void theyInvalidateOurWindow() throws Exception {
        MemoryRegion region = domain.allocate(
                4_096, java.util.Set.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE, Access.MW_BIND));
        try (var window = domain.allocateWindow(2)) {
            int key = window.nextRkey();
            try (var batch = queuePair.send()) {
                batch.bindWindow(
                                1,
                                window,
                                key,
                                region,
                                region.address(),
                                4_096,
                                java.util.Set.of(Access.REMOTE_READ, Access.REMOTE_WRITE))
                        .signaled()
                        .submit();
            }
            expect(1, WcStatus.SUCCESS);
            assertThat(wc.opcode()).isEqualTo(WcOpcode.BIND_MW);
            setTheirs(0, pattern(64));
            peer.call(
                    "post_send",
                    "qp",
                    theirQp,
                    "opcode",
                    "write",
                    "mr",
                    theirMr,
                    "length",
                    64,
                    "raddr",
                    region.address(),
                    "rkey",
                    Integer.toUnsignedLong(key));
            expectThere(WcStatus.SUCCESS);
            queuePair.postReceive(2, memory, 0, 100);
            peer.call(
                    "post_send",
                    "qp",
                    theirQp,
                    "opcode",
                    "send_inv",
                    "mr",
                    theirMr,
                    "length",
                    10,
                    "inv",
                    Integer.toUnsignedLong(key));
            expect(2, WcStatus.SUCCESS);
            assertThat(wc.hasInvalidate()).isTrue();
            assertThat(wc.invalidatedRkey()).isEqualTo(key);
            expectThere(WcStatus.SUCCESS);
            peer.call(
                    "post_send",
                    "qp",
                    theirQp,
                    "opcode",
                    "write",
                    "mr",
                    theirMr,
                    "length",
                    64,
                    "raddr",
                    region.address(),
                    "rkey",
                    Integer.toUnsignedLong(key));
            expectThere(WcStatus.REM_ACCESS_ERR);
        } finally {
            region.close();
        }
    }
}
